"""Intervals: every act only while the epoch is mine; of racers exactly one wins."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange, Staged
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    InsertInterval,
    LoadConnector,
    LoadOffsets,
    LoadUnfinished,
    RaiseEpoch,
    RecordAssignment,
    RecordAttempt,
    RepairOffsets,
    RestartInterval,
    TakeLease,
)
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalRow,
    IntervalState,
    LostRecords,
    OffsetProjection,
    SourceBounds,
    TargetState,
    TaskOutcome,
    TaskResult,
    TopicPosition,
)
from connect_core.store import attempts, audit, offsets, restarts, topics
from connect_core.store.attempts import TaskProgress
from connect_core.store.interval_history import list_intervals
from tests.store.harness import Harness, failed, race

pytestmark = pytest.mark.slow

PART = TopicPartition("t", 0)


def at(end: int) -> TopicPosition:
    return TopicPosition("offsets", "id", {0: end})


@pytest.fixture
def key(harness: Harness) -> IntervalKey:
    harness.create("c")
    return IntervalKey("c", 1, 1, harness.drive())


def test_inserted_interval_is_unfinished(harness: Harness, key: IntervalKey) -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    row = IntervalRow(
        key,
        IntervalState.PLANNED,
        1,
        "sink-2",
        ranges=(PartitionRange("t", 0, 1, 9, "x"), PartitionRange("é", 1, 0, 2)),
        tasks=2,
        bound_time=time,
    )
    assert harness.do(LoadUnfinished("c")) is None
    harness.do(InsertInterval(row))
    assert harness.do(LoadUnfinished("c")) == replace(row, attempts=1)
    state = harness.do(LoadConnector("c"))
    assert (state.sequence, state.assignment, state.tasks_ever, state.topic_ids) == (1, "sink-2", 2, {"t": "x"})


def test_source_bounds_survive(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    bounds = SourceBounds(
        {'{"f":"ü"}': {"p": 1.5}}, {'{"f":"ü"}': {"p": None}}, {}, TopicPosition("offsets", "id", {0: 5, 24: 9})
    )
    row = harness.insert_source(IntervalKey("s", 1, 1, harness.drive("s")), bounds)
    assert harness.do(LoadUnfinished("s")) == replace(row, attempts=1)


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_no_interval_begins_once_the_connector_is_not_to_run(
    harness: Harness, key: IntervalKey, target: TargetState
) -> None:
    """Not even one whose run had begun before."""
    harness.target(target)
    with pytest.raises(StaleEpochError, match=target.value):
        harness.insert(key)
    assert harness.do(LoadUnfinished("c")) is None


def test_insert_needs_the_epoch(harness: Harness, key: IntervalKey) -> None:
    with pytest.raises(StaleEpochError) as refused:
        harness.insert(replace(key, epoch=key.epoch - 1))
    assert refused.value.epoch == key.epoch


def test_insert_needs_the_next_sequence(harness: Harness, key: IntervalKey) -> None:
    with pytest.raises(StaleEpochError, match="Plan again"):
        harness.insert(replace(key, sequence=2))
    harness.insert(key)
    with pytest.raises(StaleEpochError, match="not finished"):
        harness.insert(replace(key, sequence=2))


def test_insert_race_has_one_winner(harness: Harness, key: IntervalKey) -> None:
    results = race(6, lambda number: harness.insert(key))
    assert len([one for one in results if isinstance(one, IntervalRow)]) == 1
    assert len([one for one in results if isinstance(one, StaleEpochError)]) == 5


def test_takeover_race_leaves_one_writer(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)

    def act(number: int) -> object:
        if number == 0:
            return harness.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
        return harness.do(RaiseEpoch("c", "h"))

    committed, raised = race(2, act)
    assert raised == key.epoch + 1
    offsets_then = harness.do(LoadOffsets("c"))
    assert offsets_then == ({} if isinstance(committed, StaleEpochError) else {PART: 10})


@pytest.mark.parametrize(
    "act",
    [
        lambda key: RestartInterval(key, key.epoch, "d", 1),
        lambda key: AbandonInterval(key, key.epoch, "why"),
        lambda key: RecordAttempt(key, key.epoch, (), IntervalState.STAGED),
        lambda key: CommitInterval(key, key.epoch, (), positions={PART: 10}),
        lambda key: RepairOffsets("c", key.epoch, OffsetProjection({}, 0, None)),
    ],
    ids=["restart", "abandon", "record", "commit", "repair"],
)
def test_stale_epoch_changes_nothing(harness: Harness, key: IntervalKey, act: object) -> None:
    harness.insert(key)
    before = harness.do(LoadUnfinished("c"))
    newer = harness.do(RaiseEpoch("c", "h"))
    with pytest.raises(StaleEpochError, match=f"Epoch {key.epoch} of connector c was replaced by epoch {newer}"):
        harness.do(act(key))  # type: ignore[operator]
    assert harness.do(LoadUnfinished("c")) == before
    assert harness.do(LoadOffsets("c")) == {}


def test_restart_moves_epoch_bounds_and_assignment(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    epoch = harness.do(RaiseEpoch("c", "h"))
    ranges = (PartitionRange("t", 0, 4, 10, "id-1"),)
    row = harness.do(RestartInterval(key, epoch, "sink-2", 2, ranges=ranges))
    assert row.key == replace(key, epoch=epoch)
    assert (row.ranges, row.assignment, row.tasks, row.attempts) == (ranges, "sink-2", 2, 2)
    assert row == harness.do(LoadUnfinished("c"))
    again = harness.do(RestartInterval(key, epoch, "sink-2", 2))
    assert (again.ranges, again.attempts) == (ranges, 3)
    assert harness.do(LoadConnector("c")).tasks_ever == 2


def test_abandoned_interval_is_final(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    abandoned = AbandonInterval(key, key.epoch, "abort marker", (LostRecords(PART, 3, 10, "t was deleted"),))
    harness.do(abandoned)
    harness.do(abandoned)
    assert harness.do(LoadUnfinished("c")) is None
    with harness.database.read() as connection:
        lost = [one.act.after for one in audit.history(connection, "c") if one.act.action == "skip lost records"]
    assert lost == [{"partition": "t-0", "from": 3, "to": 10, "reason": "t was deleted"}]
    with pytest.raises(StaleEpochError, match="ABANDONED"):
        harness.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
    harness.insert(replace(key, sequence=2))


def test_commit_moves_everything_at_once(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    result = TaskResult(0, TaskOutcome.DONE, Counts(10, 100, 1), topics=("t", "u"), host="w:1", pid=9)
    columns = {"t": {"a": "int64"}}
    harness.do(CommitInterval(key, key.epoch, (result,), positions={PART: 10}, columns=columns))
    state = harness.do(LoadConnector("c"))
    assert (harness.do(LoadOffsets("c")), state.columns) == ({PART: 10}, columns)
    assert harness.do(LoadUnfinished("c")) is None
    with harness.database.read() as connection:
        assert topics.active(connection, "c") == ["t", "u"]
        (attempt,) = attempts.list_attempts(connection, "c", 1)
        (line,) = offsets.history(connection, "c")
    assert (attempt.counts, attempt.worker, attempt.process) == (Counts(10, 100, 1), "w:1", 9)
    assert (line.before, line.after, line.cause, line.sequence) == (None, {"kafka_offset": 10}, "interval", 1)


def test_commit_twice_changes_once(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    done = CommitInterval(key, key.epoch, (TaskResult(0, TaskOutcome.DONE, Counts(10)),), positions={PART: 10})
    assert race(3, lambda number: harness.do(done)) == [None, None, None]
    with harness.database.read() as connection:
        assert len(offsets.history(connection, "c")) == 1
        assert attempts.list_attempts(connection, "c", 1)[0].counts == Counts(10)
    harness.do(RaiseEpoch("c", "h"))
    with pytest.raises(StaleEpochError):
        harness.do(done)


def test_columns_of_other_topics_stay(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    harness.do(CommitInterval(key, key.epoch, (), columns={"t": {"a": "int64"}, "u": {"b": "string"}}))
    second = replace(key, sequence=2)
    harness.insert(second)
    harness.do(CommitInterval(second, key.epoch, (), columns={"t": {"a": "double"}}))
    assert harness.do(LoadConnector("c")).columns == {"t": {"a": "double"}, "u": {"b": "string"}}


def test_counts_of_attempts_that_stand_add_up(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    first = replace(failed(), counts=Counts(records=4))
    harness.do(RecordAttempt(key, key.epoch, (first,), IntervalState.FAILED))
    harness.do(RestartInterval(key, key.epoch, "sink-1", 1))
    staged = Staged("t", 0, 4, 10, {})
    second = TaskResult(0, TaskOutcome.DONE, Counts(records=6), staged=(staged,))
    harness.do(RecordAttempt(key, key.epoch, (second,), IntervalState.STAGED))
    harness.do(RecordAttempt(key, key.epoch, (second,), IntervalState.STAGED))
    harness.do(RestartInterval(key, key.epoch, "sink-1", 1))
    harness.do(CommitInterval(key, key.epoch, (second,), positions={PART: 10}))
    with harness.database.read() as connection:
        (attempt,) = attempts.list_attempts(connection, "c", 1)
    # What was staged by the second attempt was thrown away with it.
    assert (attempt.counts.records, attempt.attempts, attempt.error) == (10, 3, None)


def test_fatal_task_failure_stands_until_asked(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    harness.do(RecordAttempt(key, key.epoch, (failed(trace="T\x00\ud800"),), IntervalState.FAILED))
    assert harness.do(LoadConnector("c")).failure == "T\ufffd?"
    with harness.database.write() as connection:
        restarts.ask(connection, "c", [restarts.CONNECTOR])
    assert harness.do(LoadConnector("c")).failure is not None
    with harness.database.write() as connection:
        restarts.ask(connection, "c", [0])
        restarts.ask(connection, "c", [0])
    assert harness.do(LoadConnector("c")).failure is None
    harness.do(RecordAssignment("c", "h", ({},)))
    assert harness.do(LoadConnector("c")).failure is None
    assert harness.do(LoadUnfinished("c")).state is IntervalState.PLANNED
    with harness.database.read() as connection:
        assert restarts.asked(connection, "c") == frozenset()


def test_retriable_task_failure_does_not_stand(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    harness.do(RecordAttempt(key, key.epoch, (failed(is_retriable=True),), IntervalState.FAILED))
    assert harness.do(LoadConnector("c")).failure is None


def test_heartbeat_marks_running_and_progress(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    assert harness.effects.heartbeat(key, key.epoch, [TaskProgress(0, 5, {"t-0": 5})])
    assert harness.do(LoadUnfinished("c")).state is IntervalState.RUNNING
    with harness.database.read() as connection:
        (attempt,) = attempts.list_attempts(connection, "c", 1)
    assert attempt.progress == {"records": 5, "positions": {"t-0": 5}}
    assert not harness.effects.heartbeat(key, key.epoch + 1)
    harness.do(CommitInterval(key, key.epoch, ()))
    assert not harness.effects.heartbeat(key, key.epoch)


def test_heartbeat_keeps_a_later_state(harness: Harness, key: IntervalKey) -> None:
    harness.insert(key)
    harness.do(RecordAttempt(key, key.epoch, (), IntervalState.STAGED))
    harness.effects.heartbeat(key, key.epoch)
    assert harness.do(LoadUnfinished("c")).state is IntervalState.STAGED


def test_repair_follows_the_topic(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    harness.do(TakeLease("s", "h", 60))
    epoch = harness.do(RaiseEpoch("s", "h"))
    harness.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}, '{"a":2}': {"p": 2}}, epoch, at(7))))
    assert harness.do(LoadOffsets("s")) == {'{"a":1}': {"p": 1}, '{"a":2}': {"p": 2}}
    assert harness.do(LoadConnector("s")).offsets_position == at(7)
    harness.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': None, '{"a":2}': {"p": 3}}, epoch, at(9))))
    assert harness.do(LoadOffsets("s")) == {'{"a":2}': {"p": 3}}
    with harness.database.read() as connection:
        lines = offsets.history(connection, "s")
    assert [line.cause for line in lines] == ["repair"] * 4
    moved = {line.partition["a"]: (line.before, line.after) for line in lines[:2]}
    assert moved == {1: ({"p": 1}, None), 2: ({"p": 2}, {"p": 3})}


def test_records_an_unreported_attempt_committed_count(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    epoch = harness.drive("s")
    key = IntervalKey("s", 1, 1, epoch)
    harness.insert_source(key, SourceBounds({}))
    harness.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}}, epoch, at(7), moved={1: 5, 9: 1})))
    harness.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 3}}, epoch, at(9), moved={1: 2})))
    harness.do(CommitInterval(key, epoch, (), source_offsets={'{"a":1}': {"p": 3}}, offsets_position=at(9)))
    with harness.database.read() as connection:
        (past,) = list_intervals(connection, "s", 10)
    assert past.counts.records == 7


def test_projection_of_running_interval_is_its_own(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    epoch = harness.drive("s")
    key = IntervalKey("s", 1, 1, epoch)
    harness.insert_source(key, SourceBounds({}))
    harness.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}}, epoch, at(7))))
    harness.do(CommitInterval(key, epoch, (), source_offsets={'{"a":1}': {"p": 1}}, offsets_position=at(8)))
    assert harness.do(LoadConnector("s")).offsets_position == at(8)
    with harness.database.read() as connection:
        (line,) = offsets.history(connection, "s")
    assert (line.cause, line.sequence) == ("interval", 1)
