"""Spark executes a task more than once; records go between plan and read; a sink begins at the end."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from connect_core.commit.interval import Committed
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.effects.perform import perform
from connect_core.errors import DataLossError
from connect_core.herder.readiness import Readiness, readiness
from connect_core.interval.effects import ReadPartitionEnds
from connect_core.interval.values import TaskOutcome, TaskResult
from connect_core.plan.run import end_run
from connect_core.store.statuses import load_facts
from connect_core.task.failures import error_of
from tests.recovery.sinks import NAME, Sink, lines, new_database, topics_of

pytestmark = pytest.mark.slow


def sink_of(root: Path, *values: str, **settings: object) -> Sink:
    config = {"file": "out.txt", "topics": "t"}
    sink = Sink(root, topics_of(*values), new_database(root), config, settings=settings)
    sink.create()
    return sink


@pytest.mark.parametrize("first_wins", [True, False])
@pytest.mark.parametrize("connector", [FileStreamSinkConnector, FileSystemSinkConnector])
def test_a_task_executed_twice_stages_twice_and_is_committed_once(
    tmp_path: Path, connector: type, first_wins: bool
) -> None:
    """Speculation, or an executor lost after it has staged: same plan, same attempt."""
    config = {"file": "out.txt", "path": "lake", "topics": "t"}
    sink = Sink(tmp_path, topics_of("a", "b"), new_database(tmp_path), config, connector)
    sink.create()
    planned = sink.plan(sink.run_of("run h 1"))
    assert planned.plan is not None
    executions = [[sink.execute(task) for task in planned.plan.tasks] for _ in range(2)]
    assert sink.commit(planned, executions[0 if first_wins else 1]) is Committed.COMMITTED
    shown = lines(tmp_path / "out.txt") or [place.name for place in (tmp_path / "lake" / "t").rglob("*.parquet")]
    assert shown in (["a", "b"], ["t+0+00000000000000000000+00000000000000000002.parquet"])


def test_latest_begins_where_the_topic_ended_at_the_first_plan(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, "old", offset_reset="latest")
    assert sink.work() == ["IDLE"]
    assert sink.positions() == {"t-0": 1}
    for value in ("new-0", "new-1"):
        sink.topics.produce(value)
        assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["new-0", "new-1"]


def test_latest_of_an_empty_topic_reads_what_arrives_after_the_first_plan(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, offset_reset="latest")
    assert sink.work() == ["IDLE"]
    sink.topics.produce("first")
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["first"]


def test_where_latest_begins_is_of_that_topic_only(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, "old", offset_reset="latest")
    sink.work()
    sink.topics.create("t", "new-0", "new-1")
    with pytest.raises(DataLossError, match="deleted and created again"):
        sink.work()


def test_an_adopted_group_is_kept_though_it_expires(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, "a", "b")
    sink.topics.group = dict.fromkeys(sink.topics.ends(ReadPartitionEnds(("t",))), 2)
    assert sink.work() == ["IDLE"]
    sink.topics.group.clear()
    sink.topics.produce("c")
    assert sink.work() == ["COMMITTED", "IDLE"]
    assert lines(tmp_path / "out.txt") == ["c"]


@pytest.mark.parametrize("policy", ["skip", "fail"])
def test_retention_between_plan_and_read(tmp_path: Path, policy: str) -> None:
    sink = sink_of(tmp_path, *(f"r{at}" for at in range(6)), data_loss=policy)
    planned = sink.plan(sink.run_of("run h 1"))
    sink.topics.earliest["t"] = 4
    error = error_of(DataLossError("Planned records of t-0 at offset 0 no longer exist"))
    outcome = sink.commit(planned, [TaskResult(0, TaskOutcome.FAILED, error=error)])
    assert outcome is (Committed.UNCLEAR if policy == "skip" else Committed.FAILED)
    perform(end_run(planned.run), sink.handlers())
    with sink.database.read() as connection:
        (facts,) = load_facts(connection, [NAME])
    assert readiness(facts, datetime.now(UTC)) is (Readiness.DUE if policy == "skip" else Readiness.HELD)
    if policy == "skip":
        assert sink.work() == ["COMMITTED", "IDLE"]
        assert lines(tmp_path / "out.txt") == ["r4", "r5"]
