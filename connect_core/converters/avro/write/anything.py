"""Schemaless values written as Connect's record for them."""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Float32, Float64, Int8, Int16, Int32, Int64
from connect_core.converters.avro.write.scalars import (
    Writer,
    write_boolean,
    write_bytes,
    write_double,
    write_float,
    write_long,
    write_string,
)
from connect_core.errors import DataError

__all__ = ["write_anything"]

_MAX_DEPTH = 200
_WIDTH = 9
_ARRAY, _MAP = 7, 8
_SCALARS: dict[type, tuple[int, Writer]] = {
    bool: (0, write_boolean),
    bytes: (1, write_bytes),
    memoryview: (1, write_bytes),
    Float64: (2, write_double),
    float: (2, write_double),
    Float32: (3, write_float),
    Int8: (4, write_long),
    Int16: (4, write_long),
    Int32: (4, write_long),
    Int64: (5, write_long),
    int: (5, write_long),
    str: (6, write_string),
}


def write_anything(out: bytearray, value: Any) -> None:
    """Append a schemaless value. Raise DataError for a class without a Connect type."""
    _write(out, value, 0)


def _write(out: bytearray, value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise DataError(f"a schemaless value is nested deeper than the {_MAX_DEPTH} levels allowed")
    if value is None:
        out += bytes(_WIDTH)
        return
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        place, write = scalar
        _begin(out, place)
        _check(value)
        write(out, value)
    elif isinstance(value, list | dict):
        place = _ARRAY if isinstance(value, list) else _MAP
        _begin(out, place)
        _items(out, value, depth + 1)
    else:
        raise DataError(f"Unknown Java type for schemaless data: class {type(value).__name__}")
    out += bytes(_WIDTH - 1 - place)


def _begin(out: bytearray, place: int) -> None:
    out += bytes(place)
    out.append(2)


def _check(value: Any) -> None:
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        raise DataError(f"{value} does not fit 64 bits")


def _items(out: bytearray, value: list[Any] | dict[Any, Any], depth: int) -> None:
    if value:
        write_long(out, len(value))
    for item in value:
        _write(out, item, depth)
        if isinstance(value, dict):
            _write(out, value[item], depth)
    out.append(0)
