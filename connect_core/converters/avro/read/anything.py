"""Connect's record for schemaless values, in which one field is not null."""

from __future__ import annotations

from typing import Any

from connect_core.api.data import Int32
from connect_core.converters.avro.read.scalars import (
    Reader,
    read_boolean,
    read_bytes,
    read_double,
    read_float,
    read_int,
    read_long,
    read_string,
)
from connect_core.errors import DataError
from connect_core.java.equality import as_key

__all__ = ["read_anything"]

_MAX_DEPTH = 200
_SCALARS: tuple[Reader, ...] = (
    read_boolean,
    read_bytes,
    read_double,
    read_float,
    read_int,
    read_long,
    read_string,
)


def read_anything(body: bytes, at: int) -> tuple[Any, int]:
    """Read a schemaless value. Raise DataError if it is nested too deep."""
    return _read(body, at, 0)


def _read(body: bytes, at: int, depth: int) -> tuple[Any, int]:
    if depth > _MAX_DEPTH:
        raise DataError(f"a schemaless value is nested deeper than the {_MAX_DEPTH} levels allowed")
    found: Any = None
    for place, read in enumerate(_SCALARS):
        given, at = _is_given(body, at)
        if given:
            value, at = read(body, at)
            found = _first(found, Int32(value) if place == _INT else value)
    for read_list in (_read_array, _read_map):
        given, at = _is_given(body, at)
        if given:
            value, at = read_list(body, at, depth + 1)
            found = _first(found, value)
    return found, at


_INT = _SCALARS.index(read_int)


def _first(found: Any, value: Any) -> Any:
    return value if found is None else found


def _is_given(body: bytes, at: int) -> tuple[bool, int]:
    place, at = read_long(body, at)
    if place not in (0, 1):
        raise DataError(f"branch {place} of a union of 2")
    return place == 1, at


def _counts(body: bytes, at: int) -> tuple[int, int]:
    count, at = read_long(body, at)
    if count < 0:
        _, at = read_long(body, at)
    if abs(count) > len(body):
        raise DataError(f"a block of {count} items, more than the message can hold")
    return abs(count), at


def _read_array(body: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    found = []
    count, at = _counts(body, at)
    while count:
        for _ in range(count):
            value, at = _read(body, at, depth)
            found.append(value)
        count, at = _counts(body, at)
    return found, at


def _read_map(body: bytes, at: int, depth: int) -> tuple[dict[Any, Any], int]:
    found = {}
    count, at = _counts(body, at)
    while count:
        for _ in range(count):
            key, at = _read(body, at, depth)
            value, at = _read(body, at, depth)
            found[as_key(key)] = value
        count, at = _counts(body, at)
    return found, at
