"""What counts as waiting work, and which stall has which reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from connect_core.herder.stalls import Cause, Deployment, stall_of
from connect_core.herder.status import compute_status
from connect_core.herder.waiting import Work, work_of
from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.reports import PartReport
from connect_core.store.statuses import FailureFacts, TaskFacts, WaitingFacts
from tests.herder.test_status import BROKEN, FAILURE, RETRIABLE, facts, interval

NOW = datetime.now(UTC)
SINCE = NOW - timedelta(seconds=70)
CRON = {"config": {"schedule": "0 3 * * *"}}
SOURCE = {"type": ConnectorType.SOURCE}
RETRIED = interval(IntervalState.FAILED, RETRIABLE, retry_at=NOW + timedelta(minutes=1), tries_left=1)
RUNS = interval(IntervalState.RUNNING)

WORK: list[tuple[str, dict[str, Any], int | None, bool, Work | None]] = [
    ("records wait", {}, 5, False, Work.RECORDS),
    ("nothing waits", {}, 0, False, None),
    ("lag unknown", {}, None, False, None),
    ("no plan yet", {"task_count": None}, None, False, Work.PLAN),
    ("new config", {"config_version": 2}, None, False, Work.CONFIG),
    ("restart asked for", {"restarting": frozenset({0})}, None, False, Work.RESTART),
    ("interval runs", {"interval": RUNS}, 5, False, Work.INTERVAL),
    ("interval waits for its retry", {"interval": RETRIED}, 5, False, Work.RETRY),
    ("a source's run is due in Airflow", SOURCE, None, True, Work.RUN),
    ("a source's run is not due", SOURCE, None, False, None),
    ("task failed", {"interval": BROKEN}, 5, True, None),
    ("connector failed", {"failure": FAILURE}, 5, True, None),
    ("paused", {"target_state": TargetState.PAUSED}, 5, True, None),
    ("DAG paused", {"is_dag_paused": True}, 5, True, None),
    ("stopped, its interval unfinished", {"target_state": TargetState.STOPPED, "interval": RUNS}, 5, True, None),
    ("cron waits for its time", CRON, 5, False, None),
    ("cron has no plan yet", {**CRON, "task_count": None}, None, False, None),
    ("cron's restart was asked for", {**CRON, "restarting": frozenset({-1})}, None, False, Work.RESTART),
    ("cron's interval runs", {**CRON, "interval": RUNS}, None, False, Work.INTERVAL),
    ("cron's run is due in Airflow", CRON, 5, True, Work.RUN),
]


@pytest.mark.parametrize(
    ("changed", "lag", "is_run_due", "expected"), [row[1:] for row in WORK], ids=[row[0] for row in WORK]
)
def test_work_that_waits(changed: dict[str, Any], lag: int | None, is_run_due: bool, expected: Work | None) -> None:
    assert work_of(facts(**changed), NOW, lag, is_run_due=is_run_due) is expected


def waits(age: float = 70.0, work: Work = Work.RECORDS, **changed: Any) -> WaitingFacts:
    return WaitingFacts(work.value, SINCE, age, **changed)


def part(name: str, worked_age: float | None = 1.0, reported_age: float = 1.0, error: str | None = None) -> PartReport:
    worked_at = None if worked_age is None else NOW - timedelta(seconds=worked_age)
    return PartReport(name, worked_at, worked_age, reported_age, error)


def deployment(*changed: PartReport, **more: Any) -> Deployment:
    names = ("watcher", "kafka", "airflow", "scheduler", "triggerer", "dag_processor")
    return Deployment({name: part(name) for name in names} | {one.part: one for one in changed}, **more)


QUEUED: dict[str, Any] = {"run_id": "r", "run_state": "queued", "run_since": SINCE}
UNSTARTED = TaskFacts(0, None, None, False, "", is_started=False)
SPARK_FULL = interval(IntervalState.RUNNING, UNSTARTED)
STALLS: list[tuple[str, dict[str, Any], Deployment, Cause, str]] = [
    ("broker deaf", {"waiting": waits()}, deployment(part("kafka", 65, 1, "timed out")), Cause.KAFKA, "timed out"),
    ("broker deaf, work unknown", {}, deployment(part("kafka", 65, 1, "timed out")), Cause.KAFKA, "is unknown"),
    (
        "plan failed, tries left",
        {
            "waiting": waits(),
            "failure": FailureFacts('Traceback:\n  File "a"\nRetriableError: no leader\n', True, 1, True),
        },
        deployment(),
        Cause.RETRY,
        "its last plan failed and is tried again: RetriableError: no leader",
    ),
    (
        "heartbeat old",
        {"interval": interval(IntervalState.RUNNING, heartbeat_age=61.0)},
        deployment(),
        Cause.HEARTBEAT,
        "no heartbeat since",
    ),
    (
        "Spark full",
        {"interval": SPARK_FULL, "waiting": waits(work=Work.INTERVAL)},
        deployment(),
        Cause.SPARK,
        "Spark has started no task of interval 1",
    ),
    (
        "task hangs",
        {"interval": RUNS, "waiting": waits(work=Work.INTERVAL)},
        deployment(),
        Cause.SLOW,
        "moved nothing since",
    ),
    (
        "retry",
        {"interval": RETRIED, "waiting": waits(work=Work.RETRY)},
        deployment(),
        Cause.RETRY,
        "the next one is at",
    ),
    (
        "no triggerer",
        {"waiting": waits(records=7)},
        deployment(part("watcher", 65, 65)),
        Cause.TRIGGERER,
        "no triggerer: the watcher has not reported since",
    ),
    ("never any triggerer", {"waiting": waits()}, Deployment({}), Cause.TRIGGERER, "has never reported"),
    ("no triggerer, a source", SOURCE, deployment(part("watcher", 65, 65)), Cause.TRIGGERER, "whether data is waiting"),
    ("Airflow deaf", {"waiting": waits()}, deployment(part("airflow", 65, 1, "no")), Cause.AIRFLOW, "Airflow has not"),
    ("no scheduler", {"waiting": waits()}, deployment(part("scheduler", 65)), Cause.SCHEDULER, "no scheduler"),
    (
        "no DAG processor",
        {"waiting": waits(work=Work.PLAN), "task_count": None},
        deployment(part("dag_processor", 65)),
        Cause.DAG_PROCESSOR,
        "no DAG processor",
    ),
    ("queued", {"waiting": waits(**QUEUED)}, deployment(), Cause.QUEUED, "its run has been queued since"),
    ("queued again", {"waiting": waits(**QUEUED, cleared=2)}, deployment(), Cause.QUEUED, "again 2 times; restart"),
    (
        "no slot",
        {"waiting": waits(run_id="r", run_state="scheduled", run_pool="small")},
        deployment(),
        Cause.SLOT,
        "core.parallelism or pool small",
    ),
    ("no run", {"waiting": waits()}, deployment(), Cause.NO_RUN, "Airflow has not created a run of it"),
    ("standalone", {"waiting": waits()}, Deployment({}, is_airflow=False), Cause.UNKNOWN, "unknown reason"),
]


@pytest.mark.parametrize(
    ("changed", "known", "cause", "text"), [row[1:] for row in STALLS], ids=[row[0] for row in STALLS]
)
def test_stall_has_its_reason(changed: dict[str, Any], known: Deployment, cause: Cause, text: str) -> None:
    found = stall_of(facts(**changed), known)
    assert found is not None
    assert found.cause is cause
    assert text in found.reason


FINE: list[tuple[str, dict[str, Any], Deployment]] = [
    ("nothing waits", {}, deployment()),
    ("waits for a short while", {"waiting": waits(59.0)}, deployment()),
    ("waits less than set", {"waiting": waits(100.0)}, deployment(stalled_after=101.0)),
    ("nobody tells of Kafka any more", {}, deployment(part("kafka", 300, 300, "timed out"))),
    ("no triggerer, but nothing waits for the sink", {}, deployment(part("watcher", 300, 300))),
    ("no triggerer for a short while", SOURCE, deployment(part("watcher", 50, 50))),
    ("no triggerer, but the source runs", {**SOURCE, "interval": RUNS}, deployment(part("watcher", 300, 300))),
    ("no triggerer in standalone", SOURCE, Deployment({}, is_airflow=False)),
    ("cron, no triggerer", {**SOURCE, **CRON}, deployment(part("watcher", 300, 300))),
    ("paused", {"target_state": TargetState.PAUSED, "waiting": waits()}, deployment()),
    ("DAG paused", {"is_dag_paused": True, "waiting": waits()}, deployment()),
]


@pytest.mark.parametrize(("changed", "known"), [row[1:] for row in FINE], ids=[row[0] for row in FINE])
def test_no_stall_where_nothing_is_wrong(changed: dict[str, Any], known: Deployment) -> None:
    assert stall_of(facts(**changed), known) is None


def test_what_failed_is_not_called_stalled() -> None:
    failed = TaskFacts(0, TaskOutcome.FAILED, "Traceback: t", False, "worker:7")
    known = facts(interval=interval(IntervalState.FAILED, failed), waiting=waits())
    assert compute_status(known, "", deployment()).stall is None
    assert compute_status(facts(waiting=waits()), "", deployment()).is_stalled


def test_status_of_connects_own_form_stays_as_it_is() -> None:
    shown = compute_status(facts(waiting=waits()), "", deployment()).to_json()
    assert list(shown) == ["name", "connector", "tasks", "type"]
    assert shown["connector"]["state"] == "RUNNING"
