"""Values at many memory addresses at once, as numpy and Arrow columns.

The messages that librdkafka has fetched are scattered over its own buffers. Reading them from Python costs an object
per value; here numpy gathers fixed fields, and Arrow copies variable ones into one column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Addresses", "binary_column", "distinct", "words_at"]

Addresses = npt.NDArray[np.uint64]
"""Addresses of this process's memory, or 64-bit words read there."""

_WORD = 8
_WINDOW_BITS = 30
_WINDOW_BYTES = 2**31 - 1
_PREFIX = 4
_INLINE = 12
_PAGE = 4096


class _Memory:
    """This process's memory from address 8 on, as words or bytes. Only what is indexed is accessed."""

    def __init__(self, type: str, stride: int) -> None:
        self.__array_interface__ = {
            "shape": (2**47 // stride - _WORD,),
            "strides": (stride,),
            "typestr": type,
            "data": (_WORD, True),
            "version": 3,
        }


_WORDS: npt.NDArray[np.uint64] = np.asarray(_Memory("<u8", 8))
_BYTES: npt.NDArray[np.uint8] = np.asarray(_Memory("|u1", 1))
_UNALIGNED: npt.NDArray[np.uint32] = np.asarray(_Memory("<u4", 1))
"""The four bytes at each address."""


def words_at(addresses: Addresses, index: int) -> Addresses:
    """Return the ``index``-th 64-bit word of the structure at each address, which must be aligned to 8 bytes."""
    return _WORDS[(addresses >> np.uint64(3)).astype(np.int64) + (index - 1)]


def binary_column(addresses: Addresses, lengths: Addresses) -> pa.BinaryArray:
    """Return a copy of the bytes at each address; address 0 is null.

    Raise ArrowInvalid if the values have 1 GiB or more in total.
    """
    count = len(addresses)
    is_null = addresses == 0
    sizes = np.where(is_null, 0, lengths).astype(np.int64)
    windows, window = distinct(addresses >> np.uint64(_WINDOW_BITS))
    views = np.zeros((count, 4), np.int32)
    views[:, 0] = sizes
    views[:, 2] = window
    views[:, 3] = (addresses - (windows << np.uint64(_WINDOW_BITS))[window]).astype(np.int32)
    _inline(views, addresses, sizes)
    # A value begins inside its window and may reach into the next one: each buffer covers two.
    buffers = [pa.foreign_buffer(int(place) << _WINDOW_BITS, _WINDOW_BYTES) for place in windows]
    validity = _bitmap(is_null)
    column = pa.Array.from_buffers(pa.binary_view(), count, [validity, pa.py_buffer(views), *buffers])
    return column.cast(pa.binary())


def distinct(words: Addresses) -> tuple[Addresses, npt.NDArray[np.intp]]:
    """Return the distinct words, and each row's index into them; fast if all are equal."""
    if len(words) and (words == words[0]).all():
        return words[:1], np.zeros(len(words), np.intp)
    return np.unique(words, return_inverse=True)


def _inline(views: npt.NDArray[np.int32], addresses: Addresses, sizes: npt.NDArray[np.int64]) -> None:
    """Write the values that are short enough into their views, as Arrow requires.

    The prefix that a long value's view also has is used only in comparisons, and is left at zero.
    """
    short = np.flatnonzero(sizes <= _INLINE)
    views[short, 1:] = 0
    short = short[sizes[short] > 0]
    starts, lengths = addresses[short].astype(np.int64), sizes[short]
    is_inside = starts % _PAGE <= _PAGE - _INLINE
    places = starts - _WORD
    inside = np.flatnonzero(is_inside)
    for part in range(_INLINE // _PREFIX):
        # Bytes after a value's end are masked out; they are readable, as they are on the same page.
        bits = np.clip(lengths[inside] - _PREFIX * part, 0, _PREFIX) * 8
        mask = (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)
        views[short[inside], 1 + part] = (_UNALIGNED[places[inside] + _PREFIX * part] & mask).astype(np.int32)
    at_page_end = views.view(np.uint8).reshape(len(views), 4 * _PREFIX)
    for row in np.flatnonzero(~is_inside):
        start, length = places[row], lengths[row]
        at_page_end[short[row], _PREFIX : _PREFIX + length] = _BYTES[start : start + length]


def _bitmap(is_null: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~is_null, bitorder="little")) if is_null.any() else None
