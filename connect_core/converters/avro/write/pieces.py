"""Pieces of messages: binary columns without nulls, which are joined row by row in order."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.errors import DataError

__all__ = ["Piece", "Unwritable", "constant", "expand", "join", "lengths_of", "numbers", "piece_of", "regroup"]

Piece: TypeAlias = "pa.BinaryArray | pa.BinaryScalar"
"""A scalar is the same bytes in every row."""
Rows = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]

_LIMIT = 1 << 31
_AT_ONCE = 128
"""Arrow joins thousands of columns at once far more slowly than in two steps."""
_GROUP = np.uint64(7)


class Unwritable(DataError):
    """Raised when a column cannot be written as a whole: one value is bad, or only records can be written."""


def constant(content: bytes) -> pa.BinaryScalar:
    """Return the same bytes for every row."""
    return pa.scalar(content, pa.binary())


def join(pieces: list[Piece], rows: int) -> pa.BinaryArray:
    """Return the bytes of each row, one piece after the other. Raise ArrowException for 2 GiB or more."""
    while len(pieces) > _AT_ONCE:
        pieces = [_joined(pieces[first : first + _AT_ONCE]) for first in range(0, len(pieces), _AT_ONCE)]
    found = _joined(pieces)
    return found if isinstance(found, pa.Array) else pa.repeat(found, rows)


def _joined(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    if any(isinstance(one, pa.Array) for one in pieces):
        return pc.binary_join_element_wise(*pieces, b"")
    return constant(b"".join(one.as_py() for one in pieces))


def piece_of(sizes: Longs, data: npt.NDArray[np.uint8] | pa.Buffer) -> pa.BinaryArray:
    """Return consecutive bytes, split by sizes. Raise Unwritable for 2 GiB or more."""
    ends = np.cumsum(sizes)
    if len(ends) and ends[-1] >= _LIMIT:
        raise Unwritable("2 GiB of messages in one batch")
    offsets = np.zeros(len(sizes) + 1, np.int32)
    offsets[1:] = ends
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def numbers(values: npt.NDArray[np.signedinteger]) -> pa.BinaryArray:
    """Return integers as zigzag varints."""
    wide = values.astype(np.int64)
    plain = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    widest = int(plain.max(initial=0))
    if widest < 0x80:
        return piece_of(np.ones(len(plain), np.int64), plain.astype(np.uint8))
    width = (widest.bit_length() + 6) // 7
    # A row of bytes per number, of which only the needed ones are kept.
    rows = np.empty((len(plain), width), np.uint8)
    needed = np.ones((len(plain), width), np.bool_)
    for place in range(width):
        group = plain >> _GROUP * np.uint64(place)
        rows[:, place] = group
        if place:
            needed[:, place] = group != 0
    rows[:, :-1] = (rows[:, :-1] & 0x7F) | (needed[:, 1:].view(np.uint8) << 7)
    rows[:, -1] &= 0x7F
    return piece_of(needed.sum(axis=1), rows[needed])


def lengths_of(column: pa.Array) -> Longs:
    """Return the number of bytes of each value in a binary or text column."""
    return np.diff(_offsets(column)).astype(np.int64)


def _offsets(column: pa.Array) -> npt.NDArray[np.int32]:
    offsets = column.buffers()[1]
    if offsets is None:
        return np.zeros(len(column) + 1, np.int32)
    return np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]


def expand(piece: Piece, given: Rows) -> Piece:
    """Return a piece of some rows as a piece of all rows, empty for the others, without copying a column."""
    if isinstance(piece, pa.Scalar):
        return piece_of(
            np.where(given, len(piece.as_py()), 0), np.frombuffer(piece.as_py() * int(given.sum()), np.uint8)
        )
    offsets = _offsets(piece)
    places = np.concatenate(([0], np.cumsum(given)))
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets[places])), piece.buffers()[2]]
    return pa.Array.from_buffers(pa.binary(), len(given), buffers)


def regroup(items: pa.BinaryArray, counts: Longs) -> pa.BinaryArray:
    """Return the bytes of ``counts`` items per row as one value, without copying."""
    places = np.concatenate(([0], np.cumsum(counts)))
    buffers = [None, pa.py_buffer(np.ascontiguousarray(_offsets(items)[places])), items.buffers()[2]]
    return pa.Array.from_buffers(pa.binary(), len(counts), buffers)
