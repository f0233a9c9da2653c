"""Default values as JSON in Avro schemas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from connect_core.api.data import Field, Float32, Schema, SchemaType, Struct
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.logical import from_plain, to_plain
from connect_core.converters.avro.schemas.model import AvroKind, AvroType, Json, optional_of
from connect_core.converters.avro.schemas.names import branch_name, field_name, is_map_entry
from connect_core.errors import DataError
from connect_core.java.equality import as_key
from connect_core.java.numbers import wrap

__all__ = ["default_from_json", "default_to_json", "is_avro_default"]

_INTEGERS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def default_to_json(schema: Schema | None, value: Any, scrub: bool = False) -> Json:
    """Return a value as JSON: bytes as text with their values as characters, maps without text keys as pairs."""
    if value is None or schema is None:
        return None
    plain = to_plain(schema)
    value = value if plain is None else plain(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("latin-1")
    if schema.type is SchemaType.ARRAY:
        return [default_to_json(schema.value_schema, item, scrub) for item in value]
    if schema.type is SchemaType.MAP:
        pairs = [
            [default_to_json(schema.key_schema, key, scrub), default_to_json(schema.value_schema, item, scrub)]
            for key, item in value.items()
        ]
        return dict(pairs) if _has_text_keys(schema) else pairs
    if schema.type is SchemaType.STRUCT:
        return {
            field_name(field.name, scrub): default_to_json(field.schema, value.get(field), scrub)
            for field in schema.fields
        }
    return value


def _has_text_keys(schema: Schema) -> bool:
    return (
        schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING and not schema.key_schema.optional
    )


def is_avro_default(avro: AvroType, value: Json) -> bool:
    """Whether Avro accepts a field's default: it must fit a union's first branch, also in nested values."""
    if avro.kind is AvroKind.UNION:
        return bool(avro.branches) and is_avro_default(avro.branches[0], value)
    if avro.kind is AvroKind.ARRAY:
        return isinstance(value, list) and all(is_avro_default(avro.part(), item) for item in value)
    if avro.kind is AvroKind.MAP:
        return isinstance(value, dict) and all(is_avro_default(avro.part(), item) for item in value.values())
    if avro.kind is AvroKind.RECORD:
        given = isinstance(value, dict)
        return given and all(f.name in value and is_avro_default(f.type, value[f.name]) for f in avro.fields)
    if avro.kind in (AvroKind.FLOAT, AvroKind.DOUBLE):
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if avro.kind in (AvroKind.INT, AvroKind.LONG):
        return isinstance(value, int) and not isinstance(value, bool)
    if avro.kind in (AvroKind.NULL, AvroKind.BOOLEAN):
        return value is None if avro.kind is AvroKind.NULL else isinstance(value, bool)
    return isinstance(value, str)


def default_from_json(schema: Schema, avro: AvroType, value: Json, settings: AvroSettings) -> Any:
    """Return a default as a value of ``schema``. Raise DataError for JSON of another type."""
    if value is None:
        return None
    if avro.kind is AvroKind.UNION:
        return _of_union(schema, avro, value, settings)
    read = _NESTED.get(schema.type)
    if read is not None:
        return read(schema, avro, value, settings)
    found = _scalar(schema.type, value)
    logical = from_plain(schema)
    return found if logical is None else logical(found)


def _of_union(schema: Schema, avro: AvroType, value: Json, settings: AvroSettings) -> Any:
    places = optional_of(avro)
    if places is not None:
        return default_from_json(schema, avro.branches[places[1]], value, settings)
    if settings.flatten and len(avro.branches) == 1:
        return default_from_json(schema, avro.branches[0], value, settings)
    field = schema.field(branch_name(avro.branches[0], 0, settings))
    if field is None:
        raise DataError(f"Invalid JSON for union default value: {value!r}")
    return Struct(schema).put(field, default_from_json(field.schema, avro.branches[0], value, settings))


def _list(schema: Schema, avro: AvroType, value: Json, settings: AvroSettings) -> list[Any]:
    if not isinstance(value, list) or schema.value_schema is None:
        raise DataError(f"Invalid JSON for array default value: {value!r}")
    return [default_from_json(schema.value_schema, avro.part(), item, settings) for item in value]


def _map(schema: Schema, avro: AvroType, value: Json, settings: AvroSettings) -> dict[Any, Any]:
    keys, items = schema.key_schema, schema.value_schema
    if keys is None or items is None or not isinstance(value, dict | list):
        raise DataError(f"Invalid JSON for map default value: {value!r}")
    if avro.kind is AvroKind.MAP:
        return {key: default_from_json(items, avro.part(), item, settings) for key, item in _pairs(value)}
    assert is_map_entry(avro.part())
    kinds = {field.name: field.type for field in avro.part().fields}
    found = [
        (
            default_from_json(keys, kinds["key"], key, settings),
            default_from_json(items, kinds["value"], item, settings),
        )
        for key, item in _pairs(value)
    ]
    return {as_key(key): item for key, item in found}


def _pairs(value: Json) -> list[tuple[Json, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    if all(isinstance(pair, dict) and pair.keys() == {"key", "value"} for pair in value):
        return [(pair["key"], pair["value"]) for pair in value]
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        raise DataError(f"Invalid JSON for map default value: {value!r}")
    return [(key, item) for key, item in value]


def _struct(schema: Schema, avro: AvroType, value: Json, settings: AvroSettings) -> Struct:
    if not isinstance(value, dict):
        raise DataError(f"Invalid JSON for record default value: {value!r}")
    found = Struct(schema)
    kinds = {field.name: field for field in avro.fields}
    for field in schema.fields:
        found.put(field, _member(field, kinds[field.name].type, value, settings))
    return found


def _member(field: Field, avro: AvroType, value: dict[str, Json], settings: AvroSettings) -> Any:
    found = default_from_json(field.schema, avro, value.get(field.name), settings)
    return field.schema.default if found is None else found


def _scalar(type: SchemaType, value: Json) -> Any:
    if type in _INTEGERS and isinstance(value, int | float) and math.isfinite(value):
        return wrap(int(value), _INTEGERS[type])
    if type in (SchemaType.FLOAT32, SchemaType.FLOAT64):
        number = _WORDS.get(value) if isinstance(value, str) else value
        if isinstance(number, int | float):
            return Float32(number) if type is SchemaType.FLOAT32 else float(number)
    if type is SchemaType.BOOLEAN and isinstance(value, bool):
        return value
    if type is SchemaType.STRING and isinstance(value, str):
        return value
    if type is SchemaType.BYTES and isinstance(value, str):
        return value.encode("latin-1", "replace")
    raise DataError(f"Invalid JSON for {type} default value: {value!r}")


_NESTED: dict[SchemaType, Callable[[Schema, AvroType, Json, AvroSettings], Any]] = {
    SchemaType.ARRAY: _list,
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
}
