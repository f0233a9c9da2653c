"""Past intervals: paged, marked, and dropped when old; skipped records beside them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.effects.store import StoreEffects
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    InsertInterval,
    LoadTimeBefore,
    RecordAttempt,
    RecordFuture,
    RestartInterval,
)
from connect_core.interval.runs import RunIdentity
from connect_core.interval.sink_positions import sink_offsets
from connect_core.interval.time_bounds import FutureRecord
from connect_core.interval.values import (
    ConnectorType,
    Counts,
    IntervalRow,
    IntervalState,
    SkippedRecords,
    SourceBounds,
    TaskOutcome,
    TaskResult,
    job_tag,
)
from connect_core.store import attempts, audit, interval_history, offsets, overviews, record_errors
from connect_core.store.retention import Retention, sweep
from tests.store.harness import Harness

pytestmark = pytest.mark.slow


def moved(harness: Harness, intervals: int, name: str = "c") -> None:
    """Commit so many intervals of 5 records, and leave one more unfinished."""
    harness.create(name)
    epoch = harness.drive(name)
    for sequence in range(1, intervals + 1):
        key = IntervalKey(name, 1, sequence, epoch)
        harness.insert(key)
        harness.do(CommitInterval(key, epoch, (TaskResult(0, TaskOutcome.DONE, Counts(records=5, bytes=9)),)))
    harness.insert(IntervalKey(name, 1, intervals + 1, epoch))


def test_intervals_are_paged_newest_first(harness: Harness) -> None:
    moved(harness, 5)
    with harness.database.read() as connection:
        first = interval_history.list_intervals(connection, "c", limit=2)
        second = interval_history.list_intervals(connection, "c", limit=9, before=first[-1].row.key.sequence)
    assert [one.row.key.sequence for one in first + second] == [6, 5, 4, 3, 2, 1]
    running, done = first
    assert (running.row.state, running.ended_at, running.reason) == (IntervalState.PLANNED, None, None)
    assert (done.counts, done.run_id, done.job_tag) == (Counts(records=5, bytes=9), "run-1", job_tag(done.row.key))
    assert done.worker == "driver:1"
    assert done.ended_at is not None
    assert done.planned_at <= done.ended_at


def test_one_interval_is_found(harness: Harness) -> None:
    moved(harness, 1)
    with harness.database.read() as connection:
        found = interval_history.find(connection, "c", 1)
        assert interval_history.find(connection, "c", 9) is None
    assert found is not None
    assert found.row.state is IntervalState.COMMITTED


def test_marks_are_the_last_of_every_connector(harness: Harness) -> None:
    moved(harness, 4, "a")
    moved(harness, 1, "b")
    moved(harness, 1, "gone")
    harness.delete("gone")
    with harness.database.read() as connection:
        marks = interval_history.list_marks(connection, limit=3)
    assert {name: [one.sequence for one in strip] for name, strip in marks.items()} == {"a": [3, 4, 5], "b": [1, 2]}
    assert [one.records for one in marks["a"]] == [5, 5, 0]


def test_old_intervals_are_forgotten(harness: Harness) -> None:
    moved(harness, 5)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with harness.database.write() as connection:
        assert interval_history.forget(connection, tomorrow - timedelta(days=2), keep=1) == 0
        assert interval_history.forget(connection, tomorrow, keep=3) == 3
        assert [one.row.key.sequence for one in interval_history.list_intervals(connection, "c")] == [6, 5, 4]
        assert attempts.list_attempts(connection, "c", 1) == []
        assert len(attempts.list_attempts(connection, "c", 5)) == 1


def test_totals_outlive_the_history_and_the_connector(harness: Harness) -> None:
    moved(harness, 5)
    key = IntervalKey("c", 1, 6, 1)
    skipped = SkippedRecords("value_converter", "DataError", "no JSON", 2, {})
    done = TaskResult(0, TaskOutcome.DONE, Counts(records=7), skipped=(skipped,))
    harness.do(CommitInterval(key, 1, (done,)))
    harness.insert(IntervalKey("c", 1, 7, 1))
    harness.do(AbandonInterval(IntervalKey("c", 1, 7, 1), 1, "an operator asked for it"))
    harness.delete("c")
    harness.create("c")
    expected = overviews.Totals(committed_intervals=6, committed_records=32, abandoned_intervals=1, skipped_records=2)
    with harness.database.write() as connection:
        assert overviews.totals(connection) == {"c": expected}
        assert interval_history.forget(connection, datetime.now(UTC) + timedelta(days=1), keep=0) == 7
        assert overviews.totals(connection) == {"c": expected}


def test_intervals_beyond_the_count_are_forgotten_however_young(harness: Harness) -> None:
    moved(harness, 5)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with harness.database.write() as connection:
        assert interval_history.forget(connection, yesterday, most=4, keep=1) == 2
        assert [one.row.key.sequence for one in interval_history.list_intervals(connection, "c")] == [6, 5, 4, 3]
        assert interval_history.forget(connection, yesterday, most=1, keep=3) == 1


def test_sweep_keeps_to_the_retention(harness: Harness) -> None:
    harness.create("c")
    with harness.database.write() as connection:
        for position in range(5):
            reason = offsets.Move("c", ConnectorType.SINK, "interval", 1, position)
            offsets.move(connection, reason, sink_offsets({TopicPartition("t", 0): position}))
    gone = {"intervals": 0, "offset moves": 3, "skipped records": 0}
    assert sweep(harness.database, Retention(timedelta(days=1), 2)) == gone
    with harness.database.read() as connection:
        assert len(offsets.history(connection, "c")) == 2
    assert sweep(harness.database, Retention(timedelta(days=-1), 10))["offset moves"] == 2


def skipping(task: int, stage: str, records: int) -> TaskResult:
    sample = {"topic": "t", "partition": task, "offset": 7}
    lines = (SkippedRecords(stage, "DataError", "no JSON\x00", records, sample),)
    return TaskResult(task, TaskOutcome.DONE, Counts(skipped=records), skipped=lines)


def kept(harness: Harness, name: str) -> set[tuple[int, int, str, int]]:
    with harness.database.read() as connection:
        lines = record_errors.history(connection, name)
    return {(one.sequence, one.task, one.skipped.stage, one.skipped.records) for one in lines}


def test_skipped_records_are_kept_with_the_commit(harness: Harness) -> None:
    harness.create("c")
    key = IntervalKey("c", 1, 1, harness.drive())
    harness.insert(key)
    results = (skipping(0, "VALUE_CONVERTER", 3), skipping(1, "TRANSFORMATION", 1), TaskResult(2, TaskOutcome.DONE))
    harness.do(RecordAttempt(key, key.epoch, results, IntervalState.STAGED))
    assert kept(harness, "c") == set()
    harness.do(CommitInterval(key, key.epoch, results, positions={TopicPartition("t", 0): 10}))
    assert kept(harness, "c") == {(1, 0, "VALUE_CONVERTER", 3), (1, 1, "TRANSFORMATION", 1)}
    with harness.database.write() as connection:
        assert record_errors.forget(connection, datetime.now(UTC) + timedelta(days=1)) == 2


def test_what_a_failed_source_attempt_skipped_stands(harness: Harness) -> None:
    harness.create("s", ConnectorType.SOURCE)
    key = IntervalKey("s", 1, 1, harness.drive("s"))
    harness.insert_source(key, SourceBounds({}))
    harness.do(RecordAttempt(key, key.epoch, (skipping(0, "TRANSFORMATION", 2),), IntervalState.FAILED))
    assert kept(harness, "s") == {(1, 0, "TRANSFORMATION", 2)}


def test_time_before_is_that_of_the_last_committed_interval_of_this_life(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive("c")
    hours = [datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in range(4)]
    for sequence, bound in enumerate([hours[2], None, hours[1], hours[3]], 1):
        key = IntervalKey("c", 1, sequence, epoch)
        row = IntervalRow(key, IntervalState.PLANNED, 1, "sink-1", tasks=1, bound_time=bound)
        harness.do(InsertInterval(row))
        if sequence < 4:
            harness.do(CommitInterval(key, epoch, ()))
    assert harness.do(LoadTimeBefore("c", 1, hours[3])) == hours[2]
    assert harness.do(LoadTimeBefore("c", 1, hours[3] + timedelta(hours=1))) == hours[2], (
        "the last one is not committed"
    )
    assert harness.do(LoadTimeBefore("c", 1, hours[2])) == hours[1]
    assert harness.do(LoadTimeBefore("c", 1, hours[1])) is None
    assert harness.do(LoadTimeBefore("c", 2, hours[3])) is None


def test_future_records_that_are_passed_over_are_audited(harness: Harness) -> None:
    harness.create("c")
    epoch = harness.drive("c")
    found = {TopicPartition("t", 1): FutureRecord(7, 4_000_000_000_000)}
    with pytest.raises(StaleEpochError):
        harness.do(RecordFuture("c", epoch - 1, found))
    harness.do(RecordFuture("c", epoch, found))
    with harness.database.read() as connection:
        acts = [one.act for one in audit.history(connection, "c")]
    told = {"partition": "t-1", "offset": 7, "timestamp": 4_000_000_000_000}
    assert [act.after for act in acts if act.action == "pass over future records"] == [told]


def test_intervals_of_a_run_are_those_it_committed_and_others_it_found(harness: Harness) -> None:
    moved(harness, 3)
    other = Harness(harness.database)
    other.effects = StoreEffects(harness.database, RunIdentity("run-2", "driver:1"))
    epoch = other.drive("c", "h")
    key = IntervalKey("c", 1, 4, epoch)
    other.do(RestartInterval(key, epoch, "sink-1", 1))
    assert [one.row.key.sequence for one in harness.effects.finished("c", "run-1", ())] == [1, 2, 3]
    assert other.effects.finished("c", "run-2", ()) == [], "it is not committed"
    other.do(CommitInterval(key, epoch, ()))
    assert [one.row.key.sequence for one in other.effects.finished("c", "run-2", {3})] == [3, 4]
