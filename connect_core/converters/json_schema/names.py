"""The keywords for Connect's traits in JSON Schema, and the names of unions and enums in Connect."""

from __future__ import annotations

from connect_core.api.data import Schema, SchemaType

__all__ = [
    "CONNECT_INDEX",
    "CONNECT_PARAMETERS",
    "CONNECT_TYPE",
    "CONNECT_TYPES",
    "CONNECT_VERSION",
    "GENERALIZED_ENUM",
    "GENERALIZED_UNION",
    "JSON_ENUM",
    "JSON_ID",
    "JSON_ONE_OF",
    "NAMESPACE",
    "NULL_MARKER",
    "holds_union",
    "is_union",
    "union_field",
]

NAMESPACE = "io.confluent.connect.json"
JSON_ID = f"{NAMESPACE}.Id"
JSON_ENUM = f"{NAMESPACE}.Enum"
JSON_ONE_OF = f"{NAMESPACE}.OneOf"
GENERALIZED_ENUM = "org.apache.kafka.connect.data.Enum"
GENERALIZED_UNION = "org.apache.kafka.connect.data.Union"
NULL_MARKER = "<NULL>"

CONNECT_TYPE = "connect.type"
CONNECT_INDEX = "connect.index"
CONNECT_VERSION = "connect.version"
CONNECT_PARAMETERS = "connect.parameters"

CONNECT_TYPES: dict[str, SchemaType] = {
    type.value: type
    for type in SchemaType
    if type.value.startswith(("int", "float")) or type in (SchemaType.BYTES, SchemaType.MAP)
}
"""The valid values of ``connect.type``."""


def is_union(schema: Schema) -> bool:
    """Return whether a struct represents a union of its fields."""
    return schema.name == JSON_ONE_OF or GENERALIZED_UNION in (schema.parameters or {})


def union_field(generalized: bool, index: int) -> str:
    """Return the name of a union's field."""
    return f"connect_union_field_{index}" if generalized else f"{JSON_ONE_OF}.field.{index}"


def holds_union(schema: Schema | None) -> bool:
    """Return whether a schema contains a union."""
    if schema is None or schema.type.is_primitive:
        return False
    if schema.type is SchemaType.STRUCT:
        return is_union(schema) or any(holds_union(field.schema) for field in schema.fields)
    key = schema.key_schema if schema.type is SchemaType.MAP else None
    return holds_union(key) or holds_union(schema.value_schema)
