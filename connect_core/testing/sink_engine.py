"""Runs intervals of a sink in memory: the engine's delivery and commit, without Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connect_core.api.batch import Batch
from connect_core.api.connector import WorkerLimits
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import (
    ColumnTypes,
    CommitMarker,
    IntervalContext,
    IntervalKey,
    PartitionRange,
    SinkCommitter,
    SinkConnector,
    SinkTask,
    Staged,
)
from connect_core.task.contexts import SinkContext
from connect_core.task.pipeline import columnar
from connect_core.testing.contexts import KeptErrors, MemoryConnectorContext
from connect_core.testing.source_engine import Lane

__all__ = ["Attempt", "SinkEngine", "ranges_of"]

Positions = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one attempt of a task: ``staged`` with a committer, ``positions`` without."""

    delivered: Positions
    positions: Positions
    staged: Sequence[Staged] = ()
    reported: Sequence[SinkRecord] = ()


@dataclass(slots=True)
class SinkEngine:
    """Runs a sink connector and one task as the engine does, with ``rows`` records per put."""

    connector: type[SinkConnector]
    config: Mapping[str, str]
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    name: str = "contract"
    rows: int = 3
    columns: dict[str, ColumnTypes] = field(default_factory=dict)
    _attempts: int = 0

    def start(self) -> SinkConnector:
        """Return a started connector."""
        connector = self.connector()
        connector.initialize(MemoryConnectorContext(self.limits, self.name))
        connector.start(dict(self.config))
        return connector

    def key(self, sequence: int = 1, epoch: int = 1) -> IntervalKey:
        """Return the key of an interval of this connector."""
        return IntervalKey(self.name, 1, sequence, epoch)

    def committer(self, epoch: int = 1) -> SinkCommitter | None:
        """Return a fenced committer, as a new driver does; ``None`` for an at-least-once sink."""
        committer = self.start().committer(dict(self.config))
        if committer is not None:
            committer.fence(epoch)
        return committer

    def fence(self, key: IntervalKey) -> bool:
        """Fence the target, as a driver does before any task → whether the sink has a committer."""
        committer = self.committer(key.epoch)
        if committer is not None:
            committer.close()
        return committer is not None

    def context(self, config: Mapping[str, str], interval: IntervalContext) -> SinkContext:
        """Return a task's context."""
        assignment = [part.topic_partition for part in interval.ranges]
        return SinkContext(config, self.limits, assignment, interval, KeptErrors())

    def attempt(
        self,
        records: Sequence[SinkRecord],
        key: IntervalKey | None = None,
        lane: Lane = Lane.RECORDS,
        ranges: Sequence[PartitionRange] | None = None,
    ) -> Attempt:
        """Run one attempt of an interval's task up to its staging or flush; commits nothing."""
        connector = self.start()
        config = dict(connector.task_configs(1)[0])
        task = connector.task_class()()
        connector.stop()
        is_staged = self.fence(key or self.key())
        parts = tuple(ranges_of(records) if ranges is None else ranges)
        self._attempts += 1
        interval = IntervalContext(key or self.key(), parts, dict(self.columns), f"1-{self._attempts}")
        context = self.context(config, interval)
        task.initialize(context)
        try:
            task.start(config)
            task.open(context.assignment)
            for batch in self._batches(records):
                _put(task, batch, lane)
            done = _finish(task, {part.topic_partition: part.end for part in parts}, is_staged)
            task.close(context.assignment)
        finally:
            task.stop()
        reporter = context.errant_record_reporter
        reported = [record for record, _ in reporter.reported] if isinstance(reporter, KeptErrors) else []
        return replace(done, reported=reported)

    def run(
        self,
        records: Sequence[SinkRecord],
        sequence: int = 1,
        lane: Lane = Lane.RECORDS,
        ranges: Sequence[PartitionRange] | None = None,
    ) -> Positions:
        """Run one complete interval: attempt, commit, publish → the committed positions."""
        key = self.key(sequence)
        done = self.attempt(records, key, lane, ranges)
        committer = self.committer()
        if committer is None:
            return done.positions
        marker = committer.commit(key, done.staged)
        self.finish(committer, key, marker)
        return marker.positions

    def finish(self, committer: SinkCommitter, key: IntervalKey, marker: CommitMarker) -> None:
        """Publish a committed interval and close the committer."""
        committer.publish(key, marker)
        committer.sweep([])
        committer.close()
        self.columns = {**self.columns, **(marker.columns or {})}

    def _batches(self, records: Sequence[SinkRecord]) -> Iterator[Batch]:
        by_place: dict[tuple[str | None, int | None], list[SinkRecord]] = {}
        for record in records:
            by_place.setdefault((record.original_topic, record.original_kafka_partition), []).append(record)
        for some in by_place.values():
            for first in range(0, len(some), self.rows):
                yield columnar(Batch.from_records(some[first : first + self.rows]))


def ranges_of(records: Sequence[SinkRecord], gap: int = 0) -> list[PartitionRange]:
    """Return the ranges that contain the records, each followed by ``gap`` offsets without a record."""
    offsets: dict[tuple[str, int], list[int]] = {}
    for record in records:
        place = record.original_topic or "", record.original_kafka_partition or 0
        offsets.setdefault(place, []).append(record.kafka_offset)
    return [
        PartitionRange(topic, partition, min(some), max(some) + 1 + gap, f"id of {topic}")
        for (topic, partition), some in offsets.items()
    ]


def _put(task: SinkTask, batch: Batch, lane: Lane) -> None:
    if lane is Lane.RECORDS or not task.put_batch(batch):
        task.put([record for record in batch.to_records() if isinstance(record, SinkRecord)])


def _finish(task: SinkTask, delivered: Positions, is_staged: bool) -> Attempt:
    if is_staged:
        return Attempt(delivered, delivered, tuple(task.stage(delivered)))
    return Attempt(delivered, dict(task.pre_commit(delivered)))
