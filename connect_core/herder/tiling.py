"""Checks that intervals lie end to end: the ranges of each topic partition, from the newest back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from connect_core.api.records import TopicPartition
from connect_core.api.recount import Difference, RecountedInterval
from connect_core.api.sink import IntervalKey

__all__ = ["Chain", "Moves", "Tiling"]

_UNKNOWN = "the history no longer shows whether offsets were moved there"


@dataclass(frozen=True, slots=True)
class Moves:
    """Positions set by hand, or by skipping lost records; ``None`` where offsets were forgotten."""

    places: frozenset[tuple[TopicPartition, int | None]] = frozenset()

    def explain(self, part: TopicPartition, start: int) -> bool:
        """Return whether reading continued at ``start`` because offsets were moved there."""
        return (part, start) in self.places or (part, None) in self.places


@dataclass(slots=True)
class Chain:
    """The ranges of one topic partition and topic id; ``offsets`` is the sum of their lengths."""

    start: int
    end: int
    offsets: int = 0
    first: IntervalKey | None = None
    """The interval that begins at ``start``."""


@dataclass(slots=True)
class Tiling:
    """Takes intervals from the newest back. ``is_known``: whether the history goes back to an interval."""

    moves: Moves
    is_known: Callable[[IntervalKey], bool]
    chains: dict[tuple[TopicPartition, str], Chain] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)

    def add(self, interval: RecountedInterval) -> Iterator[Difference]:
        """Take the interval before those taken so far; yield where it does not end at the beginning of the next one."""
        for one in interval.ranges:
            if one.start >= one.end:
                continue
            chain = self.chains.setdefault((one.topic_partition, one.topic_id), Chain(one.end, one.end))
            if chain.start != one.end:
                yield from self._judged(one.topic_partition, one.end, chain)
            chain.start, chain.first = one.start, interval.key
            chain.offsets += one.end - one.start

    def newest(self) -> Mapping[TopicPartition, int]:
        """Return the end of each partition's newest interval."""
        ends: dict[TopicPartition, int] = {}
        for (part, _), chain in self.chains.items():
            ends.setdefault(part, chain.end)
        return ends

    def _judged(self, part: TopicPartition, ended: int, chain: Chain) -> Iterator[Difference]:
        kind = "gap" if ended < chain.start else "overlap"
        if self.moves.explain(part, chain.start):
            self.notes.add(f"offsets of {part} were moved to {chain.start}, so this is not reported as a difference")
        elif chain.first is not None and not self.is_known(chain.first):
            self.notes.add(f"a {kind} of {part} at {chain.start}: {_UNKNOWN}")
        else:
            said, found = f"begins at {chain.start}", f"the interval before it ends at {ended}"
            yield Difference(kind, str(part), said, found, chain.first.sequence if chain.first else None)
