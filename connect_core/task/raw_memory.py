"""The raw batches of the records that a sink task may still report as errant."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow.compute as pc

from connect_core.kafka.raw_batch import RawBatch

__all__ = ["RawMemory"]

_MOST_BYTES = 64 * 2**20
_SAMPLE = 50
"""The records of a batch whose headers are measured."""


class _Kept(NamedTuple):
    raw: RawBatch
    bytes: int
    first: int
    last: int

    def row_of(self, topic: str | None, partition: int | None, offset: int) -> int:
        """Return the row of a record, or -1."""
        raw = self.raw
        if raw.topic != topic or not self.first <= offset <= self.last:
            return -1
        found = pc.and_(pc.equal(raw.partition, partition), pc.equal(raw.offset, offset))
        row: int = pc.index(found, True).as_py()
        return row


@dataclass(slots=True)
class RawMemory:
    """Keeps batches until the task has written them, but no more than ``most_bytes``: the oldest are dropped first.

    The latest batch is always kept. Thread-safe: a sink may report errant records from a thread of its own.
    """

    most_bytes: int = _MOST_BYTES
    _kept: deque[_Kept] = field(default_factory=deque)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def latest(self) -> RawBatch:
        """The batch added last."""
        return self._kept[-1].raw

    def add(self, raw: RawBatch) -> None:
        """Keep a batch."""
        bounds = pc.min_max(raw.offset).as_py() if len(raw) else {"min": 0, "max": -1}
        kept = _Kept(raw, _bytes_of(raw), bounds["min"], bounds["max"])
        with self._lock:
            self._kept.append(kept)
            self._bytes += kept.bytes
            self._shrink(self.most_bytes)

    def find(self, topic: str | None, partition: int | None, offset: int) -> tuple[RawBatch, int] | None:
        """Return the latest batch with this record, and its row there."""
        with self._lock:
            kept = tuple(self._kept)
        for one in reversed(kept):
            row = one.row_of(topic, partition, offset)
            if row >= 0:
                return one.raw, row
        return None

    def forget(self) -> None:
        """Drop all batches but the latest: the task has written them."""
        with self._lock:
            self._shrink(0)

    def _shrink(self, most_bytes: int) -> None:
        while self._bytes > most_bytes and len(self._kept) > 1:
            self._bytes -= self._kept.popleft().bytes


def _bytes_of(raw: RawBatch) -> int:
    """Return about how much memory a batch takes."""
    columns: int = sum(column.nbytes for column in (raw.partition, raw.offset, raw.timestamp, raw.key, raw.value))
    if not raw.headers:
        return columns
    step = max(1, len(raw.headers) // _SAMPLE)
    sampled = (pair for headers in raw.headers[::step] for pair in headers or ())
    return columns + step * sum(len(name) + len(data or b"") for name, data in sampled)
