"""A connector on Delta tables in a folder: tasks stage, the committer decides and appends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.table import TableAlterer

from connect_core.api import Batch, CommitMarker, IntervalContext, PartitionRange, SinkRecord, Staged
from connect_core.api.batch import Columns
from connect_core.connectors.delta.committer import DeltaCommitter
from connect_core.connectors.delta.sink import DeltaSinkConnector, DeltaSinkTask
from tests.connectors.contexts import DriverSide, Reporter, SinkSide, interval_of, limits_of


def numbered(
    values: Sequence[Any], topic: str = "t", partition: int = 0, first: int = 0, **more: Any
) -> list[SinkRecord]:
    return [
        SinkRecord(topic, partition, value=value, kafka_offset=first + number, timestamp=1000 + number, **more)
        for number, value in enumerate(values)
    ]


def ranges_of(records: Sequence[SinkRecord]) -> list[PartitionRange]:
    places: dict[tuple[str, int], list[int]] = {}
    for record in records:
        place = record.original_topic or "", record.original_kafka_partition or 0
        places.setdefault(place, []).append(record.kafka_offset)
    return [
        PartitionRange(topic, partition, min(some), max(some) + 1, f"id-{topic}")
        for (topic, partition), some in places.items()
    ]


class Killed(BaseException):
    """A driver dies."""


@contextmanager
def killed_at(number: int, *, answers: bool) -> Iterator[None]:
    """Kill the driver at this commit of the block, from 1: before it, or after it with the answer lost."""
    commits: list[object] = []

    def dying(straight: Callable[..., None]) -> Callable[..., None]:
        def call(*args: Any, **kwargs: Any) -> None:
            commits.append(straight)
            is_here = len(commits) == number
            if is_here and not answers:
                raise Killed
            straight(*args, **kwargs)
            if is_here:
                raise Killed

        return call

    with pytest.MonkeyPatch.context() as patched, suppress(Killed):
        patched.setattr(DeltaTable, "create_write_transaction", dying(DeltaTable.create_write_transaction))
        patched.setattr(TableAlterer, "set_table_properties", dying(TableAlterer.set_table_properties))
        yield


class Lake:
    def __init__(self, folder: Path, deployment: str = "here") -> None:
        self.folder, self.deployment = folder, deployment
        self.config: Mapping[str, str] = {"path": "lake"}
        self.reporter: Reporter | None = None
        self._attempts = 0

    def set(self, changes: Mapping[str, str]) -> None:
        self.config = {**self.config, **changes}

    def connector(self) -> DeltaSinkConnector:
        connector = DeltaSinkConnector()
        connector.initialize(DriverSide(limits_of(self.folder), "copy", self.deployment))
        connector.start(self.config)
        return connector

    def committer(self, epoch: int = 1) -> DeltaCommitter:
        committer = self.connector().committer(self.config)
        assert isinstance(committer, DeltaCommitter)
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
        self._attempts += 1
        interval = interval_of(*ranges_of(records), sequence=sequence, attempt=f"1-{self._attempts}")
        task = self._task(interval)
        try:
            if not (batches and task.put_batch(Batch.from_records(records))):
                task.put(records)
            return task.stage({part.topic_partition: part.end for part in interval.ranges})
        finally:
            task.stop()

    def _task(self, interval: IntervalContext) -> DeltaSinkTask:
        task = self.connector().task_class()()
        task.initialize(SinkSide(limits_of(self.folder), self.config, interval, self.reporter))
        task.start(self.config)
        return task

    def run(self, *tasks: Sequence[SinkRecord], sequence: int = 1, batches: bool = False) -> CommitMarker:
        """Run one interval, a task for each argument."""
        staged = [part for records in tasks for part in self.stage(records, sequence, batches)]
        committer, key = self.committer(), self.key(sequence)
        marker = committer.commit(key, staged)
        committer.publish(key, marker)
        return marker

    def key(self, sequence: int = 1, epoch: int = 1) -> Any:
        return interval_of(sequence=sequence, epoch=epoch).key

    def table(self, name: str = "t") -> DeltaTable:
        return DeltaTable(str(self.folder / "lake" / name))

    def rows(self, name: str = "t") -> list[dict[str, Any]]:
        return list(self.table(name).to_pyarrow_table().to_pylist())

    def data_files(self) -> list[Path]:
        files = (self.folder / "lake").rglob("*.parquet")
        return sorted(place for place in files if "_delta_log" not in place.parts)


def total(lake: Lake, name: str, column: str) -> Any:
    """Return what DuckDB says of the files that the table's log names."""
    files = lake.table(name).file_uris()
    return duckdb.execute(f"select sum({column}) from read_parquet({files!r})").fetchall()[0][0]
