"""What really happened, and what must never: the invariants I1-I7, I10, I11, I14, checked as it happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.interval.values import LostRecords

__all__ = ["Truth", "Violation"]

Place = str | TopicPartition
"""A source partition as canonical JSON, or a topic partition."""


class Violation(AssertionError):
    """An invariant is broken; the text begins with its name."""


@dataclass(slots=True)
class Truth:
    """How far each partition has really come, by what is visible in the target."""

    losses: list[LostRecords]
    repeats: bool = False
    """Whether the connector is at-least-once: then only losses count."""
    position: dict[Place, int] = field(default_factory=dict)
    identity: dict[Place, str] = field(default_factory=dict)
    first: dict[Place, set[int]] = field(default_factory=dict)
    """Where a partition without a position may begin."""
    fenced: int = 0
    moves: set[int] = field(default_factory=set)
    """Epochs under which an operator's wish was carried out."""
    delivered: int = 0

    def deliver(self, place: Place, start: int, end: int, epoch: int, identity: str = "") -> None:
        """Note that records [start, end) became visible."""
        if start == end:
            return
        if epoch and epoch < self.fenced:
            raise Violation(f"I5 epoch {epoch} commits {place} [{start}, {end}) after the fence of {self.fenced}")
        known = self.position.get(place)
        if self.repeats:
            self._repeat(place, known, start, end)
            return
        is_other = bool(identity) and self.identity.get(place, identity) != identity
        if is_other and not self._is_recorded(place, start):
            raise Violation(f"I14 {place} goes on silently in a recreated topic")
        if known is None:
            if start not in self.first.get(place, {0}):
                raise Violation(f"I1 {place} begins at {start}, not at one of {self.first.get(place)}")
        elif not is_other:
            self._check_order(place, known, start, end)
        self.position[place] = end
        self.identity[place] = identity
        self.delivered += end - start

    def _repeat(self, place: Place, known: int | None, start: int, end: int) -> None:
        """Note a put that may be a zombie's: it proves nothing beyond what it joins on to."""
        joins = start in self.first[place] if known is None else start <= known or self._is_recorded(place, start)
        if joins:
            self.position[place] = max(known or 0, end)

    def _check_order(self, place: Place, known: int, start: int, end: int) -> None:
        if start < known and not self._is_skipped(place, known, start):
            raise Violation(f"I2 {place} [{start}, {end}) is repeated: {known} is reached")
        if start > known and not self._is_recorded(place, start):
            raise Violation(f"I1 {place} [{known}, {start}) is lost, and not recorded (I14)")

    def _is_skipped(self, place: Place, known: int, start: int) -> bool:
        reached, before = {known}, 0
        while len(reached) > before:
            before = len(reached)
            reached |= {loss.end for loss in self.losses if loss.partition == place and loss.start in reached}
        return start in reached

    def is_recorded(self, place: Place, start: int) -> bool:
        """Whether the loss of what lies before ``start`` is kept for good."""
        return self._is_recorded(place, start)

    def _is_recorded(self, place: Place, start: int) -> bool:
        return any(loss.partition == place and loss.end == start for loss in self.losses)

    def move(self, wanted: Mapping[Place, int | None], epoch: int) -> None:
        """Note that an operator's offsets took effect."""
        if epoch < self.fenced:
            raise Violation(f"I4 a wish of epoch {epoch} moves offsets after the fence of {self.fenced}")
        for place, position in wanted.items():
            if len(wanted) == len(self.first):
                # The topic as it is now: also where it was recreated.
                self.identity.pop(place, None)
            if position is None:
                self.position.pop(place, None)
            else:
                self.position[place] = position
        self.moves.add(epoch)

    def fence(self, epoch: int) -> None:
        """Note that nothing older than ``epoch`` may become visible any more."""
        self.fenced = max(self.fenced, epoch)

    def acknowledge(self, epoch: int) -> None:
        """Note that an operator was told that a wish is carried out."""
        if epoch not in self.moves:
            raise Violation(f"I11 the wish of epoch {epoch} was acknowledged and never carried out")


def parsed(value: bytes) -> tuple[str, int, int, int]:
    """Return what a data record of a simulated source says: partition, start, end, epoch."""
    content: list[Any] = json.loads(value)
    return content[0], content[1], content[2], content[3]
