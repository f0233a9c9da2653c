"""Writers of columns without parts and without nulls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Date, Decimal, Schema, SchemaType, Time, Timestamp
from connect_core.converters.arrays import integers_of
from connect_core.converters.avro.schemas.model import AvroKind, AvroType
from connect_core.converters.avro.write.pieces import Piece, Unwritable, lengths_of, numbers, piece_of
from connect_core.converters.decimals import unscaled_bytes

__all__ = ["PieceWriter", "leaf_writer"]

PieceWriter: TypeAlias = Callable[[pa.Array], list[Piece]]

_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_INSTANTS = {
    Date.LOGICAL_NAME: SchemaType.INT32,
    Time.LOGICAL_NAME: SchemaType.INT32,
    Timestamp.LOGICAL_NAME: SchemaType.INT64,
}


def leaf_writer(schema: Schema, avro: AvroType) -> PieceWriter:
    """Return a writer of a column without parts. Raise Unwritable for a type that only records can write."""
    write = _writer(schema, avro)
    kind = to_arrow_type(schema)

    def write_leaf(column: pa.Array) -> list[Piece]:
        return write(column if column.type == kind else column.cast(kind))

    return write_leaf


def _writer(schema: Schema, avro: AvroType) -> PieceWriter:
    if schema.name == Decimal.LOGICAL_NAME:
        is_plain = avro.kind is AvroKind.BYTES and pa.types.is_decimal128(to_arrow_type(schema))
        return _given(_decimals if is_plain else None)
    if schema.name in _INSTANTS:
        is_plain = schema.type is _INSTANTS[schema.name] and avro.kind in (AvroKind.INT, AvroKind.LONG)
        return _given(_instants if is_plain else None)
    if schema.type in _INTEGERS:
        return _given(_integers if avro.kind in (AvroKind.INT, AvroKind.LONG) else None)
    if avro.kind is AvroKind.ENUM:
        return _enum(avro.symbols)
    return _fixed(avro.size) if avro.kind is AvroKind.FIXED else _given(_WRITERS.get((schema.type, avro.kind)))


def _given(write: PieceWriter | None) -> PieceWriter:
    if write is None:
        raise Unwritable("a column of a kind that goes by records")
    return write


def _integers(column: pa.Array) -> list[Piece]:
    return [numbers(column.to_numpy())]


def _instants(column: pa.Array) -> list[Piece]:
    integers = integers_of(column)
    if integers is None:
        raise Unwritable(f"instants as {column.type}")
    return [numbers(integers.to_numpy())]


def _decimals(column: pa.Array) -> list[Piece]:
    return _bytes(unscaled_bytes(column))


def _booleans(column: pa.Array) -> list[Piece]:
    places = column.to_numpy(zero_copy_only=False).astype(np.uint8)
    return [piece_of(np.ones(len(places), np.int64), places)]


def _floats(column: pa.Array) -> list[Piece]:
    values = column.to_numpy()
    bad = np.isnan(values)
    if bad.any():
        values = np.where(bad, values.dtype.type(np.nan), values)
    width = values.dtype.itemsize
    data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).view(np.uint8)
    return [piece_of(np.full(len(values), width, np.int64), data)]


def _bytes(column: pa.Array) -> list[Piece]:
    plain = column if column.type == pa.binary() else column.cast(pa.binary())
    return [numbers(lengths_of(plain)), plain]


def _enum(symbols: tuple[str, ...]) -> PieceWriter:
    known = pa.array(symbols, pa.string())

    def write(column: pa.Array) -> list[Piece]:
        places = pc.index_in(column, known)
        if places.null_count:
            raise Unwritable("a text that is not a symbol of its enum")
        return [numbers(places.to_numpy())]

    return write


def _fixed(size: int) -> PieceWriter:
    def write(column: pa.Array) -> list[Piece]:
        sizes: npt.NDArray[np.int64] = lengths_of(column)
        if (sizes != size).any():
            raise Unwritable("bytes of another size than their fixed")
        return [column]

    return write


_WRITERS: dict[tuple[SchemaType, AvroKind], PieceWriter] = {
    (SchemaType.BOOLEAN, AvroKind.BOOLEAN): _booleans,
    (SchemaType.FLOAT32, AvroKind.FLOAT): _floats,
    (SchemaType.FLOAT64, AvroKind.DOUBLE): _floats,
    (SchemaType.STRING, AvroKind.STRING): _bytes,
    (SchemaType.BYTES, AvroKind.BYTES): _bytes,
}
