"""Protobuf's wire format written for many messages at once: pieces of bytes, one column each, which are joined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["fixed_column", "framed_column", "joined", "joined_lists", "varint_column"]

Bits = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


def varint_column(bits: Bits, present: Flags, prefix: bytes) -> pa.BinaryArray:
    """Return numbers as varints after a prefix, nothing in rows where they are not present."""
    lengths = np.ones(len(bits), np.int64)
    for group in range(1, 10):
        longer = bits >= np.uint64(1 << 7 * group)
        if not bool(longer.any()):
            break
        lengths += longer
    offsets = _offsets(np.where(present, lengths + len(prefix), 0))
    data = np.empty(int(offsets[-1]), np.uint8)
    rows = np.flatnonzero(present)
    at = offsets[:-1][rows]
    for place, byte in enumerate(prefix):
        data[at + place] = byte
    at = at + len(prefix)
    values, left = bits[rows], lengths[rows]
    while len(at):
        more = left > 1
        data[at] = (values & np.uint64(0x7F)).astype(np.uint8) | (more.astype(np.uint8) << 7)
        at, values, left = at[more] + 1, values[more] >> np.uint64(7), left[more] - 1
    return _column(offsets, data)


def fixed_column(numbers: npt.NDArray[np.generic], present: Flags, prefix: bytes) -> pa.BinaryArray:
    """Return numbers as their bytes after a prefix, nothing in rows where they are not present."""
    width = numbers.dtype.itemsize
    offsets = _offsets(np.where(present, len(prefix) + width, 0))
    found = np.ascontiguousarray(numbers[present]).view(np.uint8).reshape(-1, width)
    rows = np.empty((len(found), len(prefix) + width), np.uint8)
    rows[:, : len(prefix)], rows[:, len(prefix) :] = np.frombuffer(prefix, np.uint8), found
    return _column(offsets, rows.reshape(-1))


def framed_column(bodies: pa.BinaryArray, present: Flags, prefix: bytes) -> pa.BinaryArray:
    """Return a prefix, the length and the bytes, nothing in rows where they are not present; never null."""
    lengths = pc.binary_length(bodies).to_numpy(zero_copy_only=False).astype(np.uint64)
    heads = varint_column(lengths, present, prefix)
    if not bool(present.all()):
        bodies = pc.if_else(pa.array(present), bodies, pa.scalar(b"", pa.binary()))
    return joined([heads, bodies], len(bodies))


def joined(pieces: Sequence[pa.BinaryArray], length: int) -> pa.BinaryArray:
    """Return the pieces of each row as one."""
    if not pieces:
        return pa.repeat(pa.scalar(b"", pa.binary()), length)
    return pieces[0] if len(pieces) == 1 else pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.binary()))


def joined_lists(elements: pa.BinaryArray, offsets: npt.NDArray[np.int64]) -> pa.BinaryArray:
    """Return the elements between two offsets as one piece per row; they have no nulls."""
    _, buffer, data = elements.buffers()
    ends = np.frombuffer(buffer, np.int32)[elements.offset : elements.offset + len(elements) + 1]
    bounds = np.ascontiguousarray(ends[offsets])
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(bounds), data])


def _offsets(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _column(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> pa.BinaryArray:
    if offsets[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowInvalid("a batch of messages is larger than 2 GiB")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)
