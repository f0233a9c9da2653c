"""The names for Connect's traits in Protobuf, and the conversion of names to valid ones."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from connect_core.api.data import Schema, SchemaType

__all__ = [
    "DECIMAL",
    "DEFAULT_NAME",
    "GENERALIZED_ENUM",
    "GENERALIZED_UNION",
    "PROTOBUF_ENUM",
    "PROTOBUF_TAG",
    "PROTOBUF_TYPE",
    "PROTOBUF_UNION",
    "PROTOBUF_WRAPPER",
    "WRAPPED_TYPES",
    "is_enum",
    "is_union",
    "map_entry_name",
    "map_field_name",
    "scrubbed",
]

NAMESPACE = "io.confluent.connect.protobuf"
PROTOBUF_ENUM = f"{NAMESPACE}.Enum"
PROTOBUF_UNION = f"{NAMESPACE}.Union"
PROTOBUF_TAG = f"{NAMESPACE}.Tag"
PROTOBUF_TYPE = f"{NAMESPACE}.Type"
PROTOBUF_WRAPPER = f"{NAMESPACE}.Wrapper"
GENERALIZED_ENUM = "org.apache.kafka.connect.data.Enum"
GENERALIZED_UNION = "org.apache.kafka.connect.data.Union"
DEFAULT_NAME = "ConnectDefault"
DECIMAL = "confluent.type.Decimal"

WRAPPED_TYPES: dict[str, SchemaType] = {
    "google.protobuf.DoubleValue": SchemaType.FLOAT64,
    "google.protobuf.FloatValue": SchemaType.FLOAT32,
    "google.protobuf.Int64Value": SchemaType.INT64,
    "google.protobuf.UInt64Value": SchemaType.INT64,
    "google.protobuf.Int32Value": SchemaType.INT32,
    "google.protobuf.UInt32Value": SchemaType.INT64,
    "google.protobuf.BoolValue": SchemaType.BOOLEAN,
    "google.protobuf.StringValue": SchemaType.STRING,
    "google.protobuf.BytesValue": SchemaType.BYTES,
}
"""Wrapper messages in the order of their file, and the type of the value they wrap."""

_ENTRY = "Entry"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_INVALID = re.compile(r"[^A-Za-z0-9_]")


def is_union(schema: Schema) -> bool:
    """Return whether a struct represents a oneof of its fields."""
    return (schema.name or "").startswith(PROTOBUF_UNION) or GENERALIZED_UNION in (schema.parameters or {})


def is_enum(schema: Schema) -> bool:
    """Return whether a schema represents an enum."""
    return any(name in (schema.parameters or {}) for name in (GENERALIZED_ENUM, PROTOBUF_ENUM))


def scrubbed(name: str) -> str:
    """Return a name with all characters replaced that Protobuf does not allow, as Confluent does."""
    if not name or _PLAIN.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*", errors="replace").replace("~", "%7E")
    if encoded[0].isdigit() or encoded[0] == "_":
        encoded = f"x{encoded}"
    return _INVALID.sub("_", encoded)


def map_entry_name(name: str) -> str:
    """Return the name of the message for a map's entries."""
    if "_" in name:
        name = "".join(word[:1].upper() + word[1:].lower() for word in name.split("_"))
    return name + _ENTRY


def map_field_name(name: str) -> str:
    """Return the name of a map, from that of its entries, which may have a package."""
    package, dot, last = name.rpartition(".")
    if last.endswith(_ENTRY):
        last = re.sub(r"(?<!^)(?=[A-Z])", "_", last.removesuffix(_ENTRY)).lower()
    return f"{package}{dot}{last}"
