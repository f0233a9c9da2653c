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
    OffsetProjection,
    SourceBounds,
    TargetState,
    TaskOutcome,
    TaskResult,
    TopicPosition,
)
from connect_core.store import attempts, offsets, restarts, topics
from connect_core.store.attempts import TaskProgress
from connect_core.store.interval_history import list_intervals
from tests.store.worlds import World, failed, race

pytestmark = pytest.mark.slow

PART = TopicPartition("t", 0)


def at(end: int) -> TopicPosition:
    return TopicPosition("offsets", "id", {0: end})


@pytest.fixture
def key(world: World) -> IntervalKey:
    world.create("c")
    return IntervalKey("c", 1, 1, world.drive())


def test_inserted_interval_is_unfinished(world: World, key: IntervalKey) -> None:
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
    assert world.do(LoadUnfinished("c")) is None
    world.do(InsertInterval(row))
    assert world.do(LoadUnfinished("c")) == replace(row, attempts=1)
    state = world.do(LoadConnector("c"))
    assert (state.sequence, state.assignment, state.tasks_ever, state.topic_ids) == (1, "sink-2", 2, {"t": "x"})


def test_source_bounds_survive(world: World) -> None:
    world.create("s", ConnectorType.SOURCE)
    bounds = SourceBounds(
        {'{"f":"ü"}': {"p": 1.5}}, {'{"f":"ü"}': {"p": None}}, {}, TopicPosition("offsets", "id", {0: 5, 24: 9})
    )
    row = world.insert_source(IntervalKey("s", 1, 1, world.drive("s")), bounds)
    assert world.do(LoadUnfinished("s")) == replace(row, attempts=1)


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_no_interval_begins_once_the_connector_is_not_to_run(
    world: World, key: IntervalKey, target: TargetState
) -> None:
    """Not even one whose run had begun before."""
    world.target(target)
    with pytest.raises(StaleEpochError, match=target.value):
        world.insert(key)
    assert world.do(LoadUnfinished("c")) is None


def test_insert_needs_the_epoch(world: World, key: IntervalKey) -> None:
    with pytest.raises(StaleEpochError) as refused:
        world.insert(replace(key, epoch=key.epoch - 1))
    assert refused.value.epoch == key.epoch


def test_insert_needs_the_next_sequence(world: World, key: IntervalKey) -> None:
    with pytest.raises(StaleEpochError, match="Plan again"):
        world.insert(replace(key, sequence=2))
    world.insert(key)
    with pytest.raises(StaleEpochError, match="not finished"):
        world.insert(replace(key, sequence=2))


def test_insert_race_has_one_winner(world: World, key: IntervalKey) -> None:
    results = race(6, lambda number: world.insert(key))
    assert len([one for one in results if isinstance(one, IntervalRow)]) == 1
    assert len([one for one in results if isinstance(one, StaleEpochError)]) == 5


def test_takeover_race_leaves_one_writer(world: World, key: IntervalKey) -> None:
    world.insert(key)

    def act(number: int) -> object:
        if number == 0:
            return world.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
        return world.do(RaiseEpoch("c", "h"))

    committed, raised = race(2, act)
    assert raised == key.epoch + 1
    offsets_then = world.do(LoadOffsets("c"))
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
def test_stale_epoch_changes_nothing(world: World, key: IntervalKey, act: object) -> None:
    world.insert(key)
    before = world.do(LoadUnfinished("c"))
    newer = world.do(RaiseEpoch("c", "h"))
    with pytest.raises(StaleEpochError, match=f"Epoch {key.epoch} of connector c was replaced by epoch {newer}"):
        world.do(act(key))  # type: ignore[operator]
    assert world.do(LoadUnfinished("c")) == before
    assert world.do(LoadOffsets("c")) == {}


def test_restart_moves_epoch_bounds_and_assignment(world: World, key: IntervalKey) -> None:
    world.insert(key)
    epoch = world.do(RaiseEpoch("c", "h"))
    ranges = (PartitionRange("t", 0, 4, 10, "id-1"),)
    row = world.do(RestartInterval(key, epoch, "sink-2", 2, ranges=ranges))
    assert row.key == replace(key, epoch=epoch)
    assert (row.ranges, row.assignment, row.tasks, row.attempts) == (ranges, "sink-2", 2, 2)
    assert row == world.do(LoadUnfinished("c"))
    again = world.do(RestartInterval(key, epoch, "sink-2", 2))
    assert (again.ranges, again.attempts) == (ranges, 3)
    assert world.do(LoadConnector("c")).tasks_ever == 2


def test_abandoned_interval_is_final(world: World, key: IntervalKey) -> None:
    world.insert(key)
    world.do(AbandonInterval(key, key.epoch, "abort marker"))
    world.do(AbandonInterval(key, key.epoch, "abort marker"))
    assert world.do(LoadUnfinished("c")) is None
    with pytest.raises(StaleEpochError, match="ABANDONED"):
        world.do(CommitInterval(key, key.epoch, (), positions={PART: 10}))
    world.insert(replace(key, sequence=2))


def test_commit_moves_everything_at_once(world: World, key: IntervalKey) -> None:
    world.insert(key)
    result = TaskResult(0, TaskOutcome.DONE, Counts(10, 100, 1), topics=("t", "u"), host="w:1", pid=9)
    columns = {"t": {"a": "int64"}}
    world.do(CommitInterval(key, key.epoch, (result,), positions={PART: 10}, columns=columns))
    state = world.do(LoadConnector("c"))
    assert (world.do(LoadOffsets("c")), state.columns) == ({PART: 10}, columns)
    assert world.do(LoadUnfinished("c")) is None
    with world.database.read() as connection:
        assert topics.active(connection, "c") == ["t", "u"]
        (attempt,) = attempts.list_attempts(connection, "c", 1)
        (line,) = offsets.history(connection, "c")
    assert (attempt.counts, attempt.worker, attempt.process) == (Counts(10, 100, 1), "w:1", 9)
    assert (line.before, line.after, line.cause, line.sequence) == (None, {"kafka_offset": 10}, "interval", 1)


def test_commit_twice_changes_once(world: World, key: IntervalKey) -> None:
    world.insert(key)
    done = CommitInterval(key, key.epoch, (TaskResult(0, TaskOutcome.DONE, Counts(10)),), positions={PART: 10})
    assert race(3, lambda number: world.do(done)) == [None, None, None]
    with world.database.read() as connection:
        assert len(offsets.history(connection, "c")) == 1
        assert attempts.list_attempts(connection, "c", 1)[0].counts == Counts(10)
    world.do(RaiseEpoch("c", "h"))
    with pytest.raises(StaleEpochError):
        world.do(done)


def test_columns_of_other_topics_stay(world: World, key: IntervalKey) -> None:
    world.insert(key)
    world.do(CommitInterval(key, key.epoch, (), columns={"t": {"a": "int64"}, "u": {"b": "string"}}))
    second = replace(key, sequence=2)
    world.insert(second)
    world.do(CommitInterval(second, key.epoch, (), columns={"t": {"a": "double"}}))
    assert world.do(LoadConnector("c")).columns == {"t": {"a": "double"}, "u": {"b": "string"}}


def test_counts_of_attempts_that_stand_add_up(world: World, key: IntervalKey) -> None:
    world.insert(key)
    first = replace(failed(), counts=Counts(records=4))
    world.do(RecordAttempt(key, key.epoch, (first,), IntervalState.FAILED))
    world.do(RestartInterval(key, key.epoch, "sink-1", 1))
    staged = Staged("t", 0, 4, 10, {})
    second = TaskResult(0, TaskOutcome.DONE, Counts(records=6), staged=(staged,))
    world.do(RecordAttempt(key, key.epoch, (second,), IntervalState.STAGED))
    world.do(RecordAttempt(key, key.epoch, (second,), IntervalState.STAGED))
    world.do(RestartInterval(key, key.epoch, "sink-1", 1))
    world.do(CommitInterval(key, key.epoch, (second,), positions={PART: 10}))
    with world.database.read() as connection:
        (attempt,) = attempts.list_attempts(connection, "c", 1)
    # What was staged by the second attempt was thrown away with it.
    assert (attempt.counts.records, attempt.attempts, attempt.error) == (10, 3, None)


def test_fatal_task_failure_stands_until_asked(world: World, key: IntervalKey) -> None:
    world.insert(key)
    world.do(RecordAttempt(key, key.epoch, (failed(trace="T\x00\ud800"),), IntervalState.FAILED))
    assert world.do(LoadConnector("c")).failure == "T\ufffd?"
    with world.database.write() as connection:
        restarts.ask(connection, "c", [restarts.CONNECTOR])
    assert world.do(LoadConnector("c")).failure is not None
    with world.database.write() as connection:
        restarts.ask(connection, "c", [0])
        restarts.ask(connection, "c", [0])
    assert world.do(LoadConnector("c")).failure is None
    world.do(RecordAssignment("c", "h", ({},)))
    assert world.do(LoadConnector("c")).failure is None
    assert world.do(LoadUnfinished("c")).state is IntervalState.PLANNED
    with world.database.read() as connection:
        assert restarts.asked(connection, "c") == frozenset()


def test_retriable_task_failure_does_not_stand(world: World, key: IntervalKey) -> None:
    world.insert(key)
    world.do(RecordAttempt(key, key.epoch, (failed(is_retriable=True),), IntervalState.FAILED))
    assert world.do(LoadConnector("c")).failure is None


def test_heartbeat_marks_running_and_progress(world: World, key: IntervalKey) -> None:
    world.insert(key)
    assert world.effects.heartbeat(key, key.epoch, [TaskProgress(0, 5, {"t-0": 5})])
    assert world.do(LoadUnfinished("c")).state is IntervalState.RUNNING
    with world.database.read() as connection:
        (attempt,) = attempts.list_attempts(connection, "c", 1)
    assert attempt.progress == {"records": 5, "positions": {"t-0": 5}}
    assert not world.effects.heartbeat(key, key.epoch + 1)
    world.do(CommitInterval(key, key.epoch, ()))
    assert not world.effects.heartbeat(key, key.epoch)


def test_heartbeat_keeps_a_later_state(world: World, key: IntervalKey) -> None:
    world.insert(key)
    world.do(RecordAttempt(key, key.epoch, (), IntervalState.STAGED))
    world.effects.heartbeat(key, key.epoch)
    assert world.do(LoadUnfinished("c")).state is IntervalState.STAGED


def test_repair_follows_the_topic(world: World) -> None:
    world.create("s", ConnectorType.SOURCE)
    world.do(TakeLease("s", "h", 60))
    epoch = world.do(RaiseEpoch("s", "h"))
    world.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}, '{"a":2}': {"p": 2}}, epoch, at(7))))
    assert world.do(LoadOffsets("s")) == {'{"a":1}': {"p": 1}, '{"a":2}': {"p": 2}}
    assert world.do(LoadConnector("s")).offsets_position == at(7)
    world.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': None, '{"a":2}': {"p": 3}}, epoch, at(9))))
    assert world.do(LoadOffsets("s")) == {'{"a":2}': {"p": 3}}
    with world.database.read() as connection:
        lines = offsets.history(connection, "s")
    assert [line.cause for line in lines] == ["repair"] * 4
    moved = {line.partition["a"]: (line.before, line.after) for line in lines[:2]}
    assert moved == {1: ({"p": 1}, None), 2: ({"p": 2}, {"p": 3})}


def test_records_an_unreported_attempt_committed_count(world: World) -> None:
    world.create("s", ConnectorType.SOURCE)
    epoch = world.drive("s")
    key = IntervalKey("s", 1, 1, epoch)
    world.insert_source(key, SourceBounds({}))
    world.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}}, epoch, at(7), moved={1: 5, 9: 1})))
    world.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 3}}, epoch, at(9), moved={1: 2})))
    world.do(CommitInterval(key, epoch, (), source_offsets={'{"a":1}': {"p": 3}}, offsets_position=at(9)))
    with world.database.read() as connection:
        (past,) = list_intervals(connection, "s", 10)
    assert past.counts.records == 7


def test_projection_of_running_interval_is_its_own(world: World) -> None:
    world.create("s", ConnectorType.SOURCE)
    epoch = world.drive("s")
    key = IntervalKey("s", 1, 1, epoch)
    world.insert_source(key, SourceBounds({}))
    world.do(RepairOffsets("s", epoch, OffsetProjection({'{"a":1}': {"p": 1}}, epoch, at(7))))
    world.do(CommitInterval(key, epoch, (), source_offsets={'{"a":1}': {"p": 1}}, offsets_position=at(8)))
    assert world.do(LoadConnector("s")).offsets_position == at(8)
    with world.database.read() as connection:
        (line,) = offsets.history(connection, "s")
    assert (line.cause, line.sequence) == ("interval", 1)
