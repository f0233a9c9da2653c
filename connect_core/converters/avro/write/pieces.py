"""Pieces of messages: binary columns without nulls, of which each row's are joined in order."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.errors import DataError

__all__ = ["Piece", "Unwritable", "constant", "expand", "join", "lengths_of", "numbers", "piece_of", "regroup"]

Piece: TypeAlias = "pa.BinaryArray | pa.BinaryScalar"
"""A scalar stands for the same bytes in every row."""
Rows = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]

_LIMIT = 1 << 31
_AT_ONCE = 128
"""Arrow joins thousands of columns far slower at once than in two steps."""
_GROUP = np.uint64(7)


class Unwritable(DataError):
    """Says that a column cannot be written as a whole: one value is wrong, or its kind goes by records."""


def constant(content: bytes) -> pa.BinaryScalar:
    """Return the same bytes for every row."""
    return pa.scalar(content, pa.binary())


def join(pieces: list[Piece], rows: int) -> pa.BinaryArray:
    """Return the bytes of each row, one piece after the other. Raise ArrowException from 2 GiB on."""
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
    """Return bytes that stand one after the other, cut to sizes. Raise Unwritable from 2 GiB on."""
    ends = np.cumsum(sizes)
    if len(ends) and ends[-1] >= _LIMIT:
        raise Unwritable("2 GiB of messages in one batch")
    offsets = np.zeros(len(sizes) + 1, np.int32)
    offsets[1:] = ends
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def numbers(values: npt.NDArray[np.signedinteger]) -> pa.BinaryArray:
    """Return integers in zigzag groups of seven bits."""
    wide = values.astype(np.int64)
    plain = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    widest = int(plain.max(initial=0))
    if widest < 0x80:
        return piece_of(np.ones(len(plain), np.int64), plain.astype(np.uint8))
    width = (widest.bit_length() + 6) // 7
    # A row of bytes a number, then only those that it needs.
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
    """Return how many bytes each value of a binary or text column has."""
    return np.diff(_offsets(column)).astype(np.int64)


def _offsets(column: pa.Array) -> npt.NDArray[np.int32]:
    offsets = column.buffers()[1]
    if offsets is None:
        return np.zeros(len(column) + 1, np.int32)
    return np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]


def expand(piece: Piece, given: Rows) -> Piece:
    """Return the bytes of the rows that are given for all rows, none for the others; nothing is copied."""
    if isinstance(piece, pa.Scalar):
        return piece_of(
            np.where(given, len(piece.as_py()), 0), np.frombuffer(piece.as_py() * int(given.sum()), np.uint8)
        )
    offsets = _offsets(piece)
    places = np.concatenate(([0], np.cumsum(given)))
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets[places])), piece.buffers()[2]]
    return pa.Array.from_buffers(pa.binary(), len(given), buffers)


def regroup(items: pa.BinaryArray, counts: Longs) -> pa.BinaryArray:
    """Return the bytes of so many items a row as one value; nothing is copied."""
    places = np.concatenate(([0], np.cumsum(counts)))
    buffers = [None, pa.py_buffer(np.ascontiguousarray(_offsets(items)[places])), items.buffers()[2]]
    return pa.Array.from_buffers(pa.binary(), len(counts), buffers)
