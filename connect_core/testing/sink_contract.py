"""The contract of sink connectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from connect_core.api.connector import Task
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import CommitMarker, IntervalContext, PartitionRange, SinkCommitter, SinkConnector, SinkTask
from connect_core.errors import StaleEpochError
from connect_core.testing.comparing import records_facts
from connect_core.testing.connector_contract import ConnectorContract
from connect_core.testing.samples import ORDER_SCHEMA, orders, sink_records
from connect_core.testing.sink_engine import Attempt, SinkEngine, ranges_of
from connect_core.testing.source_engine import Lane

__all__ = ["SinkContract"]


class SinkContract(ConnectorContract):
    """Tests of a sink: ``class TestMine(SinkContract): connector = Mine``.

    Give ``config`` and ``contents``; and ``records`` if the sink does not
    accept structs. Without a committer the tests of exactly-once check nothing.
    """

    connector: ClassVar[type[SinkConnector]]

    def contents(self, folder: Path) -> Any:
        """Return what readers of the target see, in a form that can be compared."""
        raise NotImplementedError("contents(): return what the target holds, such as its lines or rows")

    def records(self) -> Sequence[SinkRecord]:
        """Return records that the sink accepts, of at least two partitions."""
        return sink_records(ORDER_SCHEMA, orders(10))

    def engine(self, folder: Path) -> SinkEngine:
        """Return an engine over a new, empty target."""
        folder.mkdir(exist_ok=True)
        self.prepare(folder)
        return SinkEngine(self.connector, self.config, self.limits(folder))

    def new_task(self, folder: Path) -> Task:
        """Return a task that is initialized and not yet started."""
        engine = self.engine(folder)
        engine.fence(engine.key())
        connector = engine.start()
        config = dict(connector.task_configs(1)[0])
        task = connector.task_class()()
        task.initialize(engine.context(config, IntervalContext(engine.key(), (), {}, "1-0")))
        connector.stop()
        return task

    def straight(self, folder: Path) -> Any:
        """Return the target's contents after one undisturbed interval of all records."""
        self.engine(folder).run(self.records())
        return self.contents(folder)

    def test_records_arrive(self, tmp_path: Path) -> None:
        """After an interval the target's contents have changed."""
        engine = self.engine(tmp_path)
        before = self.contents(tmp_path)
        positions = engine.run(self.records())
        assert self.contents(tmp_path) != before
        assert dict(positions) == _ends(self.records()), "every offset delivered must be committed in the end"

    def test_lanes_agree(self, tmp_path: Path) -> None:
        """put_batch writes the same as put."""
        folder = tmp_path / "batches"
        self.engine(folder).run(self.records(), lane=Lane.BATCHES)
        assert self.contents(folder) == self.straight(tmp_path / "records")

    def test_put_leaves_records_alone(self, tmp_path: Path) -> None:
        """Records must not be mutated: the same ones are put again after a RetriableError."""
        records, engine = list(self.records()), self.engine(tmp_path)
        task = self.new_task(tmp_path)
        assert isinstance(task, SinkTask)
        context = engine.context(dict(self.config), IntervalContext(engine.key(), tuple(ranges_of(records)), {}, "1-1"))
        task.initialize(context)
        task.start(dict(engine.start().task_configs(1)[0]))
        task.open(context.assignment)
        before = records_facts(records)
        task.put(records)
        task.put([])
        assert records_facts(records) == before
        task.close(context.assignment)
        task.stop()

    def test_reading_resumes_from_any_offset(self, tmp_path: Path) -> None:
        """Split into two intervals at any offset, the records result in the same contents."""
        records = _of_one_partition(self.records())
        self.engine(tmp_path / "whole").run(records)
        for cut in range(1, len(records)):
            folder = tmp_path / f"cut {cut}"
            engine = self.engine(folder)
            engine.run(records[:cut])
            engine.run(records[cut:], 2)
            assert self.rows(folder) == self.rows(tmp_path / "whole"), f"cut after {cut} records"

    def rows(self, folder: Path) -> Any:
        """Return ``contents`` without parts that depend on the bounds of intervals, such as file names."""
        return self.contents(folder)

    def test_positions_are_no_higher_than_delivered(self, tmp_path: Path) -> None:
        """pre_commit and stage cover what was delivered, including gaps, and nothing else."""
        engine = self.engine(tmp_path)
        ranges = ranges_of(self.records(), gap=2)
        empty = PartitionRange("empty", 0, 5, 8, "id of empty")
        done = engine.attempt(self.records(), ranges=[*ranges, empty])
        assert [place for place, end in done.positions.items() if end > done.delivered.get(place, -1)] == []
        if engine.committer() is not None:
            self._check_staged(done, [*ranges, empty])

    def test_empty_interval_is_committed(self, tmp_path: Path) -> None:
        """Offsets may have no record at all (transaction markers, compaction): they are skipped."""
        engine = self.engine(tmp_path)
        before = self.contents(tmp_path)
        ends = engine.run([], ranges=[PartitionRange("t", 0, 3, 7, "id of t")])
        assert ends == {TopicPartition("t", 0): 7}
        assert self.contents(tmp_path) == before

    def test_nothing_shows_before_the_commit(self, tmp_path: Path) -> None:
        """Staged data is invisible, and stays so if the attempt is lost."""
        engine = self.engine(tmp_path)
        before = self.contents(tmp_path)
        if engine.committer() is not None:
            engine.attempt(self.records())
            assert self.contents(tmp_path) == before, "stage() must not show readers anything: publish() does"

    def test_lost_attempts_leave_no_trace(self, tmp_path: Path) -> None:
        """Records staged twice and committed once appear once."""
        engine = self.engine(tmp_path / "lost")
        if engine.committer() is not None:
            engine.attempt(self.records())
            engine.run(self.records())
            assert self.contents(tmp_path / "lost") == self.straight(tmp_path / "straight")

    def test_first_commit_stands(self, tmp_path: Path) -> None:
        """commit and publish are idempotent, even for other drivers and other staged files."""
        engine = self.engine(tmp_path / "twice")
        committer, key = engine.committer(), engine.key()
        if committer is None:
            return
        one, other = engine.attempt(self.records()), engine.attempt(self.records())
        assert committer.read_marker(key) is None
        marker = committer.commit(key, one.staged)
        existing = _committer(engine).commit(key, other.staged)
        assert _meaning(existing) == _meaning(marker), "commit() must return the existing marker"
        for _ in range(2):
            engine.finish(_committer(engine), key, marker)
        assert self.contents(tmp_path / "twice") == self.straight(tmp_path / "straight")

    def test_marker_survives_a_crash(self, tmp_path: Path) -> None:
        """A driver that finds a marker can publish with it alone, even if the first driver has died."""
        engine = self.engine(tmp_path / "crash")
        committer, key = engine.committer(), engine.key()
        if committer is None:
            return
        marker = committer.commit(key, engine.attempt(self.records()).staged)
        assert dict(marker.positions) == _ends(self.records())
        successor = engine.committer(2)
        assert successor is not None
        found = successor.read_marker(key)
        assert found is not None, "read_marker() must find what commit() wrote"
        assert _meaning(found) == _meaning(marker)
        engine.finish(successor, key, found)
        assert self.contents(tmp_path / "crash") == self.straight(tmp_path / "straight")

    def test_older_driver_is_fenced(self, tmp_path: Path) -> None:
        """Once a newer epoch is stored in the target, an older driver cannot commit."""
        engine = self.engine(tmp_path)
        older = engine.committer(1)
        if older is None:
            return
        staged = engine.attempt(self.records()).staged
        before = self.contents(tmp_path)
        assert engine.committer(2) is not None
        _expect_stale(lambda: older.fence(1))
        _expect_stale(lambda: older.commit(engine.key(), staged))
        assert self.contents(tmp_path) == before

    def test_abandoned_interval_never_commits(self, tmp_path: Path) -> None:
        """abandon is final like a commit: a later commit gets the abort marker and publishes nothing."""
        engine = self.engine(tmp_path)
        committer, key = engine.committer(), engine.key()
        if committer is None:
            return
        staged = engine.attempt(self.records()).staged
        before = self.contents(tmp_path)
        assert committer.abandon(key, None).aborted
        marker = committer.commit(key, staged)
        assert marker.aborted, "commit() must return the existing abort marker"
        engine.finish(committer, key, marker)
        assert self.contents(tmp_path) == before

    def test_committed_interval_is_not_abandoned(self, tmp_path: Path) -> None:
        """abandon after a commit has no effect, and returns the commit's marker."""
        engine = self.engine(tmp_path)
        committer, key = engine.committer(), engine.key()
        if committer is not None:
            marker = committer.commit(key, engine.attempt(self.records()).staged)
            assert _meaning(committer.abandon(key, None)) == _meaning(marker)

    def _check_staged(self, done: Attempt, ranges: Sequence[PartitionRange]) -> None:
        found = {(one.topic, one.partition): (one.start, one.end) for one in done.staged}
        wanted = {(part.topic, part.partition): (part.start, part.end) for part in ranges}
        assert found == wanted, "stage() must cover every partition from its start to the position given"
        for one in done.staged:
            assert json.loads(json.dumps(one.detail)) == one.detail, "Staged.detail must be JSON"


def _committer(engine: SinkEngine) -> SinkCommitter:
    committer = engine.committer()
    assert committer is not None
    return committer


def _meaning(marker: CommitMarker) -> tuple[Any, ...]:
    return dict(marker.positions), marker.aborted, marker.columns


def _ends(records: Sequence[SinkRecord]) -> dict[TopicPartition, int]:
    return {part.topic_partition: part.end for part in ranges_of(records)}


def _of_one_partition(records: Sequence[SinkRecord]) -> list[SinkRecord]:
    first = records[0].original_topic, records[0].original_kafka_partition
    return [record for record in records if (record.original_topic, record.original_kafka_partition) == first]


def _expect_stale(call: Any) -> None:
    try:
        call()
    except StaleEpochError:
        return
    raise AssertionError("an older epoch must be refused with StaleEpochError")
