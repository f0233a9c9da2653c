"""What a row of the fault matrix is: a number, a name and a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.history import Findings, History
from tests.faults.world import World

Inject = Callable[[History], int]
"""Does harm to a history that moves, and returns how many faults it injected."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault, run on its own history, in a world of this kind."""

    number: int
    name: str
    run: Callable[[World], Findings]
    world: type[World] = World

    @property
    def is_plain(self) -> bool:
        """Whether it is run in the world that most rows share."""
        return self.world is World


def moving(number: int, name: str, inject: Inject, first: int = 1000, *, of_sink: bool = False) -> Row:
    """Return the row that injects while lines move, once the source, or the sink, has moved ``first`` of them."""

    def run(world: World) -> Findings:
        history = History(world, f"row-{number}-{world.random.getrandbits(24):06x}")
        history.begin()
        with history.writing():
            history.await_committed(history.sink if of_sink else history.source, first)
            faults = inject(history)
            history.heal()
        return history.end(faults)

    return Row(number, name, run)
