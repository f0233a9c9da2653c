"""From the cases' JSON to schemas, values and records (see cases/README.md)."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable
from typing import Any

from connect_core.api.config import Password
from connect_core.api.data import (
    BigInteger,
    Float32,
    Float64,
    Instant,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    SchemaType,
    Struct,
)
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord, TimestampType
from tests.conformance.classes import resolve

__all__ = ["decode_config", "decode_record", "decode_schema", "decode_value", "new_builder"]

Json = Any


def new_builder(type: str, content: Json) -> SchemaBuilder:
    """Start a schema of a type; arrays and maps take their parts from ``content``."""
    if type == "array":
        return SchemaBuilder.array(decode_schema(content.get("valueSchema")))
    if type == "map":
        return SchemaBuilder.map(decode_schema(content.get("keySchema")), decode_schema(content.get("valueSchema")))
    return SchemaBuilder(SchemaType(type))


def decode_schema(content: Json) -> Schema | None:
    """Return a schema; parts of arrays and maps may be null."""
    if content is None:
        return None
    builder = _unchecked_builder(content)
    if content["optional"]:
        builder.optional()
    builder.name(content.get("name")).version(content.get("version")).doc(content.get("doc"))
    builder.parameters(content.get("parameters") or {})
    for field in content.get("fields", ()):
        schema = decode_schema(field["schema"])
        assert schema is not None
        builder.field(field["name"], schema)
    if content.get("default") is not None:
        builder.default_value(decode_value(content["default"], builder.draft))
    return builder.build()


def _unchecked_builder(content: Json) -> SchemaBuilder:
    if content["type"] == "array":
        return SchemaBuilder.array_of(decode_schema(content.get("valueSchema")))
    if content["type"] == "map":
        return SchemaBuilder.map_of(decode_schema(content.get("keySchema")), decode_schema(content.get("valueSchema")))
    return SchemaBuilder(SchemaType(content["type"]))


def decode_value(content: Json, schema: Schema | None = None) -> Any:
    """Return a value; ``schema`` is the one declared at its place."""
    if isinstance(content, list):
        element = schema.value_schema if schema is not None and schema.type is SchemaType.ARRAY else None
        return [decode_value(item, element) for item in content]
    if not isinstance(content, dict):
        return content
    if "@struct" in content:
        return _decode_struct(content, schema)
    if "@map" in content:
        return _decode_pairs(list(content["@map"].items()), schema)
    if "@pairs" in content:
        return _decode_pairs(content["@pairs"], schema)
    ((tag, body),) = content.items()
    return _TAGS[tag](body)


def _decode_struct(content: Json, schema: Schema | None) -> Struct:
    own = decode_schema(content.get("@schema")) or schema
    assert own is not None, "a struct without schema"
    struct = Struct(own)
    for name, item in content["@struct"].items():
        field = own.field(name)
        if item is not None:
            struct.put(name, decode_value(item, None if field is None else field.schema))
    return struct


def _decode_pairs(pairs: Json, schema: Schema | None) -> dict[Any, Any]:
    is_map = schema is not None and schema.type is SchemaType.MAP
    keys, values = (schema.key_schema, schema.value_schema) if schema is not None and is_map else (None, None)
    return {_hashable(decode_value(key, keys)): decode_value(value, values) for key, value in pairs}


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def decode_config(content: Json) -> dict[str, Any]:
    """Return a configuration; most values are texts."""
    return {name: decode_value(value) for name, value in content.items()}


def decode_record(content: Json) -> ConnectRecord:
    """Return a sink or source record."""
    key = _data(content, "keySchema", "key")
    value = _data(content, "valueSchema", "value")
    headers = Headers()
    for header in content["headers"]:
        headers.add_schema_and_value(header["key"], _data(header, "schema", "value"))
    place = (content["topic"], content["kafkaPartition"], key.schema, key.value, value.schema, value.value)
    if content["record"] == "sink":
        kind = TimestampType(content["timestampType"])
        return SinkRecord(*place, content["timestamp"], headers, content["kafkaOffset"], kind)
    source = (decode_value(content["sourcePartition"]), decode_value(content["sourceOffset"]))
    return SourceRecord(*place, content["timestamp"], headers, *source)


def _data(content: Json, schema: str, value: str) -> SchemaAndValue:
    decoded = decode_schema(content[schema])
    return SchemaAndValue(decoded, decode_value(content[value], decoded))


_TAGS: dict[str, Callable[[Json], Any]] = {
    "@int8": Int8,
    "@int16": Int16,
    "@int32": Int32,
    "@int64": Int64,
    "@float32": Float32,
    "@float64": Float64,
    "@decimal": decimal.Decimal,
    "@bigint": BigInteger,
    "@bytes": base64.b64decode,
    "@bytebuffer": lambda body: memoryview(base64.b64decode(body)),
    "@date": Instant,
    "@class": resolve,
    "@password": Password,
    "@object": lambda body: object(),
}
