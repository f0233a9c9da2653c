"""What decides where a history deviates from the plain order: a seed, or a tape of decisions that can be shrunk."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

__all__ = [
    "AROUND",
    "BACKUP",
    "DISASTERS",
    "FAULTS",
    "FOREIGN",
    "MESSAGES",
    "METADATA_LOST",
    "METADATA_RESTORED",
    "OFFSETS_LOST",
    "PLOTTED",
    "POINTS",
    "TARGET_RESTORED",
    "Chances",
    "Decisions",
    "Plot",
    "Plotted",
    "Possible",
    "Recorder",
    "Tape",
]

POINTS = tuple(f"K{number}" for number in range(11))
"""The kill points of an interval, K0 to K10."""

MESSAGES = ("lost reply", "lost request", "delay")
"""What happens to the next act itself."""

AROUND = ("expire", "arrive late", "compact", "foreign", "retain", "recreate")
"""What happens beside it: transactions time out, late acts arrive, the offsets topic is compacted; a foreign
transaction holds back the topic that is read, retention cuts it, it is deleted and created again."""

FAULTS = ("overtaken", "crash", "zombie", *MESSAGES, "duplicate", "revived", *AROUND)
"""What a deviation from the plain order does; by number, for tapes."""

OFFSETS_LOST = "offsets lost"
"""The offsets topic is deleted and created again: in plots only, as nothing moves afterwards until somebody acts."""

BACKUP, TARGET_RESTORED, METADATA_RESTORED, METADATA_LOST = (
    "backup",
    "target restored",
    "metadata restored",
    "no metadata",
)
"""A backup is made of the target and of the metadata; one of them is put back; the metadata starts over."""

FOREIGN = "foreign manifests"
"""Another deployment has written to the same place, under the keys to come."""

DISASTERS = (OFFSETS_LOST, BACKUP, TARGET_RESTORED, METADATA_RESTORED, METADATA_LOST, FOREIGN)
"""In plots only: between them and the next plan nothing else may go wrong."""

PLOTTED = (*FAULTS, *DISASTERS)
"""All that a plot may ask for; by number."""

_SELDOM = ("expire", "arrive late")
"""What can seldom happen."""

_PENDING = {"K0": 0.03, "K2": 0.9, "K3": 0.9, "K4": 0.9, "K9": 0.3, "K10": 0.12}
"""How often it does where it can: at other points every second time."""

_OVERTAKEN = FAULTS.index("overtaken") + 1
_TIMES = {"K0": 1, "K1": 8, "K2": 9, "K7": 6, "K9": 7, "K10": 2}
"""How often a point is the focus: more often, where a history passes it rarely."""

_WEIGHTS: Mapping[str, int] = MappingProxyType(
    dict(zip(FAULTS, (2, 3, 14, 3, 3, 3, 8, 14, 60, 25, 12, 3, 3, 3), strict=True)))  # fmt: skip
_FOCUSES = tuple(point for point in POINTS for _ in range(_TIMES.get(point, 3)))

Possible = Callable[[], Collection[str]]
"""The faults that would change anything now."""


class Decisions(Protocol):
    """The source of all that is left to chance in a history."""

    def deviates(self, point: str, possible: Possible, is_pending: bool) -> int:
        """Return 0 for the plain order, else the number of a fault plus one.

        ``is_pending``: something is on its way, or open, that seldom is.
        """

    def choose(self, count: int) -> int:
        """Return one of ``count`` possibilities."""


@dataclass(slots=True)
class Chances:
    """Decisions by a seed; each history is hit most at one point, its focus."""

    random: random.Random
    probability: float
    focus: str
    pressure: float
    """How often the focus is hit."""
    mixing: float = 0.0
    """How often another process takes the next step."""

    @staticmethod
    def seeded(seed: int, kind: str) -> Chances:
        """Return the decisions of a seed for a kind of connector."""
        chance = random.Random(f"{seed} {kind}")
        return Chances(
            chance,
            chance.choice((0.03, 0.08, 0.15)),
            chance.choice(_FOCUSES),
            chance.choice((0.3, 0.6)),
            chance.choice((0.0, 0.0, 0.05, 0.3)),
        )

    def deviates(self, point: str, possible: Possible, is_pending: bool) -> int:
        if self.mixing and self.random.random() < self.mixing:
            return _OVERTAKEN
        if is_pending and self.random.random() < _PENDING.get(point, 0.5):
            return FAULTS.index(self.random.choice(_SELDOM)) + 1
        if self.random.random() >= (self.pressure if point == self.focus else self.probability):
            return 0
        faults = [fault for fault in FAULTS if fault in possible()]
        return FAULTS.index(self.random.choices(faults, [_WEIGHTS[fault] for fault in faults])[0]) + 1

    def choose(self, count: int) -> int:
        return self.random.randrange(count)


Plot = tuple[tuple[str, str], ...]
"""Faults and the points they are to hit, one after the other."""


@dataclass(slots=True)
class Plotted:
    """Decisions by a seed that follow a plot: each of its faults at some passing of its point, and no other fault."""

    random: random.Random
    plot: Plot
    at: int = 0
    """How much of the plot has happened."""
    passed: float = 0.4
    """How often the point of the next fault is let pass."""

    @staticmethod
    def seeded(seed: int, kind: str, plot: Plot) -> Plotted:
        """Return the decisions of a seed for a kind of connector."""
        chance = random.Random(f"{seed} {kind} {plot}")
        return Plotted(chance, plot, passed=chance.choice((0.3, 0.6, 0.9)))

    def deviates(self, point: str, possible: Possible, is_pending: bool) -> int:
        if self.at == len(self.plot) or point != self.plot[self.at][0] or self.random.random() < self.passed:
            return 0
        fault = self.plot[self.at][1]
        if fault not in possible():
            return 0
        self.at += 1
        return PLOTTED.index(fault) + 1

    def choose(self, count: int) -> int:
        return self.random.randrange(count)


@dataclass(slots=True)
class Tape:
    """Decisions by hand: which of them, counted from the first on, is not the plain one (0)."""

    values: Mapping[int, int]
    at: int = 0

    def deviates(self, point: str, possible: Possible, is_pending: bool) -> int:
        return self._next() % (len(FAULTS) + 1)

    def choose(self, count: int) -> int:
        return self._next() % count

    def _next(self) -> int:
        self.at += 1
        return self.values.get(self.at - 1, 0)


@dataclass(slots=True)
class Recorder:
    """Decisions of another source, kept as the values of a tape."""

    decisions: Decisions
    values: dict[int, int] = field(default_factory=dict)
    at: int = 0

    def deviates(self, point: str, possible: Possible, is_pending: bool) -> int:
        return self._keep(self.decisions.deviates(point, possible, is_pending))

    def choose(self, count: int) -> int:
        return self._keep(self.decisions.choose(count))

    def _keep(self, value: int) -> int:
        if value:
            self.values[self.at] = value
        self.at += 1
        return value
