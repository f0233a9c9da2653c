"""Further methods of a committer whose connector can export a past time again (backfill)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged

__all__ = ["Backfill", "ExistingExports", "Exported", "ReplacingCommitter"]


@dataclass(frozen=True, slots=True)
class Backfill:
    """The backfill an interval is part of: the records of [since, before), in milliseconds since 1970."""

    since: int
    before: int
    config_version: int
    is_last: bool
    """Whether all of that time is exported after this interval."""


@dataclass(frozen=True, slots=True)
class Exported:
    """An interval of any incarnation whose marker is the newest for some offsets; ``ranges`` are all of its own.

    ``config_version``: that of its backfill, ``None`` for a live interval. ``is_complete``: all files exist.
    """

    incarnation: int
    sequence: int
    ranges: tuple[PartitionRange, ...]
    config_version: int | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ExistingExports:
    """What the target contains of some ranges: the intervals that exported them, and what was never exported."""

    exported: tuple[Exported, ...]
    gaps: tuple[PartitionRange, ...]


class ReplacingCommitter(Protocol):
    """A committer that can commit an interval's ranges again, replacing what was committed of them."""

    def refusal(self) -> str | None:
        """Return why this configuration cannot, with the remedy; ``None`` if it can."""

    def existing(self, ranges: Sequence[PartitionRange]) -> ExistingExports:
        """Return what was committed of these ranges, according to the newest markers."""

    def replace(self, interval: IntervalKey, staged: Sequence[Staged], backfill: Backfill) -> CommitMarker:
        """Make a marker with ``moves=False``, if there is none; return the one that exists.

        ``publish`` replaces the earlier data with its own. Raises StaleEpochError, and DataError if some of the
        earlier data would remain beside it.
        """
