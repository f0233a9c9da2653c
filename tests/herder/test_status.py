"""Status as computed from facts: the first rule that fits wins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from connect_core.errors import NotFoundError
from connect_core.herder.stalls import Deployment
from connect_core.herder.status import compute_status, get_status, get_task_status, list_statuses
from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.statuses import ConnectorFacts, FailureFacts, IntervalFacts, TaskFacts
from tests.herder.harness import Harness
from tests.store.harness import failed

FAILED = TaskFacts(0, TaskOutcome.FAILED, "Traceback: t", False, "worker:7")
RETRIABLE = TaskFacts(0, TaskOutcome.FAILED, "Traceback: r", True, "worker:7")
RUNS = TaskFacts(0, None, "Traceback: old", False, "")
FAILURE = FailureFacts("Traceback: c", False, 1)
RETRIED = FailureFacts("Traceback: c", True, 1, is_retried=True)
LAST = FailureFacts("Traceback: c", True, 1)
STARTED, PAUSED, STOPPED = TargetState.STARTED, TargetState.PAUSED, TargetState.STOPPED


def facts(**changed: Any) -> ConnectorFacts:
    known: dict[str, Any] = {
        "name": "a",
        "type": ConnectorType.SINK,
        "config": {},
        "config_version": 1,
        "plugin_version": "4.3.1",
        "target_state": STARTED,
        "is_dag_paused": False,
        "planned_version": 1,
        "task_count": 1,
        "worker": "driver:4040",
    }
    return ConnectorFacts(**{**known, **changed})


def interval(state: IntervalState, task: TaskFacts = RUNS, **changed: Any) -> IntervalFacts:
    known: dict[str, Any] = {"config_version": 1, "heartbeat_age": 1.0, "retry_at": None, "tries_left": 0}
    return IntervalFacts(1, state, tasks=(task,), **{**known, **changed})


BROKEN = interval(IntervalState.FAILED, FAILED)
TABLE = [
    ("no plan yet", {"task_count": None}, "UNASSIGNED", []),
    ("no plan yet, DAG paused", {"task_count": None, "is_dag_paused": True}, "UNASSIGNED", []),
    ("created paused", {"task_count": None, "target_state": PAUSED}, "PAUSED", []),
    ("stopped", {"target_state": STOPPED, "failure": FAILURE, "interval": BROKEN}, "STOPPED", []),
    ("connector failed", {"failure": FAILURE}, "FAILED", ["RUNNING"]),
    ("connector failed before any plan", {"failure": FAILURE, "task_count": None}, "FAILED", []),
    ("connector failed under an old config", {"failure": FAILURE, "config_version": 2}, "RUNNING", ["RESTARTING"]),
    ("connector failed, paused", {"failure": FAILURE, "target_state": PAUSED}, "FAILED", ["PAUSED"]),
    ("plan failed, tries left", {"failure": RETRIED}, "RUNNING", ["RUNNING"]),
    ("plan failed, none left", {"failure": LAST}, "FAILED", ["RUNNING"]),
    ("first plan failed, tries left", {"failure": RETRIED, "task_count": None}, "FAILED", []),
    ("task failed", {"interval": BROKEN}, "RUNNING", ["FAILED"]),
    ("task failed, paused", {"interval": BROKEN, "target_state": PAUSED}, "PAUSED", ["FAILED"]),
    ("task failed, DAG paused", {"interval": BROKEN, "is_dag_paused": True}, "PAUSED", ["FAILED"]),
    ("task tried again", {"interval": interval(IntervalState.PLANNED, RUNS)}, "RUNNING", ["RUNNING"]),
    (
        "retriable, tries left",
        {"interval": interval(IntervalState.FAILED, RETRIABLE, tries_left=2)},
        "RUNNING",
        ["RUNNING"],
    ),
    ("retriable, none left", {"interval": interval(IntervalState.FAILED, RETRIABLE)}, "RUNNING", ["FAILED"]),
    ("idle, new config", {"config_version": 2}, "RUNNING", ["RESTARTING"]),
    (
        "new config while an interval runs",
        {"config_version": 2, "interval": interval(IntervalState.RUNNING)},
        "RUNNING",
        ["RUNNING"],
    ),
    ("paused", {"target_state": PAUSED}, "PAUSED", ["PAUSED"]),
    ("DAG paused", {"is_dag_paused": True}, "PAUSED", ["PAUSED"]),
    ("paused while restarting", {"target_state": PAUSED, "restarting": frozenset({-1, 0})}, "PAUSED", ["PAUSED"]),
    ("all restart", {"restarting": frozenset({-1, 0})}, "RESTARTING", ["RESTARTING"]),
    ("connector restarts", {"restarting": frozenset({-1})}, "RESTARTING", ["RUNNING"]),
    ("task restarts", {"restarting": frozenset({0})}, "RUNNING", ["RESTARTING"]),
    ("failed task restarts", {"restarting": frozenset({0}), "interval": BROKEN}, "RUNNING", ["RESTARTING"]),
    ("failed connector restarts", {"restarting": frozenset({-1}), "failure": FAILURE}, "RESTARTING", ["RUNNING"]),
    ("failed task, new config", {"config_version": 2, "interval": BROKEN}, "RUNNING", ["RESTARTING"]),
    ("stalled", {"interval": interval(IntervalState.RUNNING, heartbeat_age=900.0)}, "RUNNING", ["RUNNING"]),
    ("waiting", {"interval": interval(IntervalState.COMMITTED)}, "RUNNING", ["RUNNING"]),
]


@pytest.mark.parametrize(("changed", "connector", "tasks"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_state_follows_the_table(changed: dict[str, Any], connector: str, tasks: list[str]) -> None:
    status = compute_status(facts(**changed), "rest:8083")
    assert status.connector.state.value == connector
    assert [task.state.value for task in status.tasks] == tasks


def test_json_is_connects() -> None:
    status = compute_status(facts(interval=BROKEN, failure=FAILURE), "rest:8083")
    assert status.to_json() == {
        "name": "a",
        "connector": {
            "state": "FAILED",
            "worker_id": "driver:4040",
            "version": "4.3.1",
            "trace": "Traceback: c",
        },
        "tasks": [
            {
                "id": 0,
                "state": "FAILED",
                "worker_id": "worker:7",
                "version": "4.3.1",
                "trace": "Traceback: t",
            }
        ],
        "type": "sink",
    }
    assert list(status.to_json()["tasks"][0]) == ["id", "state", "worker_id", "version", "trace"]


def test_json_leaves_out_what_is_not_known() -> None:
    status = compute_status(facts(worker=None, plugin_version=None, task_count=None), "rest:8083")
    assert status.to_json()["connector"] == {"state": "UNASSIGNED", "worker_id": "rest:8083"}


def test_restarting_task_keeps_its_trace() -> None:
    (task,) = compute_status(facts(interval=BROKEN, restarting=frozenset({0})), "").tasks
    assert task.trace == "Traceback: t"


def test_running_task_shows_no_old_trace() -> None:
    (task,) = compute_status(facts(interval=interval(IntervalState.RUNNING)), "").tasks
    assert task.trace is None


def test_next_automatic_restart_is_named() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    (task,) = compute_status(facts(interval=interval(IntervalState.FAILED, RETRIABLE, retry_at=at)), "").tasks
    assert task.trace == "Traceback: r\nThe next automatic restart is at 2026-01-02T03:04:05+00:00.\n"


@pytest.mark.parametrize(
    ("state", "age", "is_stalled"),
    [(IntervalState.RUNNING, 61.0, True), (IntervalState.RUNNING, 5.0, False), (IntervalState.COMMITTED, 900.0, False)],
)
def test_old_heartbeat_is_a_stall(state: IntervalState, age: float, is_stalled: bool) -> None:
    assert (
        compute_status(facts(interval=interval(state, heartbeat_age=age)), "", Deployment({})).is_stalled is is_stalled
    )


def test_life_of_a_failing_task(harness: Harness) -> None:
    harness.create()
    assert get_status(harness.herder, "a").connector.state.value == "UNASSIGNED"
    driver = harness.driver()
    key = driver.begin()
    assert get_task_status(harness.herder, "a", 0).state.value == "RUNNING"
    driver.fail(key, [failed()])
    shown = get_task_status(harness.herder, "a", 0)
    assert (shown.state.value, shown.worker_id, shown.trace) == ("FAILED", "worker:7", "Traceback: boom")
    key = driver.begin()
    assert get_task_status(harness.herder, "a", 0).state.value == "RUNNING"
    driver.commit(key)
    assert list_statuses(harness.herder)["a"].to_json()["tasks"][0]["state"] == "RUNNING"


def test_unknown_names_have_no_status(harness: Harness) -> None:
    with pytest.raises(NotFoundError, match="No status found for connector x"):
        get_status(harness.herder, "x")
    harness.create()
    for name, task in (("x", 0), ("a", 0)):
        with pytest.raises(NotFoundError, match=f"No status found for task {name}-{task}"):
            get_task_status(harness.herder, name, task)
