"""From schemas, values and records to the cases' JSON."""

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
    SchemaType,
    Struct,
)
from connect_core.api.data.schema import DraftSchema
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord
from connect_core.java.text import decimal_text
from tests.conformance.classes import java_name

__all__ = ["encode_record", "encode_schema", "encode_value"]

Json = Any


def encode_schema(schema: Schema | None) -> Json:
    """Return a schema with the traits that are set."""
    if schema is None:
        return None
    content: dict[str, Json] = {"type": schema.type.value, "optional": schema.optional}
    traits = {"name": schema.name, "version": schema.version, "doc": schema.doc, "parameters": schema.parameters}
    content.update({name: value for name, value in traits.items() if value is not None})
    if schema.default is not None:
        content["default"] = encode_value(schema, schema.default)
    if schema.type is SchemaType.STRUCT:
        content["fields"] = [{"name": field.name, "schema": encode_schema(field.schema)} for field in schema.fields]
    if schema.type is SchemaType.MAP:
        content["keySchema"] = encode_schema(schema.key_schema)
    if schema.type in (SchemaType.MAP, SchemaType.ARRAY):
        content["valueSchema"] = encode_schema(schema.value_schema)
    return content


def encode_value(schema: Schema | None, value: Any) -> Json:
    """Return a value; a plain number takes its width from the declared schema."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list | tuple):
        element = schema.value_schema if schema is not None and schema.type is SchemaType.ARRAY else None
        return [encode_value(element, item) for item in value]
    if isinstance(value, dict):
        return _encode_dict(schema, value)
    if isinstance(value, Struct):
        return _encode_struct(schema, value)
    if type(value) in (int, float):
        return {_width(schema, value): value}
    return _encode_scalar(value)


def _encode_scalar(value: Any) -> Json:
    for kind, (tag, form) in _TAGS.items():
        if isinstance(value, kind):
            return {tag: form(value)}
    return {"@object": True} if type(value) is object else {"@python": repr(value)}


def _width(schema: Schema | None, value: float) -> str:
    known = _INTEGERS if isinstance(value, int) else _FLOATS
    default = "@int64" if isinstance(value, int) else "@float64"
    return default if schema is None else known.get(schema.type, default)


def _encode_dict(schema: Schema | None, value: dict[Any, Any]) -> Json:
    is_map = schema is not None and schema.type is SchemaType.MAP
    keys, values = (schema.key_schema, schema.value_schema) if schema is not None and is_map else (None, None)
    if all(isinstance(key, str) for key in value):
        return {"@map": {key: encode_value(values, item) for key, item in value.items()}}
    return {"@pairs": [[encode_value(keys, key), encode_value(values, item)] for key, item in value.items()]}


def _encode_struct(schema: Schema | None, value: Struct) -> Json:
    pairs = zip(value.schema.fields, value.values, strict=True)
    content: Json = {"@struct": {field.name: encode_value(field.schema, item) for field, item in pairs}}
    if not isinstance(value.schema, DraftSchema) and value.schema != schema:
        content["@schema"] = encode_schema(value.schema)
    return content


def encode_record(record: ConnectRecord | None) -> Json:
    """Return a sink or source record, or null for a dropped one."""
    if record is None:
        return None
    content = {
        "topic": record.topic,
        "kafkaPartition": record.kafka_partition,
        "keySchema": encode_schema(record.key_schema),
        "key": encode_value(record.key_schema, record.key),
        "valueSchema": encode_schema(record.value_schema),
        "value": encode_value(record.value_schema, record.value),
        "timestamp": record.timestamp,
        "headers": [
            {"key": header.key, "schema": encode_schema(schema), "value": encode_value(schema, header.value)}
            for header in record.headers
            for schema in [header.schema]
        ],
    }
    if isinstance(record, SinkRecord):
        return content | {
            "record": "sink",
            "kafkaOffset": record.kafka_offset,
            "timestampType": record.timestamp_type.value,
        }
    assert isinstance(record, SourceRecord)
    partition, offset = record.source_partition, record.source_offset
    return content | {
        "record": "source",
        "sourcePartition": encode_value(None, partition),
        "sourceOffset": encode_value(None, offset),
    }


_INTEGERS = {
    SchemaType.INT8: "@int8",
    SchemaType.INT16: "@int16",
    SchemaType.INT32: "@int32",
    SchemaType.INT64: "@int64",
}
_FLOATS = {SchemaType.FLOAT32: "@float32", SchemaType.FLOAT64: "@float64"}
_TAGS: dict[type, tuple[str, Callable[[Any], Json]]] = {
    Int8: ("@int8", int),
    Int16: ("@int16", int),
    Int32: ("@int32", int),
    Int64: ("@int64", int),
    BigInteger: ("@bigint", str),
    Float32: ("@float32", float),
    Float64: ("@float64", float),
    decimal.Decimal: ("@decimal", decimal_text),
    bytes: ("@bytes", lambda value: base64.b64encode(value).decode()),
    memoryview: ("@bytes", lambda value: base64.b64encode(value).decode()),
    Instant: ("@date", lambda value: value.epoch_millis),
    Password: ("@password", lambda value: value.value),
    type: ("@class", java_name),
}
