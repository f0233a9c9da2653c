"""DAGs, waits and acts on a real Airflow; the engine is a stand-in that moves counters."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from connect_core.dag.naming import dag_id_of
from connect_core.dag.past_runs import PastRuns
from connect_core.dag.scheduler import RequestingScheduler
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import connectors
from connect_core.store.retention import Retention
from tests.dag.live import Live, eventually
from tests.dag.stub import stub_world

pytestmark = pytest.mark.servers


def nth_run(live: Live, number: int) -> Any:
    return next(iter(live.runs("wakes")[number:]), None)


def has_ended(live: Live, number: int) -> bool:
    return len(live.ended("past")) > number


def test_dag_appears_within_seconds_and_waits_without_a_run(live: Live) -> None:
    began = time.monotonic()
    dag_id = live.create("idle sink/äöü")
    deployed = time.monotonic() - began
    eventually(lambda: live.is_watched("idle sink/äöü"))
    print(f"\ndeployed in {deployed:.1f} s, watched after {time.monotonic() - began:.1f} s")
    # Housekeeping may be sweeping at first.
    eventually(lambda: live.pool()["occupied_slots"] == 0 or None)
    assert live.api.latest_runs(dag_id) == ()
    assert live.runs("idle sink/äöü") == []


def test_data_makes_a_run_and_the_connector_waits_again(live: Live) -> None:
    live.create("wakes")
    eventually(lambda: live.is_watched("wakes"))
    for number in range(3):
        told = time.time()
        stub_world.say("wakes", records=5)
        run = eventually(partial(nth_run, live, number))
        print(f"\ndata to run: {run['at'] - told:.1f} s")
        assert not run["asked"]
        assert run["continuous"]
        live.until_state("wakes", run["run_id"], "success")
    assert [end["records"] for end in live.ended("wakes")] == [5, 5, 5]
    assert len({run["run_id"] for run in live.runs("wakes")}) == 3
    assert len(live.asset_runs("wakes")) == 3


@pytest.mark.matrix
def test_polled_connector_gets_a_run_every_so_often(live: Live) -> None:
    stub_world.say("polled", check="poll", poll_seconds=1)
    live.create("polled")
    eventually(lambda: len(live.runs("polled")) >= 2 or None)
    one, other = [run["at"] for run in live.runs("polled")][:2]
    assert other - one >= 1
    stub_world.say("polled", check="never")


@pytest.mark.matrix
def test_manual_run_of_an_idle_connector_starts_at_once(live: Live) -> None:
    live.create("by hand")
    eventually(lambda: live.is_watched("by hand"))
    told = time.time()
    run_id = live.scheduler.trigger("by hand")
    run = eventually(lambda: next(iter(live.runs("by hand")), None))
    print(f"\ntrigger to run: {run['at'] - told:.1f} s")
    assert (run["run_id"], run["asked"]) == (run_id, True)
    live.until_state("by hand", run_id, "success")
    assert live.ended("by hand")[0]["status"] == "idle"


@pytest.mark.matrix
def test_manual_run_of_a_busy_connector_waits_for_the_end_of_its_run(live: Live) -> None:
    stub_world.say("in turn", records=3, seconds=5)
    live.create("in turn")
    eventually(lambda: live.runs("in turn") or None)
    run_id = live.scheduler.trigger("in turn")
    live.until_state("in turn", run_id, "success")
    assert [end["status"] for end in live.ended("in turn")] == ["drained", "idle"]


@pytest.mark.matrix
def test_manual_run_of_a_cron_connector_starts_in_the_worker(live: Live) -> None:
    stub_world.say("cron", records=0)
    live.create("cron", schedule="0 0 1 1 *")
    eventually(lambda: next(iter(live.ended("cron")), None))
    stub_world.say("cron", records=7)
    told = time.time()
    run_id = live.scheduler.trigger("cron")
    live.until_state("cron", run_id, "success")
    run = next(one for one in live.runs("cron") if one["run_id"] == run_id)
    print(f"\ntrigger to run: {run['at'] - told:.1f} s")
    assert live.ended("cron")[-1]["records"] == 7
    assert live.links("cron", run_id) == {"Spark job": "http://127.0.0.1:4040/jobs/?tag=cron"}


@pytest.mark.matrix
def test_run_is_skipped_while_another_holds_the_connector(live: Live) -> None:
    live.create("held", schedule="@none")
    stub_world.say("held", records=1)
    with stub_world.path("held", "lock").open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        run_id = live.scheduler.trigger("held")
        assert live.until_state("held", run_id, "skipped", "failed", "success") == "skipped"
    assert live.ended("held")[-1]["status"] == "skipped"


@pytest.mark.matrix
def test_retriable_error_is_retried_with_backoff(live: Live) -> None:
    live.create("shaky", schedule="@none")
    stub_world.say("shaky", records=3, retriable=2)
    run_id = live.scheduler.trigger("shaky")
    assert live.until_state("shaky", run_id, "success", "failed") == "success"
    first, second, third = (run["at"] for run in live.runs("shaky"))
    assert second - first >= 5
    assert third - second >= 10
    assert live.task("shaky", run_id)["try_number"] == 3


@pytest.mark.matrix
def test_clearing_a_failed_and_a_committed_run_is_safe(live: Live) -> None:
    dag_id = live.create("cleared", schedule="@none")
    stub_world.say("cleared", records=3, fatal="a wrong key")
    run_id = live.scheduler.trigger("cleared")
    assert live.until_state("cleared", run_id, "failed", "success") == "failed"
    assert len(live.runs("cleared")) == 1
    eventually(lambda: live.api.latest_runs(dag_id)[0].state == "failed" or None)
    stub_world.say("cleared", failed=None)
    live.scheduler.retry("cleared")
    eventually(lambda: live.api.latest_runs(dag_id)[0].state == "success" or None)
    live.api.clear(dag_id, run_id)
    eventually(lambda: len(live.ended("cleared")) == 2 or None)
    assert live.until_state("cleared", run_id, "success") == "success"
    assert [end["records"] for end in live.ended("cleared")] == [3, 0]


def test_failed_continuous_connector_is_no_hot_loop_and_restarts(live: Live) -> None:
    live.create("broken")
    eventually(lambda: live.is_watched("broken"))
    stub_world.say("broken", records=3, fatal="a wrong key")
    run = eventually(lambda: next(iter(live.runs("broken")), None))
    live.until_state("broken", run["run_id"], "failed")
    dag_id = dag_id_of("broken")
    eventually(lambda: live.api.latest_runs(dag_id)[0].state == "failed" or None)
    time.sleep(5)
    assert len(live.runs("broken")) == 1
    stub_world.say("broken", failed=None)
    live.scheduler.retry("broken")
    eventually(lambda: live.ended("broken") or None)
    assert live.ended("broken")[-1]["records"] == 3


@pytest.mark.matrix
def test_continuous_connector_whose_failure_nobody_recorded_is_no_hot_loop(live: Live) -> None:
    live.create("crashing", **{"schedule.retries": "0"})
    eventually(lambda: live.is_watched("crashing"))
    stub_world.say("crashing", records=1, crashes=True)
    eventually(lambda: len(live.runs("crashing")) == 2 or None, 120)
    one, other = (run["at"] for run in live.runs("crashing"))
    assert other - one > 10
    stub_world.say("crashing", crashes=False)


def test_pausing_the_dag_stops_the_connector_until_it_is_unpaused(live: Live) -> None:
    live.create("paused")
    eventually(lambda: live.is_watched("paused"))
    live.scheduler.pause("paused")
    told = time.monotonic()
    eventually(lambda: live.is_mirrored_as_paused("paused"))
    assert time.monotonic() - told < 20
    stub_world.say("paused", records=2)
    eventually(lambda: not live.is_watched("paused"))
    assert live.runs("paused") == []
    told = time.monotonic()
    live.scheduler.resume("paused")
    eventually(lambda: live.ended("paused") or None)
    print(f"\nunpaused to the end of its run: {time.monotonic() - told:.1f} s")
    assert [end["records"] for end in live.ended("paused")] == [2]
    eventually(lambda: live.is_mirrored_as_paused("paused") is False)


def test_unpausing_in_airflow_resumes_the_connector(live: Live) -> None:
    live.create("resumed")
    with live.database.write() as connection:
        connectors.set_target_state(connection, "resumed", TargetState.PAUSED)
    live.scheduler.pause("resumed")
    eventually(lambda: live.is_mirrored_as_paused("resumed"))
    live.scheduler.resume("resumed")

    def target() -> TargetState:
        with live.database.read() as connection:
            return connectors.get(connection, "resumed").target_state

    eventually(lambda: target() is TargetState.STARTED or None)


def test_killing_a_task_interrupts_its_spark_job(live: Live) -> None:
    live.create("killed", schedule="@none")
    stub_world.say("killed", records=3, seconds=60)
    run_id = live.scheduler.trigger("killed")
    eventually(lambda: live.runs("killed") or None)
    live.mark("killed", run_id, "failed")
    eventually(lambda: live.ended("killed") or None)
    assert live.ended("killed")[-1]["status"] == "stopped"


def test_task_process_that_dies_is_tried_again(live: Live) -> None:
    live.create("murdered", schedule="@none")
    stub_world.say("murdered", records=3, seconds=60)
    run_id = live.scheduler.trigger("murdered")
    run = eventually(lambda: next(iter(live.runs("murdered")), None))
    os.kill(run["pid"], signal.SIGKILL)
    stub_world.say("murdered", seconds=0)
    assert live.until_state("murdered", run_id, "success", "failed") == "success"
    assert [end["records"] for end in live.ended("murdered")] == [3]
    assert live.runs("murdered")[1]["asked"]


def test_requests_are_carried_out_by_the_watcher(live: Live) -> None:
    asking = RequestingScheduler(live.database, "alice")
    with live.database.write() as connection:
        new = connectors.NewConfig(ConnectorType.SINK, {"schedule": "@none"})
        connectors.create(connection, "asked", new, TargetState.STARTED)
    asking.deploy("asked")
    asking.trigger("asked")
    eventually(lambda: live.ended("asked") or None)
    with live.database.write() as connection:
        connectors.set_target_state(connection, "asked", TargetState.PAUSED)
    asking.pause("asked")
    eventually(lambda: live.is_mirrored_as_paused("asked"))


@pytest.mark.matrix
def test_schedule_change_reaches_the_dag(live: Live) -> None:
    live.create("moved", schedule="@none")
    with live.database.write() as connection:
        new = connectors.NewConfig(ConnectorType.SINK, {"schedule": "PT1H"})
        connectors.replace_config(connection, connectors.get(connection, "moved"), new)
    live.scheduler.deploy("moved")
    eventually(lambda: live.ended("moved") or None)


def test_deleted_connector_loses_its_dag_while_it_waits(live: Live) -> None:
    dag_id = live.create("gone")
    eventually(lambda: live.is_watched("gone"))
    with live.database.write() as connection:
        connectors.delete(connection, "gone")
    live.scheduler.remove("gone")
    assert live.api.file_of(dag_id) is None
    eventually(lambda: not live.is_watched("gone"))


@pytest.mark.matrix
def test_no_dag_gets_a_second_version_by_being_parsed_again(live: Live) -> None:
    dag_id = live.create("stable")
    before = live.api.file_of(dag_id)
    for _ in range(2):
        live.scheduler.deploy("stable")
    assert live.api.file_of(dag_id) != before
    for name in (dag_id, "connect_housekeeping"):
        assert live.api.call("GET", f"/dags/{name}/dagVersions")["total_entries"] == 1
    assert live.api.call("GET", "/importErrors")["total_entries"] == 0
    assert live.api.call("GET", "/dagWarnings")["total_entries"] == 0


def test_asset_events_tell_what_was_moved(live: Live) -> None:
    live.create("told", schedule="@none", **{"schedule.outlets": "kafka://cluster/told"})
    live.scheduler.trigger("told")
    eventually(lambda: live.ended("told") or None)
    stub_world.say("told", records=4)
    run_id = live.scheduler.trigger("told")
    live.until_state("told", run_id, "success")

    def events() -> list[tuple[str, int]]:
        answer = live.api.call("GET", "/assets/events", params={"source_dag_id": live.task("told", run_id)["dag_id"]})
        return sorted((one["name"], one["extra"]["records"]) for one in answer["asset_events"])

    assert events() == [("kafka://cluster/found", 4), ("kafka://cluster/told", 4)]


def test_housekeeping_sweeps(live: Live) -> None:
    live.create("swept beside")

    def tasks() -> list[dict[str, Any]] | None:
        found = live.api.call("GET", "/dags/connect_housekeeping/dagRuns/~/taskInstances")["task_instances"]
        states = {task["task_id"]: task["state"] for task in found}
        return found if states == {"watch": "deferred", "sweep": "success"} else None

    run_id = quote(eventually(tasks)[0]["dag_run_id"], safe="")
    path = f"/dags/connect_housekeeping/dagRuns/{run_id}/taskInstances/sweep/xcomEntries/return_value"
    assert "'runs': 0" in str(live.api.call("GET", path)["value"])


@pytest.mark.matrix
def test_past_runs_are_dropped_but_the_last_ones_and_what_has_not_ended(live: Live) -> None:
    stub_world.say("past", records=1)
    dag_id = live.create("past")
    for number in range(5):
        eventually(partial(has_ended, live, number))
        stub_world.say("past", records=1)
    stub_world.say("past", check="never", seconds=30)
    open_run = live.scheduler.trigger("past")
    eventually(lambda: live.runs("past")[-1]["run_id"] == open_run)

    def left() -> list[tuple[str, str]]:
        return [(run.run_id, run.state) for run in live.api.latest_runs(dag_id, 100)]

    eventually(lambda: [state for _, state in left() if state != "success"] == ["running"])
    before = left()
    ended = [run for run in before if run[1] == "success"]
    dropped = PastRuns(live.api, [dag_id], Retention(timedelta(days=1), 2)).forget()
    assert (dropped, left()) == (len(ended) - 2, before[: len(before) - dropped])
    assert PastRuns(live.api, [dag_id], Retention(timedelta(0), 2)).forget() == 2
    assert left() == [(open_run, "running")]
    stub_world.say("past", interrupted=True)
