"""Many bodies in one buffer, read at one position in each at the same time.

Every read returns the values and the positions after them; positions only
increase. After reading a whole value, the caller must compare the positions with
the ends of the bodies: only if they are equal was not a body read beyond its end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.errors import DataError

__all__ = ["ITEMS_A_ROUND", "Bodies", "Positions", "Unreadable"]

Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

ITEMS_A_ROUND = 32
"""A round costs as much as some items."""
_ROUNDS = 512
"""So many rounds cost a batch little, whatever they read."""
_PADDING = 24
_LIMIT = (1 << 31) - _PADDING
_TOPS = np.uint64(0x8080808080808080)
_ONE = np.uint64(1)
_FOLDS = (
    (np.uint64(0x007F007F007F007F), np.uint64(0x7F007F007F007F00), np.uint64(1)),
    (np.uint64(0x00003FFF00003FFF), np.uint64(0x3FFF00003FFF0000), np.uint64(2)),
    (np.uint64(0x000000000FFFFFFF), np.uint64(0x0FFFFFFF00000000), np.uint64(4)),
)


class Unreadable(DataError):
    """Raised when bodies cannot be read as columns: one is malformed, or columns cannot hold the values."""


class Bodies:
    """``data`` contains the bodies one after the other, gaps allowed. Raise Unreadable for 2 GiB or more."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.size = len(data)
        self._items = self._rounds = 0
        if self.size > _LIMIT:
            raise Unreadable("2 GiB of messages in one batch")
        self._data = np.zeros(self.size + _PADDING, np.uint8)
        self._data[: self.size] = data
        # The eight bytes from each position on, at any alignment.
        self._words: Words = np.ndarray((len(self._data) - 7,), "<u8", self._data, 0, (1,))

    def bytes_at(self, at: Positions) -> npt.NDArray[np.uint8]:
        """Return the byte at each position."""
        return self._data[self._inside(at)]

    def words_at(self, at: Positions) -> Words:
        """Return the eight bytes at each position as a little-endian number."""
        return self._words[self._inside(at)]

    def longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Read numbers of 64 bits. Raise Unreadable for one longer than ten bytes."""
        first = self.bytes_at(at)
        if not len(first) or first.max() < 0x80:
            return _unfolded(first.astype(np.uint64)), at + 1
        words = self._words[at]
        stops = ~words & _TOPS
        ends = stops & (~stops + _ONE)
        masks = ends | (ends - _ONE)
        sizes = (np.bitwise_count(masks) >> 3).astype(np.int64)
        numbers = words & masks
        for low, high, shift in _FOLDS:
            numbers = (numbers & low) | ((numbers & high) >> shift)
        if not stops.all():
            numbers, sizes = self._long_longs(at, stops == 0, numbers, sizes)
        return _unfolded(numbers), at + sizes

    def _long_longs(
        self, at: Positions, rows: npt.NDArray[np.bool_], numbers: Words, sizes: Positions
    ) -> tuple[Words, Positions]:
        """Add the ninth and tenth byte where present: ``numbers`` has 56 bits of eight bytes."""
        tails = self._words[at[rows] + 8]
        ninth, tenth = tails & np.uint64(0xFF), (tails >> np.uint64(8)) & np.uint64(0xFF)
        continues = ninth >= np.uint64(0x80)
        if (continues & (tenth > _ONE)).any():
            raise Unreadable("a number of more than 64 bits")
        numbers[rows] |= (ninth & np.uint64(0x7F)) << np.uint64(56)
        numbers[rows] |= np.where(continues, tenth << np.uint64(63), np.uint64(0))
        sizes[rows] = 9 + continues
        return numbers, sizes

    def ints(self, at: Positions) -> tuple[npt.NDArray[np.int32], Positions]:
        """Read numbers of 32 bits. Raise Unreadable for larger ones."""
        numbers, at = self.longs(at)
        small = numbers.astype(np.int32)
        if not np.array_equal(small, numbers):
            raise Unreadable("a number of more than 32 bits")
        return small, at

    def places(self, at: Positions, limit: int) -> tuple[Positions, Positions]:
        """Read indexes below ``limit``. Raise Unreadable for others."""
        numbers, at = self.longs(at)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
            raise Unreadable(f"a place beyond {limit}")
        return numbers, at

    def doubles(self, at: Positions) -> tuple[npt.NDArray[np.float64], Positions]:
        """Read binary64 numbers."""
        return self.words_at(at).view(np.float64), at + 8

    def floats(self, at: Positions) -> tuple[npt.NDArray[np.float32], Positions]:
        """Read binary32 numbers."""
        return self.words_at(at).astype(np.uint32).view(np.float32), at + 4

    def sized(self, at: Positions) -> tuple[pa.BinaryArray, Positions]:
        """Read bytes that follow their length."""
        sizes, at = self.longs(at)
        if len(sizes) and (sizes.min() < 0 or sizes.max() > self.size):
            raise Unreadable("a length beyond the messages")
        return self.slices(at, at + sizes), at + sizes

    def slices(self, starts: Positions, ends: Positions) -> pa.BinaryArray:
        """Return the bytes between positions. Raise Unreadable if they overlap or are not in order."""
        if not len(starts):
            return pa.array([], pa.binary())
        if ends[-1] > self.size or (ends[:-1] > starts[1:]).any():
            raise Unreadable("a length beyond its message")
        # One array of the slices and the gaps between: Arrow then copies only the slices.
        offsets = np.empty(2 * len(starts), np.int32)
        offsets[0::2], offsets[1::2] = starts, ends
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._data)]
        mixed = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)
        return mixed.take(pa.array(np.arange(0, len(offsets), 2)))

    def expect_items(self, number: int, rounds: int) -> None:
        """Count further items of lists, and the rounds that read them.

        Raise Unreadable once there are more items than bytes, or few items a round: lists in lists multiply the rounds.
        """
        self._items += number
        self._rounds += rounds
        if self._items > self.size:
            raise Unreadable("more items than bytes")
        if self._rounds > _ROUNDS and self._rounds * ITEMS_A_ROUND > self._items:
            raise Unreadable("long lists in lists")

    def _inside(self, at: Positions) -> Positions:
        if len(at) and at.max() > self.size:
            raise Unreadable("a message ends before its value does")
        return at


def _unfolded(numbers: Words) -> Positions:
    """Return the decoded zigzag numbers."""
    signs = np.negative((numbers & _ONE).view(np.int64))
    return (numbers >> _ONE).view(np.int64) ^ signs
