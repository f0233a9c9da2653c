"""What a Spark cluster does by itself: it runs a slow task a second time, beside the first, and a failed one again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import httpx

from tests.faults.cluster_world import ClusterWorld
from tests.faults.exports import Export, LineExport, NumberedTable
from tests.faults.history import Findings, History
from tests.faults.rows.failpoints import arm
from tests.faults.rows.row import Row, moving
from tests.faults.world import World

_SLEEP_SECONDS = 12
_SECONDS = 60.0
_LEAST = 2
_BATCH = 400


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
    if not _is_taken(history.world, point, connector, str(_SLEEP_SECONDS)):
        return False
    time.sleep(_SLEEP_SECONDS)
    return True


def _is_taken(world: World, point: str, connector: str, act: str) -> bool:
    end = time.monotonic() + _SECONDS
    arm(world, point, connector, act)
    while world.armed.exists() and time.monotonic() < end:
        time.sleep(0.1)
    if world.armed.exists():
        world.armed.unlink()
        return False
    return True


def _second_attempts(history: History) -> int:
    return sum(task["speculative"] for task in _tasks(history.world))


def _tasks(world: World) -> Iterator[dict[str, Any]]:
    """Return what Spark says of all tasks it has run."""
    url = f"{world.environment['CONNECT_SPARK_UI']}/api/v1/applications"
    with httpx.Client(base_url=url, timeout=60) as client:
        application = client.get("").json()[0]["id"]
        for stage in client.get(f"/{application}/stages").json():
            place = f"/{application}/stages/{stage['stageId']}/{stage['attemptId']}/taskList"
            yield from client.get(place, params={"length": 10_000}).json()


def run_twice(kind: type[Export], world: World) -> Findings:
    """Spark itself runs tasks with one plan again: a worker dies in them, or they are slow."""
    export = kind(world, f"row-49-{world.random.getrandbits(24):06x}")
    export.begin(2)
    world.drive(export.name)
    export.write(0, _BATCH)
    export.await_files(_BATCH)
    acts = [(point, act) for point in ("K4", "K5") for act in ("kill", str(_SLEEP_SECONDS))]
    for number, (point, act) in enumerate(acts, 1):
        export.write(number * _BATCH, _BATCH)
        assert _is_taken(world, point, export.name, act), f"no task came to {point}"
        export.await_files((number + 1) * _BATCH)
    again = [task for task in _tasks(world) if task["attempt"] or task["speculative"]]
    assert len(again) >= _LEAST, f"Spark ran {len(again)} tasks again"
    return export.found(set(range((len(acts) + 1) * _BATCH)), len(again))


_KINDS: Mapping[str, type[Export]] = MappingProxyType(
    {"to Parquet": Export, "to lines": LineExport, "to a table without a key": NumberedTable}
)
ROWS: tuple[Row, ...] = (
    replace(moving(4, "slow tasks run a second time", speculate), world=ClusterWorld),
    *(
        Row(49, f"one plan executed twice by Spark, {name}", partial(run_twice, kind), ClusterWorld)
        for name, kind in _KINDS.items()
    ),
)
