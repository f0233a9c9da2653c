"""Histories: which processes they have, by chance; each is told by its seed, or by a tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from tests.simulator.backfills import HOURS
from tests.simulator.chances import Chances, Decisions, Plot, Plotted, Tape
from tests.simulator.history import History
from tests.simulator.operators import arriving, operator, sweeper
from tests.simulator.runs import backfiller, driver
from tests.simulator.schedule import Schedule
from tests.simulator.traits import Traits

__all__ = ["OPERATIONS", "plotted", "scenario", "seeded", "taped"]

OPERATIONS = ("pause", "restart", "tasks", "tasks", "configure", "alter", "alter all", "reset", "delete", "delete all")
_MOVES = ("move", "move", "move")
_BESIDE_BACKFILLS = ("pause", "tasks", "configure", "configure", "configure", "alter", "reset", "delete", "delete all")
Choice = TypeVar("Choice")


def scenario(kind: str, decisions: Decisions, traits: Traits = MappingProxyType({})) -> Schedule:
    """Return a history of one kind, with drivers, operators and arriving data in some order."""

    def choose(choices: Sequence[Choice]) -> Choice:
        return choices[decisions.choose(len(choices))]

    history = History(kind, policy=choose(("skip", "skip", "skip", "fail")), tasks_max=choose((2, 1)), **traits)
    history.has_bound = choose((True, True, False))
    schedule = Schedule(history, decisions)
    schedule.add("one", driver)
    schedule.add("arrive", arriving)
    for number in range(choose((3, 4, 5))):
        for again in range(3 if history.has_backfills else 0):
            schedule.add(f"again-{number}-{again}", backfiller, choose(HOURS))
        schedule.add(f"op-{number}", operator, choose(_operations(history)))
        schedule.add(f"next-{number}", driver)
        schedule.add(f"arrive-{number}", arriving)
    if kind == "files":
        schedule.add("sweeper", sweeper)
    return schedule


def _operations(history: History) -> Sequence[str]:
    usual = _BESIDE_BACKFILLS if history.has_backfills else OPERATIONS
    return (*usual, *_MOVES) if history.has_moves else usual


def seeded(seed: int, kind: str, traits: Traits = MappingProxyType({})) -> Schedule:
    """Return the history of a seed."""
    return scenario(kind, Chances.seeded(seed, kind), traits)


def plotted(seed: int, kind: str, plot: Plot, traits: Traits = MappingProxyType({})) -> Schedule:
    """Return the history of a seed in which the faults of a plot happen, if they can."""
    return scenario(kind, Plotted.seeded(seed, kind, plot), traits)


def taped(values: Mapping[Any, int], kind: str, traits: Traits = MappingProxyType({})) -> Schedule:
    """Return the history of a tape; its keys may be text, as JSON has them."""
    return scenario(kind, Tape({int(at): value for at, value in values.items()}), traits)
