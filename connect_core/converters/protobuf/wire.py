"""Protobuf's wire format read for many messages at once: every step reads one field of all rows.

Fields are read in the order of their numbers, in which serializers write them.
Any other order, and malformed data, raises UnlikeError: then the runtime parses
the messages one at a time, and reports what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["FIXED32", "FIXED64", "LENGTH", "VARINT", "Ints", "Rows", "UnlikeError", "packed_varints", "texts_of"]

Ints: TypeAlias = npt.NDArray[np.int64]
Bits: TypeAlias = npt.NDArray[np.uint64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
_PADDING = 16
_MOST_ELEMENTS = 256
"""Most values of a repeated field in a row; with more, one step per value takes too long."""


class UnlikeError(Exception):
    """Raised when messages are not written as serializers do, so that steps over all rows cannot read them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Messages as parts of one buffer, in ascending order; ``cursor`` is the next position to read in each.

    data: uint8, with some padding after the last message.
    """

    data: Bytes
    cursor: Ints
    ends: Ints

    @classmethod
    def of(cls, data: Bytes, starts: Ints, ends: Ints) -> Rows:
        """Return messages of a buffer, which is copied."""
        return cls(np.concatenate([data, np.zeros(_PADDING, np.uint8)]), starts.copy(), ends)

    def __len__(self) -> int:
        return len(self.cursor)

    def part(self, starts: Ints, ends: Ints) -> Rows:
        """Return other messages of the same buffer."""
        return Rows(self.data, starts.copy(), ends)

    def finish(self) -> None:
        """Raise UnlikeError unless all rows are read to their end."""
        if not bool(np.array_equal(self.cursor, self.ends)):
            raise UnlikeError

    def having(self, tag: bytes, among: Ints | None = None) -> Ints:
        """Return the rows whose next field starts with the tag."""
        at, ends = (self.cursor, self.ends) if among is None else (self.cursor[among], self.ends[among])
        # There is padding after the last message, and bytes after a row's end are never accepted as a value.
        found = at < ends
        for place, byte in enumerate(tag):
            found &= self.data[np.minimum(at + place, len(self.data) - 1)] == byte
        rows = np.flatnonzero(found)
        return rows if among is None else among[rows]

    def take_scalars(self, rows: Ints, skip: int, wire: int) -> Bits:
        """Return the numbers that follow ``skip`` bytes of tag, and advance past them."""
        at = self.cursor[rows] + skip
        if wire == VARINT:
            values, after = _varints(self.data, at)
        else:
            width = _WIDTHS[wire]
            values, after = self._fixed(at, width), at + width
        if bool(np.any(after > self.ends[rows])):
            raise UnlikeError
        self.cursor[rows] = after
        return values

    def _fixed(self, at: Ints, width: int) -> Bits:
        places = np.minimum(at[:, None] + np.arange(width), len(self.data) - 1)
        return np.ascontiguousarray(self.data[places]).view(f"<u{width}")[:, 0].astype(np.uint64)

    def take_spans(self, rows: Ints, skip: int) -> tuple[Ints, Ints]:
        """Return the starts and ends of the bytes, texts or messages after the tag, and advance past them."""
        lengths, starts = _varints(self.data, self.cursor[rows] + skip)
        limits = self.ends[rows] - starts
        if bool(np.any(limits < 0)) or bool(np.any(lengths > limits.astype(np.uint64))):
            raise UnlikeError
        ends = starts + lengths.astype(np.int64)
        self.cursor[rows] = ends
        return starts, ends

    def take_repeated_spans(self, tag: bytes) -> tuple[Ints, Ints, Ints]:
        """Return the starts and ends of a repeated field's values, row by row, and each row's offset among them."""
        found: list[tuple[Ints, Ints, Ints]] = []
        rows = self.having(tag)
        while len(rows):
            if len(found) == _MOST_ELEMENTS:
                raise UnlikeError
            found.append((rows, *self.take_spans(rows, len(tag))))
            rows = self.having(tag, rows)
        return self._by_row(found)

    def take_repeated_scalars(self, tag: bytes, wire: int) -> tuple[Bits, Ints]:
        """Return a repeated field's unpacked numbers, and the offset of each row among them."""
        found: list[tuple[Ints, Ints, Ints]] = []
        rows = self.having(tag)
        while len(rows):
            if len(found) == _MOST_ELEMENTS:
                raise UnlikeError
            found.append((rows, self.take_scalars(rows, len(tag), wire).view(np.int64), rows))
            rows = self.having(tag, rows)
        values, _, offsets = self._by_row(found)
        return values.view(np.uint64), offsets

    def _by_row(self, found: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
        offsets = np.zeros(len(self) + 1, np.int64)
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), offsets
        rows, first, second = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(rows, kind="stable")
        np.cumsum(np.bincount(rows, minlength=len(self)), out=offsets[1:])
        return first[order], second[order], offsets


def _varints(data: Bytes, at: Ints) -> tuple[Bits, Ints]:
    limit = len(data) - 1
    first = data[np.minimum(at, limit)]
    values = (first & 0x7F).astype(np.uint64)
    after = at + 1
    more = np.flatnonzero(first >= 0x80)
    shift = 7
    while len(more):
        byte = data[np.minimum(after[more], limit)]
        if shift > 63 or (shift == 63 and bool(np.any(byte > 1))):
            raise UnlikeError
        values[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        after[more] += 1
        more = more[byte >= 0x80]
        shift += 7
    return values, after


def packed_varints(data: pa.Buffer | None, lengths: Ints) -> tuple[Bits, Ints]:
    """Return the numbers packed in consecutive texts, and the offset of each text among them."""
    content = np.frombuffer(data, np.uint8)[: int(lengths.sum())] if data is not None else np.zeros(0, np.uint8)
    ends = np.flatnonzero(content < 0x80) + 1
    bounds = np.append(np.int64(0), np.cumsum(lengths))
    offsets = np.searchsorted(ends, bounds, side="right").astype(np.int64)
    # Every non-empty text must end at the end of a number.
    if len(content) and not bool(np.all(np.isin(bounds[1:][lengths > 0], ends))):
        raise UnlikeError
    values, after = (
        _varints(content, np.append(np.int64(0), ends[:-1])) if len(ends) else (np.zeros(0, np.uint64), ends)
    )
    if not bool(np.array_equal(after, ends)):
        raise UnlikeError
    return values, offsets


def texts_of(data: Bytes, starts: Ints, ends: Ints) -> pa.BinaryArray:
    """Return parts of a buffer, in ascending order, as a binary column."""
    if not len(starts):
        return pa.array([], pa.binary())
    # The bytes between the parts become separate rows, which are left out.
    between = np.empty(2 * len(starts), np.int64)
    between[0::2], between[1::2] = starts, ends
    buffers = [None, pa.py_buffer(between), pa.py_buffer(data)]
    every = pa.Array.from_buffers(pa.large_binary(), len(between) - 1, buffers)
    return every.take(pa.array(np.arange(0, len(between) - 1, 2))).cast(pa.binary())
