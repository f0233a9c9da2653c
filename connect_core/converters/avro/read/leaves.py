"""Readers of columns without parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Date, Decimal, Schema, SchemaType, Time, Timestamp
from connect_core.converters.avro.read.bodies import Bodies, Positions, Unreadable
from connect_core.converters.avro.schemas.model import AvroKind, AvroType
from connect_core.converters.decimals import decimals_of
from connect_core.java.instant import MILLIS_PER_DAY

__all__ = ["leaf_reader"]

Read = Callable[[Bodies, Positions], tuple[pa.Array, Positions]]
_SMALL: dict[SchemaType, Any] = {SchemaType.INT8: np.int8, SchemaType.INT16: np.int16}
_NEEDED = {
    Decimal.LOGICAL_NAME: SchemaType.BYTES,
    Date.LOGICAL_NAME: SchemaType.INT32,
    Time.LOGICAL_NAME: SchemaType.INT32,
    Timestamp.LOGICAL_NAME: SchemaType.INT64,
}


def leaf_reader(avro: AvroType, schema: Schema) -> Read:
    """Return a reader of a column without parts. Raise Unreadable for a type without a column form."""
    needed = _NEEDED.get(schema.name or "")
    if needed not in (None, schema.type):
        raise Unreadable(f"{schema.name} over {schema.type}")
    if avro.kind is AvroKind.ENUM:
        return _enum(avro.symbols)
    if avro.kind in (AvroKind.BYTES, AvroKind.FIXED):
        return _bytes(avro, schema)
    if avro.kind is AvroKind.INT:
        return _ints(schema)
    read = _READERS.get(avro.kind)
    if read is None:
        raise Unreadable(f"{avro.kind.value} as a column")
    if schema.name == Timestamp.LOGICAL_NAME:
        return _viewed(read, to_arrow_type(schema))
    return read


def _booleans(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
    return pa.array(bodies.bytes_at(at) == 1), at + 1


def _longs(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
    numbers, at = bodies.longs(at)
    return pa.array(numbers), at


def _floats(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
    numbers, at = bodies.floats(at)
    return pa.array(numbers), at


def _doubles(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
    numbers, at = bodies.doubles(at)
    return pa.array(numbers), at


def _texts(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
    found, at = bodies.sized(at)
    # Text that is not UTF-8 raises ArrowInvalid: the record lane replaces it with U+FFFD.
    return found.cast(pa.string()), at


_READERS: dict[AvroKind, Read] = {
    AvroKind.BOOLEAN: _booleans,
    AvroKind.LONG: _longs,
    AvroKind.FLOAT: _floats,
    AvroKind.DOUBLE: _doubles,
    AvroKind.STRING: _texts,
}


def _viewed(read: Read, kind: pa.DataType) -> Read:
    def read_viewed(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        found, at = read(bodies, at)
        return found.view(kind), at

    return read_viewed


def _ints(schema: Schema) -> Read:
    kind, small = to_arrow_type(schema), _SMALL.get(schema.type)
    is_time = schema.name == Time.LOGICAL_NAME

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        numbers, at = bodies.ints(at)
        if is_time and len(numbers) and (numbers.min() < 0 or numbers.max() >= MILLIS_PER_DAY):
            raise Unreadable("a time that is none of a day")
        return pa.array(numbers if small is None else numbers.astype(small)).view(kind), at

    return read


def _enum(symbols: tuple[str, ...]) -> Read:
    texts = pa.array(symbols, pa.string())

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        places, at = bodies.places(at, len(symbols))
        return texts.take(pa.array(places)), at

    return read


def _bytes(avro: AvroType, schema: Schema) -> Read:
    kind, size = to_arrow_type(schema), avro.size
    is_fixed, is_decimal = avro.kind is AvroKind.FIXED, schema.name == Decimal.LOGICAL_NAME
    if is_decimal and not pa.types.is_decimal128(kind):
        raise Unreadable("decimals of more digits than columns have")

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        found, at = (bodies.slices(at, at + size), at + size) if is_fixed else bodies.sized(at)
        if not is_decimal:
            return found, at
        decimals = decimals_of(found, kind)
        if decimals is None:
            raise Unreadable("a decimal of more digits than its column")
        return decimals, at

    return read
