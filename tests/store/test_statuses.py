"""Facts of status: complete, and of any number of connectors in three statements."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import event, insert

from connect_core.api.sink import IntervalKey
from connect_core.interval.effects import CommitInterval, RaiseEpoch, RecordAssignment, RecordAttempt, RestartInterval
from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome, TaskResult
from connect_core.store import Connection, Database, dag_states, restarts, statuses
from connect_core.store.clock import now
from connect_core.store.models import Connector, Interval, IntervalTask
from connect_core.store.statuses import ConnectorFacts
from tests.store.harness import Harness, failed

pytestmark = pytest.mark.slow


def facts_of(harness: Harness, name: str = "c") -> ConnectorFacts:
    with harness.database.read() as connection:
        (facts,) = statuses.load_facts(connection, [name])
    return facts


def test_new_connector_has_no_plan(harness: Harness) -> None:
    harness.create()
    facts = facts_of(harness)
    assert (facts.name, facts.target_state, facts.plugin_version) == ("c", TargetState.STARTED, "4.3.1")
    assert (facts.task_count, facts.interval, facts.failure, facts.worker) == (None, None, None, None)
    assert not facts.is_dag_paused


def test_unknown_names_are_left_out(harness: Harness) -> None:
    harness.create("a")
    harness.create("b")
    harness.delete("b")
    with harness.database.read() as connection:
        assert [one.name for one in statuses.load_facts(connection, ["a", "b", "x"])] == ["a"]
        assert [one.name for one in statuses.load_facts(connection)] == ["a"]


def test_assigned_tasks_show_before_any_interval(harness: Harness) -> None:
    harness.create()
    harness.drive(tasks=2)
    facts = facts_of(harness)
    assert (facts.task_count, facts.worker, facts.interval, facts.planned_version) == (2, "driver:1", None, 1)
    harness.do(RecordAssignment("c", "h", ({},), 7))
    assert facts_of(harness).planned_version == 7


def test_running_interval_has_a_heartbeat(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    harness.effects.heartbeat(key, key.epoch)
    interval = facts_of(harness).interval
    assert interval is not None
    assert (interval.sequence, interval.state) == (1, IntervalState.RUNNING)
    assert 0 <= (interval.heartbeat_age or 0) < 20


def test_failed_task_shows_its_trace(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive(tasks=2))
    harness.insert(key, tasks=2)
    done = TaskResult(0, TaskOutcome.DONE, host="worker:5")
    harness.do(RecordAttempt(key, key.epoch, (done, failed(1)), IntervalState.FAILED))
    interval = facts_of(harness).interval
    assert interval is not None
    assert [(one.task, one.outcome, one.trace, one.worker) for one in interval.tasks] == [
        (0, TaskOutcome.DONE, None, "worker:5"),
        (1, TaskOutcome.FAILED, "Traceback: boom", "worker:7"),
    ]
    assert harness.effects.schedule_retry("c", 60, 2)
    interval = facts_of(harness).interval
    assert interval is not None
    assert (interval.tries_left, interval.retry_at is not None) == (2, True)
    harness.do(RestartInterval(key, key.epoch, "sink-2", 2))
    interval = facts_of(harness).interval
    assert interval is not None
    assert (interval.state, interval.retry_at, interval.tries_left) == (IntervalState.PLANNED, None, 0)
    assert [one.outcome for one in interval.tasks] == [None, None]


def test_restarts_and_pause_show(harness: Harness) -> None:
    harness.create()
    with harness.database.write() as connection:
        restarts.ask(connection, "c", [restarts.CONNECTOR, 1])
        dag_states.store(connection, [dag_states.Dag("c", "c-1", True)])
    facts = facts_of(harness)
    assert (facts.restarting, facts.is_dag_paused) == (frozenset({-1, 1}), True)


def test_stop_clears_tasks_and_failures(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    harness.do(RecordAttempt(key, key.epoch, (failed(),), IntervalState.FAILED))
    harness.effects.record_failure("c", "h", "Traceback", is_retriable=False)
    harness.target(TargetState.STOPPED)
    facts = facts_of(harness)
    assert (facts.task_count, facts.failure) == (None, None)
    assert facts.interval is not None
    assert facts.interval.state is IntervalState.PLANNED


def test_earlier_life_does_not_show(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    harness.do(RecordAttempt(key, key.epoch, (failed(),), IntervalState.FAILED))
    harness.delete()
    harness.create()
    facts = facts_of(harness)
    assert (facts.interval, facts.task_count) == (None, None)


def test_committed_interval_shows_when(harness: Harness) -> None:
    harness.create()
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    assert facts_of(harness).committed_at is None
    harness.do(CommitInterval(key, key.epoch, ()))
    harness.do(RaiseEpoch("c", "h"))
    assert facts_of(harness).committed_at is not None


def _fill(connection: Connection, connectors: int, intervals: int) -> None:
    names = [f"connector-{number:04}" for number in range(connectors)]
    zero = {"records": 0, "bytes": 0, "skipped": 0, "dropped": 0, "fallbacks": 0, "late": 0, "future": 0}
    fixed = {"type": ConnectorType.SINK, "config": {"name": "x" * 40, "topics": "t" * 100}, "config_version": 1}
    state = {"incarnation": 1, "epoch": 1, "sequence": intervals, "tasks_ever": 2, "columns": {}, "topic_ids": {}}
    times = {"created_at": now(), "updated_at": now()}
    rows = [{"name": name, "task_count": 2, **state} for name in names]
    given = {"target_state": TargetState.STARTED, **times}
    connection.execute(insert(Connector).values(**given), [row | fixed for row in rows])
    held = {
        "incarnation": 1,
        "epoch": 1,
        "config_version": 1,
        "assignment": "sink-2",
        "tasks": 2,
        "attempts": 1,
        "ranges": [],
    }
    more = {"counts": zero, "records": 5, "tries_left": 0, "run_id": "r", "job_tag": "j", "worker": "w"}
    every = [(name, sequence) for name in names for sequence in range(1, intervals + 1)]
    stamps = {"planned_at": now(), "started_at": now(), "heartbeat_at": now()}
    done = {"state": IntervalState.COMMITTED, **held, **more}
    connection.execute(
        insert(Interval).values(**stamps), [{"connector": name, "sequence": one, **done} for name, one in every]
    )
    task = {"attempts": 1, "outcome": TaskOutcome.DONE, "counts": zero, "carried": zero, "worker": "w", "process": 1}
    flags = {"is_retriable": False, "is_staged": False}
    connection.execute(
        insert(IntervalTask),
        [
            {"connector": name, "sequence": one, "task": number, **task, **flags}
            for name, one in every
            for number in (0, 1)
        ],
    )


@contextmanager
def _counting(database: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def count(connection: object, cursor: object, statement: str, *rest: object) -> None:
        statements.append(statement)

    event.listen(database._engine, "before_cursor_execute", count)
    try:
        yield statements
    finally:
        event.remove(database._engine, "before_cursor_execute", count)


def test_a_mirror_that_has_not_changed_writes_nothing(harness: Harness) -> None:
    """It is stored every second, for all connectors: a thousand that wait would be a thousand rows a second."""
    harness.create("a")
    harness.create("b")
    dags = [dag_states.Dag(name, f"connect__{name}", is_paused=False) for name in ("a", "b")]
    with _counting(harness.database) as statements, harness.database.write() as connection:
        dag_states.store(connection, dags)
    assert len([one for one in statements if one.startswith("INSERT")]) == 2
    with _counting(harness.database) as statements, harness.database.write() as connection:
        dag_states.store(connection, dags)
    assert not [one for one in statements if not one.startswith(("SELECT", "BEGIN"))]
    with _counting(harness.database) as statements, harness.database.write() as connection:
        dag_states.store(connection, [dags[0], replace(dags[1], is_paused=True)])
    assert len([one for one in statements if one.startswith("UPDATE")]) == 1


def test_many_connectors_take_few_statements(database: Database) -> None:
    with database.write() as connection:
        _fill(connection, 1000, 5)
    for names in (None, ["connector-0500"]):
        with _counting(database) as statements, database.read() as connection:
            began = time.perf_counter()
            facts = statuses.load_facts(connection, names)
            took = time.perf_counter() - began
        assert len([one for one in statements if one.startswith("SELECT")]) == 3
        assert len(facts) == (1000 if names is None else 1)
        assert all(one.interval and len(one.interval.tasks) == 2 for one in facts)
        assert took < 1.5


def test_retry_needs_a_failed_interval(harness: Harness) -> None:
    harness.create()
    assert not harness.effects.schedule_retry("c", 1, 0)
