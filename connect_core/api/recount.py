"""Recounting: comparing a sink's markers with the contents of its target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from connect_core.api.sink import IntervalKey, PartitionRange

__all__ = ["Difference", "RecountedInterval", "RecountingCommitter", "RowsPerRecord"]


class RowsPerRecord(Enum):
    """The number of rows that a record that reached the task becomes."""

    ONE = "one"
    AT_MOST_ONE = "at most one"
    ANY = "any number"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a marker and the target.

    ``kind``: one word, such as missing, size, rows, content, unreadable, foreign; ``place``: a file, a table, a range.
    """

    kind: str
    place: str
    said: str = ""
    found: str = ""
    interval: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecountedInterval:
    """One interval according to its marker, and what the target contains of it.

    ``parts``: number of files or tables checked; ``rows`` according to the marker; ``found`` as counted now,
    ``None`` if not all could be counted.
    """

    key: IntervalKey
    ranges: tuple[PartitionRange, ...] = ()
    is_aborted: bool = False
    is_foreign: bool = False
    """Whether another deployment made the marker."""
    moves: bool = True
    """Whether it belongs to a live interval; a backfill's may lie anywhere before the live position."""
    rows: int = 0
    found: int | None = None
    parts: int = 0
    rows_per_record: RowsPerRecord = RowsPerRecord.ANY
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What could not be compared, with the reason."""


@runtime_checkable
class RecountingCommitter(Protocol):
    """A committer whose target can be recounted; an optional part of ``SinkCommitter``.

    Neither method writes, fences or claims anything. Both are iterators that hold at most one interval at a
    time: the caller stops iterating when its time is up. Raise ConnectError if the target cannot be read.
    """

    def recount(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        """Yield every interval that has a marker, backwards from ``last``, with a sequence not below ``first``.

        The order is that of (incarnation, sequence); aborted intervals and those of other deployments are included.
        """

    def foreign_objects(self) -> Iterator[Difference]:
        """Yield what readers of the target find but no marker names; called after a complete ``recount``."""
