"""Checks whether a value fits a schema. Connect: ``ConnectSchema.validateValue``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from connect_core.api.data.schema import LOGICAL_CLASSES, Schema, SchemaType
from connect_core.errors import DataError
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32

__all__ = ["StructLike", "normalize", "validate_value"]

INTEGER_LIMITS: dict[SchemaType, int] = {
    SchemaType.INT8: 1 << 7,
    SchemaType.INT16: 1 << 15,
    SchemaType.INT32: 1 << 31,
    SchemaType.INT64: 1 << 63,
}


class StructLike:
    """The interface of a Struct that validation needs; a class, because a protocol is slow to check."""

    __slots__ = ("schema",)

    schema: Schema
    """The schema the struct was made for."""

    def validate(self) -> None:
        """Raise DataError for the first field that does not fit."""
        raise NotImplementedError


def validate_value(schema: Schema, value: Any, name: str | None = None) -> None:
    """Raise DataError unless ``value`` fits; ``name`` is the field name for the message."""
    if type(value) in schema.accepts:
        return
    _validate(schema, value, "value" if name is None else f'field: "{name}"')


def normalize(schema: Schema, value: Any) -> Any:
    """Return ``value`` in its stored form: dates as Instant, FLOAT32 rounded; unchecked.

    A value already in that form is returned as the same object.
    """
    change = _NORMAL.get(type(value))
    return value if change is None else change(schema, value)


def _validate(schema: Schema, value: Any, location: str) -> None:
    if value is None:
        if schema.optional:
            return
        raise DataError(f"Invalid value: null used for required {location}, schema type: {schema.type}")
    if type(value) in schema.accepts:
        return
    check = None if schema.name in LOGICAL_CLASSES else _CHECKS.get(schema.type)
    if check is None or not check(schema, value, location):
        label = "" if schema.name is None else f' "{schema.name}"'
        raise DataError(
            f"Invalid object for schema{label} with type {schema.type}: {_describe(schema, value)} for {location}"
        )


def _describe(schema: Schema, value: Any) -> str:
    if type(value) is int and schema.type in INTEGER_LIMITS and schema.name not in LOGICAL_CLASSES:
        return f"int {value}, out of range,"
    return f"class {type(value).__name__}"


def _check_integer(schema: Schema, value: Any, location: str) -> bool:
    limit = INTEGER_LIMITS[schema.type]
    return type(value) is int and -limit <= value < limit


def _check_string(schema: Schema, value: Any, location: str) -> bool:
    return isinstance(value, str)


def _check_bytes(schema: Schema, value: Any, location: str) -> bool:
    return isinstance(value, bytes)


def _check_struct(schema: Schema, value: Any, location: str) -> bool:
    if not isinstance(value, StructLike):
        return False
    if value.schema is not schema and value.schema != schema:
        raise DataError("Struct schemas do not match.")
    value.validate()
    return True


def _check_array(schema: Schema, value: Any, location: str) -> bool:
    if not isinstance(value, list):
        return False
    location = f"element of array {location}"
    element = _defined(schema.value_schema, location)
    for item in value:
        _validate(element, item, location)
    return True


def _check_map(schema: Schema, value: Any, location: str) -> bool:
    if not isinstance(value, dict):
        return False
    key_location, value_location = f"key of map {location}", f"value of map {location}"
    key_schema = _defined(schema.key_schema, key_location)
    value_schema = _defined(schema.value_schema, value_location)
    for key, item in value.items():
        _validate(key_schema, key, key_location)
        _validate(value_schema, item, value_location)
    return True


def _defined(schema: Schema | None, location: str) -> Schema:
    if schema is None:
        raise DataError(f"No schema defined for {location}")
    return schema


_CHECKS: dict[SchemaType, Callable[[Schema, Any, str], bool]] = {
    SchemaType.INT8: _check_integer,
    SchemaType.INT16: _check_integer,
    SchemaType.INT32: _check_integer,
    SchemaType.INT64: _check_integer,
    SchemaType.STRING: _check_string,
    SchemaType.BYTES: _check_bytes,
    SchemaType.ARRAY: _check_array,
    SchemaType.MAP: _check_map,
    SchemaType.STRUCT: _check_struct,
}


def _instant(schema: Schema, value: Any) -> Any:
    return Instant.of(value) if Instant in schema.accepts else value


def _float(schema: Schema, value: Any) -> Any:
    return Float32(value) if schema.type is SchemaType.FLOAT32 else value


def _list(schema: Schema, value: Any) -> Any:
    if schema.type is not SchemaType.ARRAY or schema.value_schema is None:
        return value
    element = schema.value_schema
    changed = [normalize(element, item) for item in value]
    return value if all(map(_is, changed, value)) else changed


def _dict(schema: Schema, value: Any) -> Any:
    if schema.type is not SchemaType.MAP or schema.key_schema is None or schema.value_schema is None:
        return value
    keys, items = schema.key_schema, schema.value_schema
    changed = {normalize(keys, key): normalize(items, item) for key, item in value.items()}
    same = all(map(_is, changed, value)) and all(map(_is, changed.values(), value.values()))
    return value if same else changed


def _is(one: Any, other: Any) -> bool:
    return one is other


_NORMAL: dict[type, Callable[[Schema, Any], Any]] = {
    datetime: _instant,
    date: _instant,
    time: _instant,
    float: _float,
    list: _list,
    dict: _dict,
}
