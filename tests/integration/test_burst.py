"""Many connectors created, reconfigured, paused, resumed and deleted at once, beside five that are busy.

``make matrix`` takes a hundred; ``CONNECT_BURST=300`` as many. What it came to is printed; the table of
``connect_core/dag/ADR-1-waits-and-runs.md`` has figures of 300.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from connect_core.dag.airflow_client import REQUESTS_AT_ONCE
from connect_core.dag.naming import TAG
from connect_core.dev.stack import Stack
from tests.deployments.stack import token_of
from tests.integration.airflow_calls import AirflowCalls, Calls
from tests.integration.busy import Busy, Latency
from tests.integration.many import Act, Many
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(3600)]

COUNT = int(os.environ.get("CONNECT_BURST", "100"))
IS_ALONE = "CONNECT_BURST" in os.environ
TIMEOUT_SECONDS = 300 if COUNT > 300 else 60 if IS_ALONE else 120
"""A minute is promised of 300 where the machine does nothing else; `make matrix` does not see to that."""
STANDSTILL_SECONDS = 120
"""The busy ones share two cores with all that is done here; this is what nobody calls a latency."""
CALLS_A_CONNECTOR, CALLS_A_SECOND = 4, 8
"""Some for each connector that changes, and those that are made whether anything changes or not."""
CALLERS = 2
"""`connect rest` and the triggerer."""
QUIET_SECONDS = 12


@dataclass(frozen=True, slots=True)
class Scene:
    """The servers, what counts the calls to Airflow, and the busy connectors."""

    stack: Stack
    calls: AirflowCalls
    busy: Busy
    rest: httpx.Client
    airflow: httpx.Client

    def dags(self, **query: Any) -> int:
        """Return how many DAGs of the burst's connectors Airflow lists; those gone from their file follow later."""
        asked = {"tags": [TAG], "dag_id_pattern": "burst-", "limit": 1, **query}
        return int(self.airflow.get("/api/v2/dags", params=asked).raise_for_status().json()["total_entries"])


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    data = tmp_path / "data"
    data.mkdir()
    calls = AirflowCalls(lambda: stack.service("airflow-api-server").port)
    settings = {"CONNECT_FILE_ROOTS": str(data), "CONNECT_AIRFLOW_URL": f"http://127.0.0.1:{calls.port}"}
    stack = Stack(tmp_path / "stack", settings=settings)
    try:
        stack.up()
        found = stack.environment()
        topics = Topics(found["CONNECT_BOOTSTRAP_SERVERS"])
        topics.create(2, "empty")
        for name in ("busy-0", "busy-1"):
            topics.create(1, name)
        yield Scene(
            stack, calls, Busy(data), httpx.Client(base_url=found["CONNECT_REST_URL"], timeout=60), _login(stack)
        )
    finally:
        stack.down()


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of the story: what was done, from when to when, how it went, and what Airflow was asked meanwhile."""

    what: str
    began: float
    ended: float
    told: str
    calls: Calls


def test_a_burst_is_done_in_time_and_holds_up_nobody(scene: Scene) -> None:
    busy, many = scene.busy, Many(scene.rest, "burst-", COUNT, "empty", scene.busy.folder)
    for name, config in busy.configs():
        scene.rest.post("/connectors", json={"name": name, "config": config}).raise_for_status()
    with busy.going():
        _eventually(lambda: all(busy.arrived()), 120)
        time.sleep(QUIET_SECONDS)
        phases = [_phase(scene, "before", _rest)]
        for act in many.acts():
            phases.append(_phase(scene, act.what, partial(_burst, scene, many, act)))
            if act.what == "resumed":
                phases.append(_phase(scene, "idle beside", _rest))
        phases.append(_phase(scene, "after", _rest))
        busy.stop_writing()
        _eventually(busy.is_complete, STANDSTILL_SECONDS)
    assert busy.arrived() == busy.expected()
    for phase in phases:
        _check(phase, busy.latency(phase.began, phase.ended))


def _burst(scene: Scene, many: Many, act: Act) -> str:
    """Act on all at once and wait until all statuses are right, Airflow's too → how long it took."""
    began = time.monotonic()
    many.ask(act)
    asked = time.monotonic() - began
    dags = COUNT if act.state else 0
    paused = COUNT if act.state == "PAUSED" else 0
    _eventually(
        lambda: many.is_done(act) and (scene.dags(), scene.dags(paused=True)) == (dags, paused), TIMEOUT_SECONDS
    )
    return f"asked for in {asked:.1f} s, right after {time.monotonic() - began:.1f} s"


def _rest() -> str:
    time.sleep(QUIET_SECONDS)
    return "nothing is asked for"


def _phase(scene: Scene, what: str, act: Callable[[], str]) -> Phase:
    scene.calls.since_last()
    began, told = time.time(), act()
    return Phase(what, began, time.time(), told, scene.calls.since_last())


def _check(phase: Phase, latency: Latency) -> None:
    """Print how it went, and see that nothing stood still and Airflow was not flooded."""
    calls = phase.calls
    print(
        f"\n{COUNT} {phase.what}: {phase.told}; {latency.lines} busy lines, median {latency.median:.1f} s, "
        f"worst {latency.worst:.1f} s; calls to Airflow: {calls.a_second:.1f} a second, {calls.worst_second} in the "
        f"worst, {calls.at_once} at once"
    )
    assert latency.worst < STANDSTILL_SECONDS
    assert calls.at_once <= CALLERS * REQUESTS_AT_ONCE
    assert calls.count < CALLS_A_CONNECTOR * COUNT + CALLS_A_SECOND * (phase.ended - phase.began)


def _eventually(is_true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, f"not so after {seconds:.0f} s"
        time.sleep(0.5)


def _login(stack: Stack) -> httpx.Client:
    """Log in to Airflow past what counts the calls."""
    found, port = stack.environment(), stack.service("airflow-api-server").port
    address, password = f"http://127.0.0.1:{port}", Path(found["CONNECT_AIRFLOW_PASSWORD_FILE"]).read_text().strip()
    token = token_of(address, found["CONNECT_AIRFLOW_USER"], password)
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)
