"""Splits bytes into lines: ``\\n``, ``\\r`` and ``\\r\\n`` end a line, as in Connect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Lines", "end_of_last_line", "split", "whole_line"]

_NEWLINE, _RETURN = 10, 13
_TERMINATORS = "\r\n"


@dataclass(frozen=True, slots=True)
class Lines:
    """Complete lines within ``data``; each line begins where the previous one, with its terminator, ends.

    ``ends`` are the ends of the texts, ``nexts`` the positions after their terminators; both count from the start of
    ``data``, ``begin`` is the first line's position.
    """

    data: bytes
    ends: npt.NDArray[np.int64]
    nexts: npt.NDArray[np.int64]
    begin: int = 0

    def __len__(self) -> int:
        return len(self.nexts)

    def take(self, count: int) -> tuple[Lines, Lines]:
        """Return the first ``count`` lines and the remaining ones."""
        cut = int(self.nexts[count - 1]) if 0 < count <= len(self) else self.begin
        first = Lines(self.data, self.ends[:count], self.nexts[:count], self.begin)
        return first, Lines(self.data, self.ends[count:], self.nexts[count:], cut)

    def up_to(self, limit: int) -> Lines:
        """Return the lines that end, terminator included, at ``limit`` or before."""
        if not len(self) or self.nexts[-1] <= limit:
            return self
        return self.take(int(np.searchsorted(self.nexts, limit, side="right")))[0]

    def texts(self) -> list[str]:
        """Return the lines; bytes that are not UTF-8 become U+FFFD."""
        begins = [self.begin, *self.nexts.tolist()[:-1]]
        pairs = zip(begins, self.ends.tolist(), strict=True) if len(self) else ()
        return [self.data[begin:end].decode("utf-8", "replace") for begin, end in pairs]

    def to_arrow(self) -> pa.StringArray:
        """Return the result of ``texts`` as a column."""
        places = np.empty(len(self) + 1, np.int32)
        places[0] = self.begin
        places[1:] = self.nexts
        raw = pa.Array.from_buffers(pa.binary(), len(self), [None, pa.py_buffer(places), pa.py_buffer(self.data)])
        try:
            # The only terminators in a piece are those at its end: no line contains one.
            return pc.ascii_rtrim(raw.cast(pa.string()), _TERMINATORS)
        except pa.ArrowInvalid:
            return pa.array(self.texts(), pa.string())


def split(data: bytes) -> Lines:
    """Return the complete lines of ``data``.

    A last ``\\r`` does not end a line yet: a ``\\n`` that belongs to it may follow.
    """
    array = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(array == _NEWLINE)
    if _RETURN not in data:
        return Lines(data, newlines, newlines + 1)
    returns = np.flatnonzero(array[:-1] == _RETURN)
    pairs = array[returns + 1] == _NEWLINE
    alone = np.setdiff1d(newlines, returns[pairs] + 1, assume_unique=True)
    ends = np.concatenate([returns, alone])
    nexts = np.concatenate([returns + 1 + pairs, alone + 1])
    order = np.argsort(ends, kind="stable")
    return Lines(data, ends[order], nexts[order])


def whole_line(data: bytes) -> Lines:
    """Return all of ``data`` as one line, none if it is empty; a last ``\\r`` ends it."""
    count = 1 if data else 0
    ends = np.full(count, len(data) - data.endswith(b"\r"), np.int64)
    return Lines(data, ends, np.full(count, len(data), np.int64))


def end_of_last_line(data: bytes, is_whole: bool = True) -> int | None:
    """Return the position after the last complete line, ``None`` if there is none.

    ``is_whole``: nothing follows ``data`` yet, so that a last ``\\r`` may still become a ``\\r\\n``.
    """
    searched = data[:-1] if is_whole and data.endswith(b"\r") else data
    last = max(searched.rfind(b"\n"), searched.rfind(b"\r"))
    return None if last < 0 else last + 1
