"""Partitions whose records have times, in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from connect_core.api.records import TimestampType, TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.kafka.partition_ends import OffsetPlace
from connect_core.kafka.raw_batch import RawBatch

__all__ = ["TimedPartition", "TimedReader"]


class TimedPartition(list[int]):
    """The times of a partition's records, from offset 0 on, in milliseconds since 1970."""

    def first(self, millis: int) -> OffsetPlace:
        """Return the first record of a time or later, as Kafka tells it."""
        found = ((at, time) for at, time in enumerate(self) if time >= millis)
        return OffsetPlace(*next(found, (-1, -1)))


class TimedReader:
    """Reads ranges, three records at a time, as a BoundedReader does."""

    def __init__(self, log: Mapping[TopicPartition, TimedPartition], ranges: Sequence[PartitionRange]) -> None:
        self._log, self._ends = log, {part.topic_partition: part.end for part in ranges}
        self.positions = {part.topic_partition: part.start for part in ranges}
        self._paused: set[TopicPartition] = set()

    def poll(self) -> Sequence[RawBatch]:
        """Return some records of each partition."""
        return [self._read(part) for part in self.positions if part not in self._paused]

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        """Read nothing more of these."""
        self._paused |= set(partitions)

    def _read(self, part: TopicPartition) -> RawBatch:
        start = self.positions[part]
        end = min(start + 3, self._ends[part])
        self.positions[part] = end
        count = end - start
        times = pa.array(self._log[part][start:end], pa.int64())
        number = pa.array([part.partition] * count, pa.int32())
        offsets = pa.array(range(start, end), pa.int64())
        nothing = pa.nulls(count, pa.binary())
        return RawBatch(part.topic, number, offsets, times, TimestampType.CREATE_TIME, nothing, nothing)
