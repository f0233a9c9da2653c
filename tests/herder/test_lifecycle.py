"""Pause, resume, stop, restart: what is stored, what the scheduler is asked, what is answered."""

from __future__ import annotations

import pytest

from connect_core.errors import IllegalWorkerStateError, NotFoundError
from connect_core.herder import lifecycle
from connect_core.herder.lifecycle import RestartRequest
from connect_core.herder.status import get_status
from connect_core.interval.values import TargetState
from connect_core.store import audit, connectors, dag_states, requests, restarts
from connect_core.store.audit import Act
from connect_core.store.dag_states import Dag
from tests.herder.harness import SINK, Harness
from tests.store.harness import failed

pytestmark = pytest.mark.slow

ALL = RestartRequest(include_tasks=True)
FAILED = RestartRequest(only_failed=True, include_tasks=True)


def target_of(harness: Harness) -> TargetState:
    with harness.database.read() as connection:
        return connectors.get(connection, "a").target_state


def states(harness: Harness) -> list[str]:
    status = get_status(harness.herder, "a")
    return [status.connector.state.value, *(task.state.value for task in status.tasks)]


def test_acts_reach_database_and_scheduler(harness: Harness) -> None:
    harness.create()
    for act, target in (
        (lifecycle.pause, TargetState.PAUSED),
        (lifecycle.resume, TargetState.STARTED),
        (lifecycle.stop, TargetState.STOPPED),
    ):
        act(harness.herder, "a")
        assert target_of(harness) is target
    assert harness.scheduler.calls == [("deploy", "a"), ("pause", "a"), ("resume", "a"), ("pause", "a")]


def test_pausing_a_stopped_connector_leaves_no_task(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    lifecycle.stop(harness.herder, "a")
    lifecycle.pause(harness.herder, "a")
    assert states(harness) == ["PAUSED"]


def test_resume_is_seen_before_the_mirror(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    lifecycle.pause(harness.herder, "a")
    with harness.database.write() as connection:
        dag_states.store(connection, [Dag("a", "a-1", True)])
    lifecycle.resume(harness.herder, "a")
    assert states(harness) == ["RUNNING", "RUNNING"]


def test_acts_are_audited_once(harness: Harness) -> None:
    harness.create()
    lifecycle.pause(harness.herder, "a")
    lifecycle.pause(harness.herder, "a")
    with harness.database.read() as connection:
        acts = [one.act for one in audit.history(connection, "a")]
    assert acts[0] == Act("jo", "paused", "a", {"target_state": "STARTED"}, {"target_state": "PAUSED"})
    assert [act.action for act in acts] == ["paused", "create"]


def test_what_the_scheduler_cannot_do_becomes_a_request(harness: Harness) -> None:
    harness.create()
    harness.scheduler.is_down = True
    lifecycle.pause(harness.herder, "a")
    assert target_of(harness) is TargetState.PAUSED
    with harness.database.write() as connection:
        (claimed,) = requests.claim(connection, "watcher", 60)
    assert (claimed.asked.kind, claimed.asked.connector) == ("pause", "a")


@pytest.mark.parametrize("act", [lifecycle.pause, lifecycle.resume, lifecycle.stop])
def test_unknown_connector_is_refused(harness: Harness, act: object) -> None:
    with pytest.raises(NotFoundError, match=r"^Unknown connector x$"):
        act(harness.herder, "x")  # type: ignore[operator]
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.restart(harness.herder, "x", ALL)
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.restart_task(harness.herder, "x", 0)
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.run_now(harness.herder, "x")


def test_plain_restart_is_of_the_connector(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    assert lifecycle.restart(harness.herder, "a", RestartRequest()) is None
    assert states(harness) == ["RESTARTING", "RUNNING"]
    assert harness.scheduler.calls[-1] == ("retry", "a")
    harness.driver().plan()
    assert states(harness) == ["RUNNING", "RUNNING"]


def test_restart_with_tasks_answers_the_plan(harness: Harness) -> None:
    harness.create(config={**SINK, "tasks.max": "2"})
    harness.driver().plan()
    planned = lifecycle.restart(harness.herder, "a", ALL)
    assert planned is not None
    assert planned.connector.state.value == "RESTARTING"
    assert [task.state.value for task in planned.tasks] == ["RESTARTING", "RESTARTING"]
    assert states(harness) == ["RESTARTING", "RESTARTING", "RESTARTING"]


def test_restart_of_failed_takes_only_those(harness: Harness) -> None:
    harness.create(config={**SINK, "tasks.max": "2"})
    driver = harness.driver()
    driver.fail(driver.begin(2), [failed(1)])
    planned = lifecycle.restart(harness.herder, "a", FAILED)
    assert planned is not None
    assert [task.to_json().get("trace") for task in planned.tasks] == [None, "Traceback: boom"]
    assert states(harness) == ["RUNNING", "RUNNING", "RESTARTING"]
    driver.begin(2)
    assert states(harness) == ["RUNNING", "RUNNING", "RUNNING"]


def test_restart_of_nothing_failed_asks_nothing(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    before = list(harness.scheduler.calls)
    planned = lifecycle.restart(harness.herder, "a", FAILED)
    assert planned is not None
    assert states(harness) == ["RUNNING", "RUNNING"]
    assert harness.scheduler.calls == before


def test_connector_alone_leaves_its_failed_task(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.fail(driver.begin(), [failed()])
    lifecycle.restart(harness.herder, "a", RestartRequest())
    assert states(harness) == ["RUNNING", "FAILED"]
    with harness.database.read() as connection:
        assert connectors.get(connection, "a").failure == "Traceback: boom"


def test_failed_connector_restarts(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.plan()
    with harness.database.write() as connection:
        failure = {"trace": "Traceback: c", "is_retriable": False}
        connectors.record_failure(connection, "a", "driver", failure)
    assert states(harness) == ["FAILED", "RUNNING"]
    planned = lifecycle.restart(harness.herder, "a", RestartRequest(only_failed=True))
    assert planned is not None
    assert (planned.connector.state.value, planned.connector.trace) == ("RESTARTING", "Traceback: c")
    assert states(harness) == ["RESTARTING", "RUNNING"]
    driver.plan()
    assert states(harness) == ["RUNNING", "RUNNING"]


def test_failed_task_restarts_while_paused(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.fail(driver.begin(), [failed()])
    lifecycle.pause(harness.herder, "a")
    assert states(harness) == ["PAUSED", "FAILED"]
    lifecycle.restart_task(harness.herder, "a", 0)
    assert states(harness) == ["PAUSED", "PAUSED"]
    with harness.database.read() as connection:
        assert restarts.asked(connection, "a") == frozenset()
        assert connectors.get(connection, "a").failure is None


@pytest.mark.parametrize("task", [5, -1])
def test_unknown_task_is_refused(harness: Harness, task: int) -> None:
    harness.create()
    harness.driver().plan()
    with pytest.raises(NotFoundError, match=rf"^Unknown task: a-{task}$"):
        lifecycle.restart_task(harness.herder, "a", task)


def test_task_of_stopped_connector_is_a_conflict(harness: Harness) -> None:
    harness.create()
    harness.driver().begin()
    lifecycle.stop(harness.herder, "a")
    with pytest.raises(IllegalWorkerStateError, match="Resume it first"):
        lifecycle.restart_task(harness.herder, "a", 0)
    with pytest.raises(NotFoundError):
        lifecycle.restart_task(harness.herder, "a", 1)


def test_task_given_up_is_a_conflict_when_paused_after_a_stop_too(harness: Harness) -> None:
    harness.create()
    harness.driver().begin()
    lifecycle.stop(harness.herder, "a")
    lifecycle.pause(harness.herder, "a")
    with pytest.raises(IllegalWorkerStateError, match="Resume it first"):
        lifecycle.restart_task(harness.herder, "a", 0)


def test_run_now_is_a_trigger(harness: Harness) -> None:
    harness.create()
    assert lifecycle.run_now(harness.herder, "a") == "manual-1"
