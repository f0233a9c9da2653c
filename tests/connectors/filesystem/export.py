"""Exports of a folder without a worker: tasks stage, the committer commits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from connect_core.api import (
    Batch,
    CommitMarker,
    IntervalContext,
    PartitionRange,
    SinkRecord,
    Staged,
)
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector, FileSystemSinkTask
from connect_core.connectors.filesystem.storages import Staging
from tests.connectors.contexts import DriverSide, Reporter, SinkSide, interval_of, limits_of

CONFIG = {"path": "out"}


def ranges_of(records: Sequence[SinkRecord]) -> list[PartitionRange]:
    ends: dict[tuple[str, int], int] = {}
    for record in records:
        place = record.original_topic or "", record.original_kafka_partition or 0
        ends[place] = max(ends.get(place, 0), record.kafka_offset + 1)
    return [PartitionRange(topic, partition, 0, end, f"id-{topic}") for (topic, partition), end in ends.items()]


def numbered(values: Sequence[Any], topic: str = "t", partition: int = 0, **more: Any) -> list[SinkRecord]:
    return [
        SinkRecord(topic, partition, value=value, kafka_offset=offset, timestamp=1000 + offset, **more)
        for offset, value in enumerate(values)
    ]


class Export:
    """A connector on a folder: tasks stage, the committer commits."""

    def __init__(self, folder: Path, name: str = "copy", **config: str) -> None:
        self.folder, self.name, self.config = folder, name, {**CONFIG, **config}
        self.out = folder / "out"
        self.reporter: Reporter | None = None
        self.columns: Mapping[str, Mapping[str, str]] = {}

    def task(self, interval: IntervalContext) -> FileSystemSinkTask:
        task = FileSystemSinkTask()
        task.initialize(SinkSide(limits_of(self.folder), self.config, interval, self.reporter))
        task.start(self.config)
        return task

    def stage(self, interval: IntervalContext, *puts: Sequence[SinkRecord], batches: bool = False) -> Sequence[Staged]:
        task = self.task(interval)
        try:
            for records in puts:
                if not (batches and task.put_batch(Batch.from_records(records))):
                    task.put(records)
            return task.stage({part.topic_partition: part.end for part in interval.ranges})
        finally:
            task.stop()

    def committer(self, epoch: int = 1) -> FileSystemCommitter:
        connector = FileSystemSinkConnector()
        connector.initialize(DriverSide(limits_of(self.folder), self.name))
        connector.start(self.config)
        committer = connector.committer(self.config)
        assert isinstance(committer, FileSystemCommitter)
        committer.fence(epoch)
        return committer

    def interval(self, records: Sequence[SinkRecord], sequence: int = 1, attempt: str = "1-a") -> IntervalContext:
        ranges = ranges_of(records)
        return interval_of(*ranges, sequence=sequence, attempt=attempt, columns=self.columns, connector=self.name)

    def run(self, *tasks: Sequence[SinkRecord], sequence: int = 1, batches: bool = False) -> CommitMarker:
        """Run one interval, a task for each argument."""
        staged: list[Staged] = []
        for number, records in enumerate(tasks):
            interval = self.interval(records, sequence, f"1-{number}")
            staged += self.stage(interval, records, batches=batches)
        committer = self.committer()
        key = interval_of(sequence=sequence, connector=self.name).key
        marker = committer.commit(key, staged)
        committer.publish(key, marker)
        self.columns = {**self.columns, **(marker.columns or {})}
        return marker

    def files(self) -> list[str]:
        return sorted(str(place.relative_to(self.out)) for place in self.out.glob("[!_]*/*/*"))

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        places = sorted((self.out / topic).glob("*/*.parquet"))
        return [row for place in places for row in pq.ParquetFile(place).read().to_pylist()]


def json_of(staged: Sequence[Staged]) -> list[Staged]:
    """What a driver gets of a worker: details have been text in between."""
    return [replace(part, detail=json.loads(json.dumps(part.detail))) for part in staged]


class Crash(Exception):
    pass


class CrashingCommitter(FileSystemCommitter):
    """Dies before the n-th of the steps it takes to publish."""

    left = 0

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Crash

    def _move(self, staging: Staging, file: Mapping[str, Any]) -> None:
        self._step()
        super()._move(staging, file)

    def _close(self, folder: str) -> None:
        self._step()
        super()._close(folder)
        self._step()
