"""Schemaless maps as Arrow structs and back: the same keys in every row, one type per key."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.reading import instants, split
from connect_core.api.arrow.writing import NotColumnar, null_mask, offsets, scalar_column, struct_column
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["read_schemaless", "write_schemaless"]

Values = Sequence[Any]
_DECIMAL_DIGITS = 38
_SCALARS: dict[frozenset[type], pa.DataType] = {
    frozenset((int,)): pa.int64(),
    frozenset((Int64,)): pa.int64(),
    frozenset((int, Int64)): pa.int64(),
    frozenset((Int8,)): pa.int8(),
    frozenset((Int16,)): pa.int16(),
    frozenset((Int32,)): pa.int32(),
    frozenset((float,)): pa.float64(),
    frozenset((Float64,)): pa.float64(),
    frozenset((float, Float64)): pa.float64(),
    frozenset((Float32,)): pa.float32(),
    frozenset((bool,)): pa.bool_(),
    frozenset((str,)): pa.string(),
    frozenset((bytes,)): pa.binary(),
}


def write_schemaless(values: Values) -> pa.Array:
    """Return maps (and nulls) as a struct column. Raise NotColumnar for anything else."""
    kinds = frozenset(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds != {dict}:
        raise NotColumnar("schemaless values can become columns only if they are maps")
    return _write_maps(values)


def read_schemaless(array: pa.Array) -> list[Any]:
    """Return the values of a column; 64-bit numbers are plain, narrower ones typed."""
    for is_kind, read in _READERS:
        if is_kind(array.type):
            return read(array)
    values: list[Any] = array.to_pylist()
    return values


def _write(values: Values) -> pa.Array:
    kinds = frozenset(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    kind = _SCALARS.get(kinds)
    if kind is not None:
        return scalar_column(values, kind)
    write = _WRITERS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if write is None:
        raise NotColumnar(f"{kinds} is more than one type, or a type that Arrow does not have")
    return write(values)


def _write_maps(values: Values) -> pa.Array:
    known = [value for value in values if value is not None]
    keys = tuple(known[0])
    if not all(type(key) is str for key in keys) or any(tuple(value) != keys for value in known):
        raise NotColumnar("maps have different keys, a different order of keys, or keys that are not strings")
    empty = (None,) * len(keys)
    rows = [empty if value is None else tuple(value.values()) for value in values]
    children = [_write(column) for column in zip(*rows, strict=True)]
    kind = pa.struct([pa.field(key, child.type) for key, child in zip(keys, children, strict=True)])
    return struct_column(kind, children, values)


def _write_lists(values: Values) -> pa.Array:
    child = _write(list(chain.from_iterable(value for value in values if value is not None)))
    return pa.ListArray.from_arrays(offsets(values), child, mask=null_mask(values))


def _write_instants(values: Values) -> pa.Array:
    millis = [None if value is None else value.epoch_millis for value in values]
    return scalar_column(millis, pa.int64()).view(pa.timestamp("ms", tz="UTC"))


def _write_decimals(values: Values) -> pa.Array:
    exponents = {value.as_tuple().exponent for value in values if value is not None}
    exponent = exponents.pop()
    if exponents or not isinstance(exponent, int) or not -_DECIMAL_DIGITS <= exponent <= 0:
        raise NotColumnar("decimals of different scales cannot share a column")
    return scalar_column(values, pa.decimal128(_DECIMAL_DIGITS, -exponent))


def _read_structs(array: pa.Array) -> list[Any]:
    kind = array.type
    names = [kind.field(index).name for index in range(kind.num_fields)]
    columns = [read_schemaless(array.field(index)) for index in range(kind.num_fields)]
    rows: Any = zip(*columns, strict=True) if columns else [()] * len(array)
    if not array.null_count:
        return [dict(zip(names, row, strict=True)) for row in rows]
    valid = array.is_valid().to_pylist()
    return [dict(zip(names, row, strict=True)) if known else None for row, known in zip(rows, valid, strict=True)]


def _reader(kind: Callable[[Any], Any]) -> Callable[[pa.Array], list[Any]]:
    return lambda array: [None if value is None else kind(value) for value in array.to_pylist()]


_WRITERS: dict[type, Callable[[Values], pa.Array]] = {
    dict: _write_maps,
    list: _write_lists,
    Instant: _write_instants,
    decimal.Decimal: _write_decimals,
}
_READERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]], ...] = (
    (pa.types.is_int8, _reader(Int8)),
    (pa.types.is_int16, _reader(Int16)),
    (pa.types.is_int32, _reader(Int32)),
    (pa.types.is_float32, _reader(Float32)),
    (pa.types.is_timestamp, lambda array: list(instants(array.view(pa.int64())))),
    (pa.types.is_struct, _read_structs),
    (pa.types.is_list, lambda array: split(array, read_schemaless(array.flatten()))),
)
