"""Converters over a registry in memory, and what a round trip through Avro makes of schemas and values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from connect_core.api.data import STRING_SCHEMA, Field, Schema, SchemaType, Struct
from connect_core.converters.avro import AvroConverter
from connect_core.converters.avro.schemas.names import field_name
from connect_core.java.equality import as_key
from connect_core.schema_registry.model import SchemaKind, SchemaReference, SchemaText
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.memory import MemoryRegistry

__all__ = ["frame_of", "made", "register", "round_trip_schema", "round_trip_value", "text_of"]


def made(registry: MemoryRegistry | None = None, /, **settings: str) -> AvroConverter:
    """Return a converter of values; settings with _ for the dots of their names."""
    converter = AvroConverter(PlainSchemas(registry or MemoryRegistry()))
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


def register(
    registry: MemoryRegistry, avro: Any, subject: str = "t-value", references: Sequence[SchemaReference] = ()
) -> int:
    """Register an Avro schema → its id."""
    return registry.register(subject, SchemaText(SchemaKind.AVRO, json.dumps(avro), tuple(references))).id


def frame_of(id: int) -> bytes:
    """Return what begins a message of a schema."""
    return b"\0" + id.to_bytes(4, "big")


def text_of(registry: MemoryRegistry, id: int = 1) -> Any:
    """Return a registered schema as JSON."""
    return json.loads(registry.by_id(id).schema.text)


def round_trip_schema(schema: Schema) -> Schema:
    """Return what a schema is after it was written and read: fields scrubbed, keys of plain maps bare."""
    found = _with_parts(schema)
    nested = schema.default is not None and schema.type in (SchemaType.ARRAY, SchemaType.MAP)
    return found.replace(default=round_trip_value(schema, schema.default)) if nested else found


def _with_parts(schema: Schema) -> Schema:
    if schema.type is SchemaType.STRUCT:
        fields = [Field(field_name(one.name, True), one.index, round_trip_schema(one.schema)) for one in schema.fields]
        return schema.replace(fields=tuple(fields))
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return schema.replace(value_schema=round_trip_schema(schema.value_schema))
    if schema.type is SchemaType.MAP and schema.value_schema is not None and schema.key_schema is not None:
        is_plain = schema.key_schema.type is SchemaType.STRING and not schema.key_schema.optional
        key = STRING_SCHEMA if is_plain else round_trip_schema(schema.key_schema)
        return schema.replace(key_schema=key, value_schema=round_trip_schema(schema.value_schema))
    return schema


def round_trip_value(schema: Schema | None, value: Any) -> Any:
    """Return what a value is after it was written and read: nulls of fields are their defaults."""
    if value is None or schema is None:
        return None
    if schema.type is SchemaType.STRUCT:
        target = round_trip_schema(schema)
        return Struct.of_values(target, [round_trip_value(one.schema, value.get(one)) for one in schema.fields])
    if schema.type is SchemaType.ARRAY:
        return [round_trip_value(schema.value_schema, item) for item in value]
    if schema.type is SchemaType.MAP:
        pairs = value.items()
        return {
            as_key(round_trip_value(schema.key_schema, key)): round_trip_value(schema.value_schema, item)
            for key, item in pairs
        }
    return value
