"""What really happened, and what must never: the invariants I1-I7, I10, I11, I14, checked as it happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from connect_core.api.records import TopicPartition
from connect_core.interval.values import LostRecords

__all__ = ["Truth", "Violation", "Where"]

Place = str | TopicPartition
"""A source partition as canonical JSON, or a topic partition."""


class Where(NamedTuple):
    """The topic that records were read from, and which of several targets shows them."""

    identity: str = ""
    home: str = ""


Event = tuple[Place, int, int | None, Where]
"""What became visible: place, start, end, where."""
_NOWHERE = Where()


_RECREATED = "was deleted and created again"


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
    recording: dict[Place, int] = field(default_factory=dict)
    """How many losses were recorded when the identity was last seen."""
    first: dict[Place, set[int]] = field(default_factory=dict)
    """Where a partition without a position may begin."""
    fenced: int = 0
    moves: set[int] = field(default_factory=set)
    """Epochs under which an operator's request was carried out."""
    delivered: int = 0
    events: list[Event] = field(default_factory=list)
    """All that became visible, in order; an operator's move ends at ``None``."""
    filled: set[Event] = field(default_factory=set)
    """Events of backfills: what they showed for the first time."""

    def deliver(self, place: Place, start: int, end: int, epoch: int, where: Where = _NOWHERE) -> None:
        """Note that records [start, end) became visible."""
        if start == end:
            return
        if epoch and epoch < self.fenced:
            raise Violation(f"I5 epoch {epoch} commits {place} [{start}, {end}) after the fence of {self.fenced}")
        identity = where.identity
        self.events.append((place, start, end, where))
        self.delivered += end - start
        known = self.position.get(place)
        if self.repeats:
            self._repeat(place, known, start, end)
            return
        is_other = bool(identity) and self.identity.get(place, identity) != identity
        if is_other and not self._is_entered(place, identity, start):
            raise Violation(f"I14 {place} goes on silently in a recreated topic")
        if known is None:
            if start not in self.first.get(place, {0}):
                raise Violation(f"I1 {place} begins at {start}, not at one of {self.first.get(place)}")
        elif not is_other:
            self._check_order(place, known, start, end)
        self.position[place] = end
        self.identity[place], self.recording[place] = identity, len(self.losses)

    def fill(self, place: Place, start: int, end: int, where: Where) -> None:
        """Note that a backfill showed records: again, under the very name that has them, or for the first time there.

        What another target has is no matter: where the configuration names a new one, its past hours are exported.
        """
        one = place, start, end, where
        if start == end or one in self.events:
            return
        for other, first, last, there in self.events:
            if last is not None and (other, there) == (place, where) and first < end and start < last:
                raise Violation(f"I15 a backfill shows {place} [{start}, {end}) beside [{first}, {last})")
        # Without a position reading begins where the partition was first looked at.
        known = self.position.get(place, max(self.first.get(place, {0})))
        if end > known:
            raise Violation(f"I15 a backfill shows {place} [{start}, {end}), the live export is at {known}")
        self.events.append(one)
        self.filled.add(one)

    def _repeat(self, place: Place, known: int | None, start: int, end: int) -> None:
        """Note a put that may repeat: it proves nothing beyond what it joins on to."""
        joins = start in self.first[place] if known is None else start <= known or self._is_recorded(place, start)
        if joins:
            self.position[place] = max(known or 0, end)

    def _check_order(self, place: Place, known: int, start: int, end: int) -> None:
        if start < known and not self._is_skipped(place, known, start):
            raise Violation(f"I2 {place} [{start}, {end}) is repeated: {known} is reached")
        if start > known and not self._is_recorded(place, start):
            raise Violation(f"I1 {place} [{known}, {start}) is lost, and not recorded (I14)")

    def _is_skipped(self, place: Place, known: int, start: int) -> bool:
        return start in self._passed(place, {known})

    def _is_entered(self, place: Place, identity: str, start: int) -> bool:
        """Whether it is recorded that reading goes on in this topic, and here."""
        entries = {loss.end for loss in self.losses if loss.partition == place and _names(loss, identity)}
        return start in self._passed(place, entries)

    def _passed(self, place: Place, reached: set[int]) -> set[int]:
        """Return where one comes from these positions by recorded losses alone."""
        before = 0
        while len(reached) > before:
            before = len(reached)
            reached |= {loss.end for loss in self.losses if loss.partition == place and loss.start in reached}
        return reached

    def is_recorded(self, place: Place, start: int) -> bool:
        """Whether the loss of what lies before ``start`` is kept for good."""
        return self._is_recorded(place, start)

    def _is_recorded(self, place: Place, start: int) -> bool:
        return any(loss.partition == place and loss.end == start for loss in self.losses)

    def move(self, wanted: Mapping[Place, int | None], epoch: int) -> None:
        """Note that an operator's offsets took effect."""
        if epoch < self.fenced:
            raise Violation(f"I4 a request of epoch {epoch} moves offsets after the fence of {self.fenced}")
        for place, position in wanted.items():
            if len(wanted) == len(self.first):
                # The topic as it is now: also where it was recreated.
                self.identity.pop(place, None)
            elif place in self.identity:
                self._follow_topic(place)
            self.events.append((place, 0, None, _NOWHERE))
            if position is None:
                self.position.pop(place, None)
            else:
                self.position[place] = position
        self.moves.add(epoch)

    def _follow_topic(self, place: Place) -> None:
        """A request for some partitions is one for the topic as it was last recorded to be."""
        for loss in self.losses[self.recording.get(place, 0) :]:
            if loss.partition == place and _RECREATED in loss.reason:
                self.identity[place] = loss.reason.rpartition(" ")[2]

    def shown(self) -> tuple[Any, ...]:
        """Return what a target shows now, for ``rewind``."""
        return dict(self.position), dict(self.identity), dict(self.recording), self.fenced, len(self.events)

    def rewind(self, shown: tuple[Any, ...]) -> None:
        """Note that a target was put back to what it showed then."""
        position, identity, recording, self.fenced, count = shown
        self.position, self.identity, self.recording = dict(position), dict(identity), dict(recording)
        del self.events[count:]

    def begin_anew(self, place: Place) -> None:
        """Note that nobody knows any more what was shown of a partition: it is to be shown, perhaps again."""
        for known in (self.position, self.identity, self.recording):
            known.pop(place, None)
        self.events[:] = [event for event in self.events if event[0] != place]

    def fence(self, epoch: int) -> None:
        """Note that nothing older than ``epoch`` may become visible any more."""
        self.fenced = max(self.fenced, epoch)

    def verify(self) -> None:
        """Go through the whole history once more, offset by offset: I1 and I2 without trust in positions."""
        live: dict[tuple[Place, str], set[int]] = {}
        there: dict[tuple[Place, Where], set[int]] = {}
        for event in self.events:
            place, start, end, where = event
            if end is None:
                for moved in [key for key in live if key[0] == place]:
                    self._check_whole(place, live.pop(moved))
                for gone in [key for key in there if key[0] == place]:
                    del there[gone]
                continue
            offsets, new = there.setdefault((place, where), set()), set(range(start, end))
            # Before the first live interval a backfill shows one hour, and not the next: that is no loss.
            exported = set[int]() if event in self.filled else live.setdefault((place, where.identity), set())
            again = (offsets | exported) & new
            if again and not self.repeats:
                raise Violation(f"I2 offsets {sorted(again)} of {place} are in the target twice")
            offsets |= new
            exported |= new
        for (place, _), offsets in live.items():
            self._check_whole(place, offsets)

    def _check_whole(self, place: Place, offsets: set[int]) -> None:
        if not offsets:
            return
        lost = set(range(min(offsets), max(offsets))) - offsets
        recorded = {offset for loss in self.losses if loss.partition == place for offset in range(loss.start, loss.end)}
        if lost - recorded and not self.repeats:
            raise Violation(f"I1 offsets {sorted(lost - recorded)} of {place} are not in the target")

    def acknowledge(self, epoch: int) -> None:
        """Note that an operator was told that a request is carried out."""
        if epoch not in self.moves:
            raise Violation(f"I11 the request of epoch {epoch} was acknowledged and never carried out")


def _names(loss: LostRecords, identity: str) -> bool:
    return _RECREATED in loss.reason and loss.reason.endswith(f" is {identity}")


def parsed(value: bytes) -> tuple[str, int, int, int]:
    """Return what a data record of a simulated source says: partition, start, end, epoch."""
    content: list[Any] = json.loads(value)
    return content[0], content[1], content[2], content[3]
