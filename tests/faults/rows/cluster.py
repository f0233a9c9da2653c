"""What a Spark cluster does by itself: it runs a slow task a second time, beside the first."""

from __future__ import annotations

import time
from dataclasses import replace

import httpx

from tests.faults.cluster_world import ClusterWorld
from tests.faults.history import History
from tests.faults.rows.row import Row, moving

_SLEEP_SECONDS = 12
_SECONDS = 60.0
_LEAST = 2


def speculate(history: History) -> int:
    """Tasks sleep at a kill point until Spark has run them a second time; those that still live go on then."""
    points = ((history.source, "K4"), (history.sink, "K5"), (history.source, "K6"), (history.sink, "K4"))
    for name, point in points:
        if not _holds_up(history, name, point):
            break
    count = _second_attempts(history)
    assert count >= _LEAST, f"Spark ran {count} tasks a second time"
    return count


def _holds_up(history: History, connector: str, point: str) -> bool:
    """Let the next task that comes to the point sleep → whether one came: all may be moved by then."""
    armed, end = history.world.armed, time.monotonic() + _SECONDS
    armed.write_text(f"{point} {connector} {_SLEEP_SECONDS}")
    while armed.exists() and time.monotonic() < end:
        time.sleep(0.1)
    if armed.exists():
        armed.unlink()
        return False
    time.sleep(_SLEEP_SECONDS)
    return True


def _second_attempts(history: History) -> int:
    with httpx.Client(base_url=f"{history.world.environment['CONNECT_SPARK_UI']}/api/v1/applications") as client:
        application = client.get("").json()[0]["id"]
        stages = client.get(f"/{application}/stages").json()
        places = (f"/{application}/stages/{one['stageId']}/{one['attemptId']}/taskList" for one in stages)
        return sum(task["speculative"] for place in places for task in client.get(place).json())


ROWS: tuple[Row, ...] = (replace(moving(4, "slow tasks run a second time", speculate), world=ClusterWorld),)
