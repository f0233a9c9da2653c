"""Values at many memory addresses at once, as numpy and Arrow columns.

What librdkafka has fetched is scattered over its own buffers. Reading it from
Python costs an object per value; here numpy gathers fixed fields, and Arrow
copies variable ones into one column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Addresses", "binary_column", "words_at"]

Addresses = npt.NDArray[np.uint64]
"""Addresses of this process's memory, or 64-bit words read there."""

_WORD = 8
_WINDOW_BITS = 30
_WINDOW_BYTES = 2**31 - 1
_PREFIX = 4
_INLINE = 12


class _Memory:
    """This process's memory from address 8 on: as words, or as bytes. Only what is indexed is touched."""

    def __init__(self, type: str, size: int) -> None:
        self.__array_interface__ = {"shape": (2**47 // size,), "typestr": type, "data": (_WORD, True), "version": 3}


_WORDS: npt.NDArray[np.uint64] = np.asarray(_Memory("<u8", 8))
_BYTES: npt.NDArray[np.uint8] = np.asarray(_Memory("|u1", 1))


def words_at(addresses: Addresses, index: int) -> Addresses:
    """Return the ``index``-th 64-bit word of the structure at each address, which must be aligned to 8 bytes."""
    return _WORDS[(addresses >> np.uint64(3)).astype(np.int64) + (index - 1)]


def binary_column(addresses: Addresses, lengths: Addresses) -> pa.BinaryArray:
    """Return a copy of the bytes at each address; address 0 is a null.

    Raise ArrowInvalid for a value of 1 GiB or more in all.
    """
    count = len(addresses)
    is_null = addresses == 0
    sizes = np.where(is_null, 0, lengths).astype(np.int64)
    windows, window = np.unique(addresses >> np.uint64(_WINDOW_BITS), return_inverse=True)
    views = np.zeros((count, 4), np.int32)
    views[:, 0] = sizes
    views[:, 2] = window
    views[:, 3] = (addresses - (windows << np.uint64(_WINDOW_BITS))[window]).astype(np.int32)
    as_bytes = views.view(np.uint8).reshape(count, 4 * _PREFIX)
    _inline(as_bytes, addresses, sizes)
    # A value begins inside its window and may reach into the next one: each buffer covers two.
    buffers = [pa.foreign_buffer(int(place) << _WINDOW_BITS, _WINDOW_BYTES) for place in windows]
    validity = _bitmap(is_null)
    column = pa.Array.from_buffers(pa.binary_view(), count, [validity, pa.py_buffer(views), *buffers])
    return column.cast(pa.binary())


def _inline(views: npt.NDArray[np.uint8], addresses: Addresses, sizes: npt.NDArray[np.int64]) -> None:
    """Write the values that are short enough into their views, as Arrow requires.

    The prefix that a long value's view also has serves comparisons only, and is left at zero.
    """
    rows = np.flatnonzero(sizes <= _INLINE)
    views[rows, _PREFIX:] = 0
    places = addresses.astype(np.int64) - _WORD
    for at in range(_INLINE):
        rows = rows[sizes[rows] > at]
        views[rows, _PREFIX + at] = _BYTES[places[rows] + at]


def _bitmap(is_null: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~is_null, bitorder="little")) if is_null.any() else None
