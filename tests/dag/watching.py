"""A watcher of waits under test, and what it finds."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from connect_core.dag.watcher import Watcher
from connect_core.errors import RetriableError
from connect_core.interval.waits import Check, WaitState

__all__ = ["LONG", "TICK", "Harness", "stays", "watch"]

TICK = 0.01
LONG = 5.0


class Harness:
    """What the probe and the reconciler find."""

    def __init__(self) -> None:
        self.checks: dict[str, WaitState] = {}
        self.data: set[str] = set()
        self.left_alone: dict[str, float] = {}
        self.asked: list[list[str]] = []
        self.answers = True
        self.unresponsive = threading.Event()
        self.broken = False
        self.batches: list[list[str]] = []
        self.served = threading.Event()
        self.hang = threading.Event()
        self.hang.set()
        self.assigned: list[str] = []
        self.assigning = self.most_assigning = 0

    def wait_states(self, connectors: Sequence[str]) -> Mapping[str, WaitState]:
        """How each stands."""
        if self.broken:
            raise OSError("down")
        return {name: self.checks[name] for name in connectors if name in self.checks}

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Those with data."""
        self.batches.append(list(connectors))
        return self.data & set(connectors)

    def assign(self, connector: str) -> bool:
        """Assign the tasks of all but those of which only a run can; hangs or fails when told to."""
        self.assigning += 1
        self.most_assigning = max(self.most_assigning, self.assigning)
        if connector.startswith("hanging"):
            self.hang.wait(LONG)
        time.sleep(TICK)
        self.assigning -= 1
        self.assigned.append(connector)
        if connector.startswith("failing"):
            raise RetriableError("not now")
        if connector.startswith("run"):
            return True
        self.checks[connector] = WaitState(Check.SINK)
        return False

    def source_has_data(self, connector: str) -> bool:
        """Whether it has data; hangs, or tries to end the process, when told to."""
        if connector.startswith("hanging"):
            self.hang.wait(LONG)
        if connector.startswith("ending"):
            raise SystemExit("no licence")
        return connector in self.data

    def observe(self) -> None:
        """Look at Airflow's flags; hangs when told to."""
        if not self.answers:
            self.unresponsive.wait(LONG)

    def holds(self, names: Collection[str]) -> Mapping[str, float]:
        """How long to leave those alone that fail; hangs when told to."""
        self.asked.append(sorted(names))
        if not self.answers:
            self.unresponsive.wait(LONG)
            raise RetriableError("no answer")
        return {name: self.left_alone[name] for name in names if name in self.left_alone}

    def services(self) -> Sequence[Callable[[], None]]:
        """Say that requests were looked at; one kind hangs when told to."""
        return (self.hang_serving, self.served.set)

    def hang_serving(self) -> None:
        """Hang while Airflow does not answer."""
        if not self.answers:
            self.unresponsive.wait(LONG)


def watch(harness: Harness, body: Callable[[Watcher], Awaitable[None]], starts_at_once: int = 1000) -> None:
    async def run() -> None:
        watcher = Watcher(harness, harness, TICK, starts_at_once)
        work = asyncio.create_task(watcher.work())
        try:
            await asyncio.wait_for(body(watcher), LONG)
        finally:
            work.cancel()

    asyncio.run(run())


async def stays(wait: asyncio.Task[None], ticks: int = 10) -> bool:
    done, _ = await asyncio.wait({wait}, timeout=ticks * TICK)
    return not done
