"""A process killed at each kill point, K0 to K10, of a source and of a sink: its driver, or Spark's Python worker."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
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

_SECONDS = 300.0


def kill_at(point: str, history: History) -> int:
    """Arm the point for the source, then for the sink; wait until a process dies there, and heal."""
    killed = 0
    for kind, connector in (("source", history.source), ("sink", history.sink)):
        if point in KILLED[kind]:
            _kill(history, point, connector)
            killed += 1
    return killed


def _kill(history: History, point: str, connector: str) -> None:
    armed = history.world.armed
    armed.write_text(f"{point} {connector} kill")
    end = time.monotonic() + _SECONDS
    while armed.exists():
        assert time.monotonic() < end, f"no process of {connector} came to {point}"
        time.sleep(0.1)
    history.heal()


def _run(point: str, world: World) -> Findings:
    history = History(world, f"kill-{point.lower()}-{world.random.getrandbits(24):06x}")
    history.begin()
    with history.writing():
        # At once: later the source may have moved all there is.
        faults = kill_at(point, history)
        history.heal()
    return history.end(faults)


ROWS: tuple[Row, ...] = tuple(
    Row(FIRST_ROW + number, f"killed at {point}, {what}", partial(_run, point))
    for number, (point, what) in enumerate(FAIL_POINTS.items())
)
