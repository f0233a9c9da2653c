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
from tests.herder.worlds import SINK, World
from tests.store.worlds import failed

pytestmark = pytest.mark.slow

ALL = RestartRequest(include_tasks=True)
FAILED = RestartRequest(only_failed=True, include_tasks=True)


def target_of(world: World) -> TargetState:
    with world.database.read() as connection:
        return connectors.get(connection, "a").target_state


def states(world: World) -> list[str]:
    status = get_status(world.herder, "a")
    return [status.connector.state.value, *(task.state.value for task in status.tasks)]


def test_acts_reach_database_and_scheduler(world: World) -> None:
    world.create()
    for act, target in (
        (lifecycle.pause, TargetState.PAUSED),
        (lifecycle.resume, TargetState.STARTED),
        (lifecycle.stop, TargetState.STOPPED),
    ):
        act(world.herder, "a")
        assert target_of(world) is target
    assert world.scheduler.calls == [("deploy", "a"), ("pause", "a"), ("resume", "a"), ("pause", "a")]


def test_pausing_a_stopped_connector_leaves_no_task(world: World) -> None:
    world.create()
    world.driver().plan()
    lifecycle.stop(world.herder, "a")
    lifecycle.pause(world.herder, "a")
    assert states(world) == ["PAUSED"]


def test_resume_is_seen_before_the_mirror(world: World) -> None:
    world.create()
    world.driver().plan()
    lifecycle.pause(world.herder, "a")
    with world.database.write() as connection:
        dag_states.store(connection, [Dag("a", "a-1", True)])
    lifecycle.resume(world.herder, "a")
    assert states(world) == ["RUNNING", "RUNNING"]


def test_acts_are_audited_once(world: World) -> None:
    world.create()
    lifecycle.pause(world.herder, "a")
    lifecycle.pause(world.herder, "a")
    with world.database.read() as connection:
        acts = [one.act for one in audit.history(connection, "a")]
    assert acts[0] == Act("jo", "paused", "a", {"target_state": "STARTED"}, {"target_state": "PAUSED"})
    assert [act.action for act in acts] == ["paused", "create"]


def test_what_the_scheduler_cannot_do_becomes_a_request(world: World) -> None:
    world.create()
    world.scheduler.is_down = True
    lifecycle.pause(world.herder, "a")
    assert target_of(world) is TargetState.PAUSED
    with world.database.write() as connection:
        (claimed,) = requests.claim(connection, "watcher", 60)
    assert (claimed.asked.kind, claimed.asked.connector) == ("pause", "a")


@pytest.mark.parametrize("act", [lifecycle.pause, lifecycle.resume, lifecycle.stop])
def test_unknown_connector_is_refused(world: World, act: object) -> None:
    with pytest.raises(NotFoundError, match=r"^Unknown connector x$"):
        act(world.herder, "x")  # type: ignore[operator]
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.restart(world.herder, "x", ALL)
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.restart_task(world.herder, "x", 0)
    with pytest.raises(NotFoundError, match=r"^Unknown connector: x$"):
        lifecycle.run_now(world.herder, "x")


def test_plain_restart_is_of_the_connector(world: World) -> None:
    world.create()
    world.driver().plan()
    assert lifecycle.restart(world.herder, "a", RestartRequest()) is None
    assert states(world) == ["RESTARTING", "RUNNING"]
    assert world.scheduler.calls[-1] == ("retry", "a")
    world.driver().plan()
    assert states(world) == ["RUNNING", "RUNNING"]


def test_restart_with_tasks_answers_the_plan(world: World) -> None:
    world.create(config={**SINK, "tasks.max": "2"})
    world.driver().plan()
    planned = lifecycle.restart(world.herder, "a", ALL)
    assert planned is not None
    assert planned.connector.state.value == "RESTARTING"
    assert [task.state.value for task in planned.tasks] == ["RESTARTING", "RESTARTING"]
    assert states(world) == ["RESTARTING", "RESTARTING", "RESTARTING"]


def test_restart_of_failed_takes_only_those(world: World) -> None:
    world.create(config={**SINK, "tasks.max": "2"})
    driver = world.driver()
    driver.fail(driver.begin(2), [failed(1)])
    planned = lifecycle.restart(world.herder, "a", FAILED)
    assert planned is not None
    assert [task.to_json().get("trace") for task in planned.tasks] == [None, "Traceback: boom"]
    assert states(world) == ["RUNNING", "RUNNING", "RESTARTING"]
    driver.begin(2)
    assert states(world) == ["RUNNING", "RUNNING", "RUNNING"]


def test_restart_of_nothing_failed_asks_nothing(world: World) -> None:
    world.create()
    world.driver().plan()
    before = list(world.scheduler.calls)
    planned = lifecycle.restart(world.herder, "a", FAILED)
    assert planned is not None
    assert states(world) == ["RUNNING", "RUNNING"]
    assert world.scheduler.calls == before


def test_connector_alone_leaves_its_failed_task(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.fail(driver.begin(), [failed()])
    lifecycle.restart(world.herder, "a", RestartRequest())
    assert states(world) == ["RUNNING", "FAILED"]
    with world.database.read() as connection:
        assert connectors.get(connection, "a").failure == "Traceback: boom"


def test_failed_connector_restarts(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.plan()
    with world.database.write() as connection:
        failure = {"trace": "Traceback: c", "is_retriable": False}
        connectors.record_failure(connection, "a", "driver", failure)
    assert states(world) == ["FAILED", "RUNNING"]
    planned = lifecycle.restart(world.herder, "a", RestartRequest(only_failed=True))
    assert planned is not None
    assert (planned.connector.state.value, planned.connector.trace) == ("RESTARTING", "Traceback: c")
    assert states(world) == ["RESTARTING", "RUNNING"]
    driver.plan()
    assert states(world) == ["RUNNING", "RUNNING"]


def test_failed_task_restarts_while_paused(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.fail(driver.begin(), [failed()])
    lifecycle.pause(world.herder, "a")
    assert states(world) == ["PAUSED", "FAILED"]
    lifecycle.restart_task(world.herder, "a", 0)
    assert states(world) == ["PAUSED", "PAUSED"]
    with world.database.read() as connection:
        assert restarts.asked(connection, "a") == frozenset()
        assert connectors.get(connection, "a").failure is None


def test_unknown_task_is_refused(world: World) -> None:
    world.create()
    world.driver().plan()
    with pytest.raises(NotFoundError, match=r"^Unknown task: a-5$"):
        lifecycle.restart_task(world.herder, "a", 5)


def test_task_of_stopped_connector_is_a_conflict(world: World) -> None:
    world.create()
    world.driver().begin()
    lifecycle.stop(world.herder, "a")
    with pytest.raises(IllegalWorkerStateError, match="Resume it first"):
        lifecycle.restart_task(world.herder, "a", 0)
    with pytest.raises(NotFoundError):
        lifecycle.restart_task(world.herder, "a", 1)


def test_task_given_up_is_a_conflict_when_paused_after_a_stop_too(world: World) -> None:
    world.create()
    world.driver().begin()
    lifecycle.stop(world.herder, "a")
    lifecycle.pause(world.herder, "a")
    with pytest.raises(IllegalWorkerStateError, match="Resume it first"):
        lifecycle.restart_task(world.herder, "a", 0)


def test_run_now_is_a_trigger(world: World) -> None:
    world.create()
    assert lifecycle.run_now(world.herder, "a") == "manual-1"
