"""What decides where a history deviates from the plain order: a seed, or a tape of decisions that can be shrunk."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

__all__ = ["AROUND", "FAULTS", "MESSAGES", "POINTS", "Chances", "Decisions", "Possible", "Recorder", "Tape"]

POINTS = tuple(f"K{number}" for number in range(11))
"""The kill points of an interval, K0 to K10."""

MESSAGES = ("lost reply", "lost request", "delay")
"""What happens to the next act itself."""

AROUND = ("expire", "arrive late", "compact", "foreign", "retain", "recreate")
"""What happens beside it: transactions time out, late acts arrive, the offsets topic is compacted; a foreign
transaction holds back the topic that is read, retention cuts it, it is deleted and created again."""

FAULTS = ("overtaken", "crash", "zombie", *MESSAGES, "duplicate", "revived", *AROUND)
"""What a deviation from the plain order does; by number, for tapes."""

_TIMES = {"K0": 1, "K1": 7, "K2": 5, "K7": 5, "K9": 8, "K10": 2}
"""How often a point is the focus: more often, where a history passes it rarely."""

_WEIGHTS: Mapping[str, int] = MappingProxyType(
    dict(zip(FAULTS, (3, 3, 14, 3, 3, 3, 5, 14, 6, 6, 3, 2, 2, 2), strict=True)))  # fmt: skip
_FOCUSES = tuple(point for point in POINTS for _ in range(_TIMES.get(point, 3)))

Possible = Callable[[], Collection[str]]
"""The faults that would change anything now."""


class Decisions(Protocol):
    """The source of all that is left to chance in a history."""

    def deviates(self, point: str, possible: Possible) -> int:
        """Return 0 for the plain order, else the number of a fault plus one."""

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

    @staticmethod
    def seeded(seed: int, kind: str) -> Chances:
        """Return the decisions of a seed for a kind of connector."""
        chance = random.Random(f"{seed} {kind}")
        return Chances(chance, chance.choice((0.03, 0.08, 0.15)), chance.choice(_FOCUSES), chance.choice((0.3, 0.6)))

    def deviates(self, point: str, possible: Possible) -> int:
        if self.random.random() >= (self.pressure if point == self.focus else self.probability):
            return 0
        faults = [fault for fault in FAULTS if fault in possible()]
        return FAULTS.index(self.random.choices(faults, [_WEIGHTS[fault] for fault in faults])[0]) + 1

    def choose(self, count: int) -> int:
        return self.random.randrange(count)


@dataclass(slots=True)
class Tape:
    """Decisions by hand: which of them, counted from the first on, is not the plain one (0)."""

    values: Mapping[int, int]
    at: int = 0

    def deviates(self, point: str, possible: Possible) -> int:
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

    def deviates(self, point: str, possible: Possible) -> int:
        return self._keep(self.decisions.deviates(point, possible))

    def choose(self, count: int) -> int:
        return self._keep(self.decisions.choose(count))

    def _keep(self, value: int) -> int:
        if value:
            self.values[self.at] = value
        self.at += 1
        return value
