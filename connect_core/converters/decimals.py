"""Decimal columns and their unscaled values as big-endian bytes, all rows at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["decimals_of", "unscaled_bytes"]

_WIDTH = 16
Bytes = npt.NDArray[np.uint8]


def unscaled_bytes(column: pa.Decimal128Array) -> pa.BinaryArray:
    """Return each unscaled value in its shortest two's-complement form; no nulls allowed."""
    rows = _big_endian(column)
    sign = np.where(rows[:, 0] & 0x80, 0xFF, 0).astype(np.uint8)
    # The top bit of the first byte kept must equal the sign bit.
    needed = np.ones(rows.shape, dtype=bool)
    needed[:, :-1] = np.logical_or.accumulate(
        (rows[:, :-1] != sign[:, None]) | (((rows[:, 1:] ^ sign[:, None]) & 0x80) != 0), axis=1
    )
    offsets = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum(needed.sum(axis=1), out=offsets[1:])
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(rows[needed])])


def decimals_of(values: pa.BinaryArray, kind: pa.Decimal128Type) -> pa.Decimal128Array | None:
    """Return decimals of unscaled values, ``None`` if a value is empty or has too many digits."""
    filled = values.fill_null(b"\0")
    lengths = np.diff(np.frombuffer(filled.buffers()[1], np.int32)[filled.offset : filled.offset + len(filled) + 1])
    if len(lengths) and (lengths.min() < 1 or lengths.max() > _WIDTH - 1):
        return None
    rows = np.zeros((len(filled), _WIDTH), dtype=np.uint8)
    used = np.arange(_WIDTH) >= _WIDTH - lengths[:, None]
    start = np.frombuffer(filled.buffers()[1], np.int32)[filled.offset] if len(filled) else 0
    data = filled.buffers()[2]
    if data is not None:
        rows[used] = np.frombuffer(data, np.uint8)[start : start + lengths.sum()]
    first = rows[np.arange(len(rows)), _WIDTH - lengths]
    rows[~used & (first[:, None] >= 0x80)] = 0xFF
    validity = values.is_valid().buffers()[1] if values.null_count else None
    return pa.Array.from_buffers(kind, len(rows), [validity, pa.py_buffer(np.ascontiguousarray(rows[:, ::-1]))])


def _big_endian(column: pa.Decimal128Array) -> Bytes:
    data = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    rows = data[column.offset * _WIDTH : (column.offset + len(column)) * _WIDTH].reshape(-1, _WIDTH)
    return np.ascontiguousarray(rows[:, ::-1])
