"""What a committer can do besides, whose connector may export a past time again (backfill)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged

__all__ = ["Backfill", "Exported", "ReplacingCommitter", "Standing"]


@dataclass(frozen=True, slots=True)
class Backfill:
    """What a backfill's interval is part of: the records of [since, before), in milliseconds since 1970."""

    since: int
    before: int
    config_version: int
    is_last: bool
    """Whether all of that time is exported after it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """An interval of any life whose marker is the newest over some offsets; ``ranges`` are all of its own.

    ``config_version``: the one a backfill made it with, ``None`` for a live interval. ``stands``: all its files do.
    """

    incarnation: int
    sequence: int
    ranges: tuple[PartitionRange, ...]
    config_version: int | None
    stands: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What the target has of some ranges: the intervals they were exported by, and what never was."""

    exported: tuple[Exported, ...]
    gaps: tuple[PartitionRange, ...]


class ReplacingCommitter(Protocol):
    """A committer that can commit an interval's ranges again, in place of what was committed of them."""

    def refusal(self) -> str | None:
        """Return why this configuration cannot, and the remedy; ``None`` where it can."""

    def standing(self, ranges: Sequence[PartitionRange]) -> Standing:
        """Return what was committed of these ranges, as the newest markers say."""

    def replace(self, interval: IntervalKey, staged: Sequence[Staged], backfill: Backfill) -> CommitMarker:
        """Make a marker with ``moves=False``, if there is none; return the one that stands.

        ``publish`` puts its data in place of the earlier. Raises StaleEpochError, and DataError where something of
        the earlier would stand beside it.
        """
