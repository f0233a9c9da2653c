"""The run monitor over a real database and a stand-in of Airflow's API that can be deaf."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from connect_core.dag.airflow_tasks import OpenTask
from connect_core.dag.lost_runs import is_lost, seconds_until_lost
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.dag.run_monitor import RunMonitor, _repeat
from connect_core.errors import RetriableError
from connect_core.herder.observer import Observer
from connect_core.herder.stalls import Cause, Deployment, stall_of
from connect_core.herder.waiting import Work
from connect_core.interval.effects import ReleaseLease, TakeLease
from connect_core.interval.values import IntervalState
from connect_core.store import reports
from connect_core.store.leases import release, take
from connect_core.store.statuses import ConnectorFacts, load_facts
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SOURCE, Harness
from tests.herder.test_stalls import waits
from tests.herder.test_status import facts, interval

pytestmark = pytest.mark.slow

__all__ = ["harness", "sqlite_template"]

NOW = datetime.now(UTC)
TASK = OpenTask("dag", "run-1", "run", "queued", NOW - timedelta(seconds=70), "default_pool")


def test_lost_is_what_is_queued_for_long_without_a_sign_of_life() -> None:
    assert is_lost(facts(), TASK, 60, NOW)
    assert not is_lost(facts(), TASK, 80, NOW)
    assert not is_lost(facts(), replace(TASK, state="scheduled"), 60, NOW)
    assert not is_lost(facts(), replace(TASK, since=None), 60, NOW)
    assert not is_lost(facts(lease_age=-5.0), TASK, 60, NOW)
    assert is_lost(facts(lease_age=5.0), TASK, 60, NOW)
    assert not is_lost(facts(interval=interval(IntervalState.RUNNING, heartbeat_age=5.0)), TASK, 60, NOW)
    assert is_lost(facts(interval=interval(IntervalState.RUNNING, heartbeat_age=65.0)), TASK, 60, NOW)
    assert is_lost(facts(interval=interval(IntervalState.COMMITTED, heartbeat_age=5.0)), TASK, 60, NOW)


def test_patience_doubles_each_time_so_that_a_slow_cluster_gets_its_time() -> None:
    assert [seconds_until_lost(60, cleared) for cleared in (0, 1, 2, 6, 9)] == [60, 120, 240, 3840, 3840]
    assert not is_lost(facts(waiting=waits(work=Work.RUN, cleared=1)), TASK, 60, NOW)
    assert is_lost(facts(waiting=waits(work=Work.RUN, cleared=1)), TASK, 30, NOW)


def long_ago() -> datetime:
    """Return a moment that lies further back than a run may be queued, and no further than twice that."""
    return datetime.now(UTC) - timedelta(seconds=70)


SORTED_BY = ("id", "state", "duration", "start_date", "end_date", "map_index")
"""What Airflow 3.3.2 sorts lists of tasks by; it refuses all else."""


@dataclass
class StandIn:
    """Airflow's answers; ``is_unresponsive``: none."""

    tasks: list[dict[str, Any]] = field(default_factory=list)
    is_unresponsive: bool = False
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    beat: datetime = field(default_factory=lambda: datetime.now(UTC))

    def call(self, method: str, path: str, fine: tuple[int, ...] = (), **options: Any) -> Any:
        if self.is_unresponsive:
            raise RetriableError("Airflow does not answer")
        self.calls.append((method, path, options.get("json")))
        if path == "/monitor/health":
            names = ("scheduler", "triggerer", "dag_processor")
            return {name: {f"latest_{name}_heartbeat": self.beat.isoformat()} for name in names}
        if path.endswith("/list"):
            body = options["json"]
            assert body["order_by"] in SORTED_BY
            page = self.tasks[body["page_offset"] : body["page_offset"] + body["page_limit"]]
            return {"task_instances": page, "total_entries": len(self.tasks)}
        return {}

    def task(self, dag_id: str, state: str | None, since: datetime, task_id: str = "run") -> None:
        moments = {"queued_when": since.isoformat(), "scheduled_when": since.isoformat(), "start_date": None}
        known = {"dag_id": dag_id, "dag_run_id": "run-1", "task_id": task_id, "state": state, "pool": "p"}
        self.tasks.append({**known, **moments})

    def cleared(self) -> list[Any]:
        return [(path, body["task_ids"]) for _, path, body in self.calls if path.endswith("/clearTaskInstances")]


@dataclass
class Scene:
    harness: Harness
    airflow: StandIn
    run_monitor: RunMonitor

    def look(self) -> None:
        try:
            self.run_monitor.ask()
        except RetriableError:
            assert self.airflow.is_unresponsive
        self.run_monitor.look()

    def facts(self, name: str = "a") -> ConnectorFacts:
        with self.harness.database.read() as connection:
            return load_facts(connection, [name])[0]

    def deployment(self, after: float = 0.0) -> Deployment:
        with self.harness.database.read() as connection:
            return Deployment(reports.load(connection), after)


@pytest.fixture
def scene(harness: Harness, tmp_path: Path) -> Scene:
    """A planned source that has caught up, and a run monitor."""
    harness.create(config=SOURCE)
    driver = harness.driver()
    driver.commit(driver.begin())
    airflow = StandIn()
    with harness.database.write() as connection:
        release(connection, ReleaseLease("a", "driver"))
    return Scene(harness, airflow, RunMonitor(harness.database, airflow, Observer(harness.database), 60.0))


def test_two_calls_serve_all_connectors(scene: Scene) -> None:
    for number in range(30):
        scene.harness.create(f"b-{number}")
    scene.look()
    assert [path for _, path, _ in scene.airflow.calls] == [
        "/dags/~/dagRuns/~/taskInstances/list",
        "/monitor/health",
    ]


def test_queued_run_is_shown_and_cleared_when_it_is_lost(scene: Scene) -> None:
    scene.airflow.task(dag_id_of("a"), "queued", long_ago())
    scene.look()
    stall = stall_of(scene.facts(), scene.deployment())
    assert stall is not None
    assert stall.cause is Cause.QUEUED
    assert scene.airflow.cleared() == []
    for _ in range(2):
        scene.look()
    assert scene.airflow.cleared() == [(f"/dags/{dag_id_of('a')}/clearTaskInstances", ["run"])]
    waiting = scene.facts().waiting
    assert waiting is not None
    assert waiting.cleared == 1
    # Not again before twice the time.
    scene.look()
    assert len(scene.airflow.cleared()) == 1


def test_run_whose_connector_is_held_is_left_alone(scene: Scene) -> None:
    scene.airflow.task(dag_id_of("a"), "queued", long_ago())
    with scene.harness.database.write() as connection:
        assert take(connection, TakeLease("a", "other run", 60)) is not None
    for _ in range(3):
        scene.look()
    assert scene.airflow.cleared() == []


def test_task_without_a_slot_is_shown_and_never_cleared(scene: Scene) -> None:
    scene.airflow.task(dag_id_of("a"), "scheduled", long_ago())
    for _ in range(3):
        scene.look()
    stall = stall_of(scene.facts(), scene.deployment())
    assert stall is not None
    assert (stall.cause, "pool p" in stall.reason) == (Cause.SLOT, True)
    assert scene.airflow.cleared() == []


def test_lost_sweep_is_cleared_alone_so_that_the_watcher_stays(scene: Scene) -> None:
    scene.airflow.task(HOUSEKEEPING_DAG_ID, "deferred", long_ago(), "watch")
    scene.airflow.task(HOUSEKEEPING_DAG_ID, "queued", long_ago(), "sweep")
    for _ in range(3):
        scene.look()
    assert scene.airflow.cleared() == [(f"/dags/{HOUSEKEEPING_DAG_ID}/clearTaskInstances", ["sweep"])]


def test_deaf_airflow_is_told_and_the_watcher_still_reports(scene: Scene) -> None:
    scene.airflow.task(dag_id_of("a"), "scheduled", long_ago())
    scene.look()
    scene.airflow.is_unresponsive = True
    scene.look()
    parts = scene.deployment().parts
    assert parts[reports.AIRFLOW].error == "Airflow does not answer"
    assert (parts[reports.WATCHER].worked_age or 0.0) < 5
    # What was known to wait still waits.
    assert scene.facts().waiting is not None


def test_an_error_nobody_foresaw_ends_neither_the_monitor_nor_the_watcher(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def ask() -> None:
        asked.append(1)
        raise AttributeError("'NoneType' object has no attribute 'get'")

    monkeypatch.setattr("connect_core.dag.run_monitor.LOOK_SECONDS", 0.01)

    async def work() -> None:
        working = asyncio.create_task(_repeat(ask))
        while len(asked) < 3:
            assert not working.done()
            await asyncio.sleep(0.01)
        working.cancel()

    asyncio.run(asyncio.wait_for(work(), 10))


def test_many_tasks_come_in_pages(scene: Scene) -> None:
    for number in range(1030):
        scene.airflow.task(f"other-{number}", "queued", NOW)
    scene.airflow.task(dag_id_of("a"), "queued", NOW)
    scene.look()
    waiting = scene.facts().waiting
    assert waiting is not None
    assert (waiting.work, waiting.run_state) == ("run", "queued")
