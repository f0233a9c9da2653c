"""A sink of tables without a worker: tasks stage, the committer decides and updates the tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from connect_core.api import Batch, CommitMarker, IntervalContext, PartitionRange, SinkConnector, SinkRecord, Staged
from connect_core.api.batch import Columns
from connect_core.connectors.lake.committer import LakeCommitter
from connect_core.connectors.lake.sink_task import LakeSinkTask
from tests.connectors.contexts import DriverSide, Reporter, SinkSide, interval_of, limits_of

__all__ = ["TableSink", "numbered", "ranges_of"]

Committer = TypeVar("Committer", bound=LakeCommitter)


def numbered(
    values: Sequence[Any], topic: str = "t", partition: int = 0, first: int = 0, **more: Any
) -> list[SinkRecord]:
    """Return a record for each value, with offsets from ``first``."""
    return [
        SinkRecord(topic, partition, value=value, kafka_offset=first + number, timestamp=1000 + number, **more)
        for number, value in enumerate(values)
    ]


def ranges_of(records: Sequence[SinkRecord]) -> list[PartitionRange]:
    """Return the ranges of an interval that has just these records."""
    places: dict[tuple[str, int], list[int]] = {}
    for record in records:
        place = record.original_topic or "", record.original_kafka_partition or 0
        places.setdefault(place, []).append(record.kafka_offset)
    return [
        PartitionRange(topic, partition, min(some), max(some) + 1, f"id-{topic}")
        for (topic, partition), some in places.items()
    ]


class TableSink(ABC):
    """One connector; ``folder`` has its tables."""

    kind: type[SinkConnector]

    def __init__(self, folder: Path, config: Mapping[str, str], name: str = "copy", deployment: str = "here") -> None:
        self.folder, self.name, self.deployment = folder, name, deployment
        self.config: Mapping[str, str] = config
        self.reporter: Reporter | None = None
        self._attempts = 0

    @abstractmethod
    def committer(self, epoch: int = 1) -> LakeCommitter:
        """Return a committer that has fenced the earlier ones."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the first table as its own library reads them."""

    @abstractmethod
    def data_files(self) -> list[Path]:
        """Return all data files there are, those of no table too."""

    @abstractmethod
    def append_again(self) -> None:
        """Append the table's rows to it, as a writer that has nothing to do with the connector."""

    @abstractmethod
    def create(self, columns: pa.Schema) -> None:
        """Create the first table, as another engine might."""

    @abstractmethod
    def drop(self) -> None:
        """Remove the first table."""

    def set(self, changes: Mapping[str, str]) -> None:
        """Change settings."""
        self.config = {**self.config, **changes}

    def connector(self) -> SinkConnector:
        """Return a started connector."""
        connector = self.kind()
        connector.initialize(DriverSide(limits_of(self.folder), self.name, self.deployment))
        connector.start(self.config)
        return connector

    def fenced(self, kind: type[Committer], epoch: int) -> Committer:
        """Return a committer of this class that has fenced the earlier ones."""
        committer = self.connector().committer(self.config)
        assert isinstance(committer, kind)
        committer.fence(epoch)
        return committer

    def run_batch(self, values: pa.StructArray, first: int, sequence: int) -> None:
        """Run one interval of values in columns, of one partition."""
        count = len(values)
        numbers = pa.array(range(first, first + count), pa.int64())
        batch = Batch(
            topic=pa.array(["t"] * count),
            partition=pa.array([0] * count, pa.int32()),
            offset=numbers,
            timestamp=numbers,
            origin=pa.array(range(count), pa.int64()),
            key=Columns(None, pa.nulls(count)),
            value=Columns(None, values),
        )
        interval = interval_of(PartitionRange("t", 0, first, first + count, "id-t"), sequence=sequence, attempt="1-b")
        task = self._task(interval)
        assert task.put_batch(batch)
        staged = task.stage({part.topic_partition: part.end for part in interval.ranges})
        task.stop()
        committer, key = self.committer(), self.key(sequence)
        committer.publish(key, committer.commit(key, staged))

    def stage(self, records: Sequence[SinkRecord], sequence: int = 1, batches: bool = False) -> Sequence[Staged]:
        """Run one task to its end."""
        self._attempts += 1
        attempt = f"1-{self._attempts}"
        interval = interval_of(*ranges_of(records), sequence=sequence, attempt=attempt, connector=self.name)
        task = self._task(interval)
        try:
            if not (batches and task.put_batch(Batch.from_records(records))):
                task.put(records)
            return task.stage({part.topic_partition: part.end for part in interval.ranges})
        finally:
            task.stop()

    def run(self, *tasks: Sequence[SinkRecord], sequence: int = 1, batches: bool = False) -> CommitMarker:
        """Run one interval, a task for each argument."""
        staged = [part for records in tasks for part in self.stage(records, sequence, batches)]
        committer, key = self.committer(), self.key(sequence)
        marker = committer.commit(key, staged)
        committer.publish(key, marker)
        return marker

    def key(self, sequence: int = 1, epoch: int = 1) -> Any:
        """Return the key of an interval."""
        return interval_of(sequence=sequence, epoch=epoch, connector=self.name).key

    def _task(self, interval: IntervalContext) -> LakeSinkTask:
        committer = self.connector().committer(self.config)
        assert isinstance(committer, LakeCommitter)
        committer.decisions.ensure()
        task = self.connector().task_class()()
        assert isinstance(task, LakeSinkTask)
        task.initialize(SinkSide(limits_of(self.folder), self.config, interval, self.reporter))
        task.start(self.config)
        return task
