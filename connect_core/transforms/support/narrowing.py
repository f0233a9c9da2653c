"""One value cast to another primitive type, by Java's rules of narrowing and parsing."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable
from typing import Any

from connect_core.api.data import (
    Date,
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
    Time,
    Timestamp,
    to_text,
)
from connect_core.api.data.values import convert_to_string
from connect_core.errors import ClassCastError, ConfigError, DataError, NumberFormatError
from connect_core.java.narrowing import to_double, to_int, to_long
from connect_core.java.numbers import nearest_float32, parse_double, parse_float, parse_integer, round_to_float32, wrap

__all__ = ["cast_value", "check_output"]

_OUTPUTS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
    SchemaType.BOOLEAN,
    SchemaType.STRING,
)
_INPUTS = (*_OUTPUTS, SchemaType.BYTES)
_LOGICAL: dict[str | None, Callable[[Schema, Instant], int]] = {
    Date.LOGICAL_NAME: Date.from_logical,
    Time.LOGICAL_NAME: Time.from_logical,
    Timestamp.LOGICAL_NAME: Timestamp.from_logical,
}
_TYPES: dict[type, SchemaType] = {
    Int8: SchemaType.INT8,
    Int16: SchemaType.INT16,
    Int32: SchemaType.INT32,
    Int64: SchemaType.INT64,
    int: SchemaType.INT64,
    Float32: SchemaType.FLOAT32,
    Float64: SchemaType.FLOAT64,
    float: SchemaType.FLOAT64,
    bool: SchemaType.BOOLEAN,
    str: SchemaType.STRING,
    bytes: SchemaType.BYTES,
    memoryview: SchemaType.BYTES,
    list: SchemaType.ARRAY,
    dict: SchemaType.MAP,
    Struct: SchemaType.STRUCT,
}


def check_output(target: SchemaType) -> SchemaType:
    """Return a type that is a valid target of casts. Raise ConfigError for another."""
    if target not in _OUTPUTS:
        supported = ", ".join(map(str, _OUTPUTS))
        raise ConfigError(
            f"Cast transformation does not support casting to {target}; supported types are [{supported}]"
        )
    return target


def cast_value(schema: Schema | None, value: Any, target: SchemaType) -> Any:
    """Return a value cast to another type; a null stays null.

    Integers keep their low bits, floats saturate, texts must be numbers. Raise
    DataError for values that cannot be cast.
    """
    if value is None:
        return None
    _check_input(schema, value)
    if schema is not None and target is not SchemaType.STRING and schema.name in _LOGICAL:
        value = _stored(schema, value)
    try:
        return _CASTS[target](value)
    except NumberFormatError as error:
        raise DataError(f"Value ({to_text(value)}) was out of range for requested data type") from error


def _stored(schema: Schema, value: Any) -> int:
    if not isinstance(value, Instant):
        raise ClassCastError(f"{schema} holds a {type(value).__name__}, which is not a date: it was cast earlier")
    return _LOGICAL[schema.name](schema, value)


def _check_input(schema: Schema | None, value: Any) -> None:
    source = _TYPES.get(type(value)) if schema is None else schema.type
    if source is None:
        raise DataError(
            f"Cast transformation was passed a value of type class {type(value).__name__}"
            " which is not supported by Connect's data API"
        )
    if source not in _INPUTS:
        supported = ", ".join(map(str, _INPUTS))
        raise DataError(
            f"Cast transformation does not support casting from {source}; supported types are [{supported}]"
        )


def _integer(width: type, bits: int) -> Callable[[Any], Any]:
    narrow = to_long if bits == 64 else to_int

    def cast(value: Any) -> Any:
        if isinstance(value, int | float | decimal.Decimal):
            return width(wrap(narrow(value), bits))
        if isinstance(value, str):
            return width(parse_integer(value, bits))
        raise _unexpected(value)

    return cast


def _float32(value: Any) -> Float32:
    if isinstance(value, float):
        return Float32(value)
    if isinstance(value, int | decimal.Decimal):
        small = isinstance(value, int) and abs(value) <= 1 << 53
        return Float32(round_to_float32(float(value)) if small else nearest_float32(decimal.Decimal(value)))
    if isinstance(value, str):
        return Float32(parse_float(value))
    raise _unexpected(value)


def _float64(value: Any) -> float:
    if isinstance(value, int | float | decimal.Decimal):
        return to_double(value)
    if isinstance(value, str):
        return parse_double(value)
    raise _unexpected(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | decimal.Decimal):
        return to_long(value) != 0
    if isinstance(value, str):
        return value.lower() == "true"
    raise _unexpected(value)


def _string(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Instant):
        return convert_to_string(None, value) or ""
    return to_text(value)


def _unexpected(value: Any) -> DataError:
    return DataError(f"Unexpected type in Cast transformation: class {type(value).__name__}")


_CASTS: dict[SchemaType, Callable[[Any], Any]] = {
    SchemaType.INT8: _integer(Int8, 8),
    SchemaType.INT16: _integer(Int16, 16),
    SchemaType.INT32: _integer(Int32, 32),
    SchemaType.INT64: _integer(int, 64),
    SchemaType.FLOAT32: _float32,
    SchemaType.FLOAT64: _float64,
    SchemaType.BOOLEAN: _boolean,
    SchemaType.STRING: _string,
}
