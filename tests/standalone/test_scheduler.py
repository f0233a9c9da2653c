"""Which loops a standalone worker has, in whatever order requests that delete and create a connector act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from connect_core.errors import RetriableError
from connect_core.standalone.loop import ConnectorLoop
from connect_core.standalone.scheduler import StandaloneScheduler


@dataclass
class Loop:
    """Stands for a thread: without one, nothing happens between two calls."""

    on_gone: Callable[[], None] = lambda: None
    is_running: bool = False
    wakes: int = 0

    def start(self) -> None:
        self.is_running = True

    def wake(self, *, asked: bool = False) -> None:
        self.wakes += 1

    def ask_to_stop(self) -> None:
        self.is_running = False

    def find_nothing(self) -> None:
        """Look for the connector where there is none."""
        self.on_gone()
        self.is_running = False


@dataclass
class World:
    """A scheduler, all loops it made, and the names that are stored."""

    loops: list[Loop] = field(default_factory=list)
    stored: set[str] = field(default_factory=lambda: {"a"})
    error: Exception | None = None
    scheduler: StandaloneScheduler = field(init=False)

    def __post_init__(self) -> None:
        self.scheduler = StandaloneScheduler(self._make, self._is_stored)
        self.scheduler.deploy("a")

    def _make(self, name: str) -> ConnectorLoop:
        self.loops.append(Loop())
        return cast(ConnectorLoop, cast(Any, self.loops[-1]))

    def _is_stored(self, name: str) -> bool:
        if self.error is not None:
            raise self.error
        return name in self.stored

    @property
    def running(self) -> list[int]:
        return [number for number, loop in enumerate(self.loops) if loop.is_running]


def test_a_connector_has_one_loop() -> None:
    world = World()
    world.scheduler.deploy("a")
    assert (world.running, world.loops[0].wakes) == ([0], 2)
    world.stored.clear()
    world.scheduler.remove("a")
    assert world.running == []


def test_one_created_before_the_removal_of_its_predecessor_runs() -> None:
    world = World()
    world.scheduler.deploy("a")
    world.scheduler.remove("a")
    assert world.running == [1]


def test_one_created_before_its_predecessors_loop_noticed_runs() -> None:
    world = World()
    world.scheduler.deploy("a")
    world.loops[0].find_nothing()
    assert world.running == [1]
    world.scheduler.resume("a")
    assert world.loops[1].wakes == 2


def test_one_created_after_its_predecessors_loop_ended_runs() -> None:
    world = World()
    world.stored.clear()
    world.loops[0].find_nothing()
    assert world.running == []
    world.stored.add("a")
    world.scheduler.deploy("a")
    world.scheduler.remove("a")
    assert world.running == [2]


def test_a_loop_goes_on_while_the_database_does_not_answer() -> None:
    world = World()
    world.error = RetriableError("locked")
    with pytest.raises(RetriableError):
        world.loops[0].on_gone()
    assert world.running == [0]
    world.error = None
    world.loops[0].find_nothing()
    assert world.running == [1]
