"""Recounting: what a sink's markers say against what its target holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from connect_core.api.sink import IntervalKey, PartitionRange

__all__ = ["Difference", "RecountedInterval", "RecountingCommitter", "RowsPerRecord"]


class RowsPerRecord(Enum):
    """How many rows a record that reached the task becomes."""

    ONE = "one"
    AT_MOST_ONE = "at most one"
    ANY = "any number"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as a marker says.

    ``kind``: one word, such as missing, size, rows, content, unreadable, foreign; ``place``: a file, a table, a range.
    """

    kind: str
    place: str
    said: str = ""
    found: str = ""
    interval: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecountedInterval:
    """What the marker of one interval says, and what of it is in the target.

    ``parts``: files or tables that were looked at; ``rows`` as the marker says; ``found`` as they were counted now,
    ``None`` where not all could be.
    """

    key: IntervalKey
    ranges: tuple[PartitionRange, ...] = ()
    is_aborted: bool = False
    is_foreign: bool = False
    """Whether another deployment made the marker."""
    moves: bool = True
    """Whether it is of a live interval; a backfill's lies anywhere behind the live position."""
    rows: int = 0
    found: int | None = None
    parts: int = 0
    rows_per_record: RowsPerRecord = RowsPerRecord.ANY
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What could not be compared, and why."""


@runtime_checkable
class RecountingCommitter(Protocol):
    """A committer whose target can be recounted; an optional part of ``SinkCommitter``.

    Neither method writes, fences or claims anything. Both are iterators that hold no more than one interval at a
    time: whoever asks stops asking when time is up. Raise ConnectError where the target cannot be asked.
    """

    def recount(self, first: int, last: IntervalKey) -> Iterator[RecountedInterval]:
        """Yield every interval that has a marker, from ``last`` back, with a sequence not below ``first``.

        Order is that of (incarnation, sequence); aborted ones and those of other deployments too.
        """

    def strangers(self) -> Iterator[Difference]:
        """Yield what readers of the target find and no marker names; called after a whole ``recount``."""
