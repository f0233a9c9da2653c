"""Conversion between Arrow columns and the bytes of keys and values in Kafka."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

__all__ = ["pack_numbers", "unpack_numbers"]


def unpack_numbers(column: pa.Array, form: struct.Struct) -> pa.Array:
    """Return a column of numbers as bytes, in the byte order of ``form``."""
    numbers = column.fill_null(0).to_numpy().astype(np.dtype(form.format))
    if numbers.dtype.kind == "f":
        # One bit pattern for every NaN, as in doubleToLongBits.
        numbers[np.isnan(numbers)] = np.nan
    buffers = [column.is_valid().buffers()[1], pa.py_buffer(numbers.tobytes())]
    return pa.Array.from_buffers(pa.binary(form.size), len(column), buffers).cast(pa.binary())


def pack_numbers(values: pa.BinaryArray, form: struct.Struct, kind: pa.DataType) -> pa.Array | None:
    """Return bytes as a column of numbers, ``None`` if one has another length."""
    try:
        fixed = values.cast(pa.binary(form.size))
    except pa.ArrowInvalid:
        return None
    if not len(fixed):
        return pa.array([], kind)
    validity, data = fixed.buffers()
    order = np.dtype(form.format)
    numbers = np.frombuffer(data, order, count=len(fixed)).astype(order.newbyteorder("="))
    return pa.Array.from_buffers(kind, len(fixed), [validity, pa.py_buffer(numbers)])
