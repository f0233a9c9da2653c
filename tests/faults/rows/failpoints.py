"""A process killed at each kill point, K0 to K10, of a source and of a sink: its driver, or Spark's Python worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType

from connect_core.interval.failpoints import FAIL_POINTS
from tests.faults.history import Findings, History
from tests.faults.rows.row import Row
from tests.faults.world import World

FIRST_ROW = 100
"""The row of K0; that of K10 is 110. They are row 1 of the matrix, point by point."""

KILLED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # A source has nothing to publish.
        "source": tuple(point for point in FAIL_POINTS if point != "K8"),
        "sink": tuple(FAIL_POINTS),
    }
)
"""Kind of connector → the points its processes are killed at."""

IN_TASKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"source": ("K3", "K4", "K5", "K6"), "sink": ("K3", "K4", "K5")}
)
"""Kind of connector → the points where it is a Python worker of Spark that dies; at all others it is the driver."""

_SECONDS = 300.0


def kill_at(point: str, history: History) -> int:
    """Arm the point for the source, then for the sink; each time wait until a process died there, and heal."""
    killed = 0
    for kind, connector in (("source", history.source), ("sink", history.sink)):
        if point in KILLED[kind]:
            if point in IN_TASKS[kind]:
                # Before that the driver itself commits: the epoch it writes.
                history.await_running(connector)
            is_driver = _kill(history, point, connector) in {one.process.pid for one in history.world.drivers}
            assert is_driver is (point not in IN_TASKS[kind]), f"at {point} of {connector} the wrong process died"
            history.heal()
            killed += 1
    return killed


def arm(world: World, point: str, connector: str, act: str) -> None:
    """Let the next process of the connector that comes to the point act so."""
    world.armed.write_text(f"{point} {connector} {act}")


def await_taken(world: World, trouble: str, meanwhile: Callable[[], None] | None = None) -> int:
    """Wait until a process has come to the armed point → its id. Raise AssertionError with the trouble.

    meanwhile: called every other second.
    """
    end = time.monotonic() + _SECONDS
    for turn in count(1):
        if not world.armed.exists():
            break
        assert time.monotonic() < end, trouble
        time.sleep(0.1)
        if meanwhile is not None and turn % 20 == 0:
            meanwhile()
    (taken,) = world.armed.parent.glob(f"{world.armed.name}-*")
    pid = int(taken.name.rpartition("-")[2])
    taken.unlink()
    return pid


def _kill(history: History, point: str, connector: str) -> int:
    """Arm the point and wait until a process has died there → its id."""
    arm(history.world, point, connector, "kill")
    # A connector that moved the last line while the other one was healed would never come to the point.
    trouble = f"no process of {connector} came to {point}"
    pid = await_taken(history.world, trouble, partial(history.append_if_drained, connector))
    for driver in history.world.drivers:
        if driver.process.pid == pid:
            driver.process.wait(_SECONDS)
    return pid


def _run(point: str, world: World) -> Findings:
    history = History(world, f"kill-{point.lower()}-{world.random.getrandbits(24):06x}")
    history.begin()
    with history.writing():
        # At once: later the source may have moved all there is.
        faults = kill_at(point, history)
    return history.end(faults)


ROWS: tuple[Row, ...] = tuple(
    Row(FIRST_ROW + number, f"killed at {point}, {what}", partial(_run, point))
    for number, (point, what) in enumerate(FAIL_POINTS.items())
)
