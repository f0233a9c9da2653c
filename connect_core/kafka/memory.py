"""Values at many memory addresses at once, as numpy and Arrow columns.

The messages that librdkafka has fetched are scattered over its own buffers. Reading them from Python costs an object
per value; here numpy gathers fixed fields, and Arrow copies variable ones into one column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Addresses", "WordReader", "binary_column", "distinct", "words_from"]

Addresses = npt.NDArray[np.uint64]
"""Addresses of this process's memory, or 64-bit words read there."""

_WORD = 8
_WINDOW_BITS = 30
_WINDOW_BYTES = 2**31 - 1
_INLINE = 12
_ALL_BITS = np.uint64(2**64 - 1)


class _Memory:
    """A part of this process's memory, as numpy reads it. Only what is indexed is accessed."""

    def __init__(self, type: str, address: int, count: int, *, is_read_only: bool) -> None:
        self.__array_interface__ = {
            "shape": (count,),
            "strides": (_WORD,),
            "typestr": type,
            "data": (address, is_read_only),
            "version": 3,
        }


_COUNT = 2**44 - _WORD
_WORDS: Addresses = np.asarray(_Memory("<u8", _WORD, _COUNT, is_read_only=True))
"""All memory from address 8 on: word 0 is at address 8."""
_PAIRS: npt.NDArray[np.complex128] = np.asarray(_Memory("<c16", _WORD, _COUNT, is_read_only=True))
"""Every word with the one after it: numpy copies 16 bytes as fast as 8."""


def words_from(address: int, count: int) -> Addresses:
    """Return ``count`` words of memory, to be read and written, which must outlive the array."""
    words: Addresses = np.asarray(_Memory("<u8", address, count, is_read_only=False))
    return words


class WordReader:
    """Reads the 64-bit words of structures at many addresses, which must be aligned to 8 bytes."""

    def __init__(self, addresses: Addresses) -> None:
        self._places = _places_of(addresses)

    def __call__(self, index: int) -> Addresses:
        """Return the ``index``-th word of each structure."""
        return _WORDS[self._places + index]

    def pair(self, index: int) -> tuple[Addresses, Addresses]:
        """Return the ``index``-th word of each structure and the one after it."""
        words = _PAIRS[self._places + index].view(np.uint64).reshape(-1, 2)
        return words[:, 0], words[:, 1]


def binary_column(addresses: Addresses, lengths: Addresses) -> pa.BinaryArray:
    """Return a copy of the bytes at each address; address 0 is null.

    Raise ArrowInvalid if the values have 1 GiB or more in total.
    """
    count = len(addresses)
    is_null = addresses == 0
    sizes = np.where(is_null, 0, lengths)
    windows, window = distinct(addresses >> np.uint64(_WINDOW_BITS))
    views = np.zeros((count, 2), np.uint64)
    views[:, 0] = sizes
    views[:, 1] = window.astype(np.uint64) | (addresses - (windows << np.uint64(_WINDOW_BITS))[window]) << np.uint64(32)
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


def _inline(views: Addresses, addresses: Addresses, sizes: Addresses) -> None:
    """Write the values that are short enough into their views, as Arrow requires.

    The prefix that a long value's view also has is used only in comparisons, and is left at zero.
    """
    is_short = sizes <= _INLINE
    rows = slice(None) if is_short.all() else np.flatnonzero(is_short)
    starts, lengths = addresses[rows], sizes[rows]
    if not len(starts):
        return
    low = _first_bytes(starts, lengths)
    high = _first_bytes(starts + np.uint64(_WORD), lengths - np.minimum(lengths, np.uint64(_WORD)))
    half = np.uint64(32)
    views[rows, 0] = lengths | low << half
    views[rows, 1] = low >> half | high << half


def _first_bytes(starts: Addresses, lengths: Addresses) -> Addresses:
    """Return the first 8 bytes at each address; those from ``lengths`` on are zero.

    Reads only words that have a byte of the value: what lies behind it may be unreadable.
    """
    found = np.zeros(len(starts), np.uint64)
    present = lengths > 0
    rows = slice(None) if present.all() else np.flatnonzero(present)
    starts, lengths = starts[rows], np.minimum(lengths[rows], np.uint64(_WORD))
    first, last = _places_of(starts), _places_of(starts + lengths - np.uint64(1))
    skipped = (starts & np.uint64(_WORD - 1)) << np.uint64(3)
    # A shift by 64 bits is not defined.
    behind = _WORDS[last] << np.uint64(1) << (np.uint64(63) - skipped)
    kept = _ALL_BITS >> (np.uint64(64) - (lengths << np.uint64(3)))
    found[rows] = (_WORDS[first] >> skipped | np.where(last > first, behind, np.uint64(0))) & kept
    return found


def _places_of(addresses: Addresses) -> npt.NDArray[np.int64]:
    places = (addresses >> np.uint64(3)).view(np.int64)
    places -= 1
    return places


def _bitmap(is_null: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~is_null, bitorder="little")) if is_null.any() else None
