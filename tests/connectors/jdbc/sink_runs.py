"""Runs of the JDBC sink without Kafka: a driver that fences, tasks that are put records, a commit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connect_core.api import (
    CommitMarker,
    IntervalKey,
    PartitionRange,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
    TopicPartition,
)
from connect_core.api.batch import Batch
from connect_core.connectors.jdbc.sink.committer import JdbcSinkCommitter
from connect_core.connectors.jdbc.sink.connector import JdbcSinkConnector
from connect_core.connectors.jdbc.sink.task import JdbcSinkTask
from connect_core.task.pipeline import columnar
from tests.connectors.contexts import DriverSide, Reporter, SinkSide, interval_of
from tests.connectors.jdbc.servers import Server

_ATTEMPTS = itertools.count(1)

ORDER = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", SchemaBuilder.int64().build())
    .field("label", SchemaBuilder.string().optional().build())
    .build()
)


@dataclass
class SinkRun:
    """One connector over one server; ``put`` runs one interval of one task."""

    server: Server
    settings: Mapping[str, str]
    name: str = "copy"
    epoch: int = 0
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    reporter: Reporter | None = None
    deployment: str = ""

    @property
    def config(self) -> dict[str, str]:
        return {**self.server.config, "connection.backoff.ms": "10", **self.settings}

    def connector(self) -> JdbcSinkConnector:
        connector = JdbcSinkConnector()
        connector.initialize(DriverSide(self.server.limits, self.name, self.deployment))
        connector.start(self.config)
        return connector

    def committer(self) -> JdbcSinkCommitter:
        committer = self.connector().committer(self.config)
        assert isinstance(committer, JdbcSinkCommitter)
        return committer

    def fence(self) -> dict[TopicPartition, int]:
        self.epoch += 1
        self.positions = dict(self.committer().fence(self.epoch))
        return self.positions

    def task(self, records: Sequence[SinkRecord], epoch: int = 0, attempt: str = "") -> JdbcSinkTask:
        """Return a started task whose ranges begin where the target stands and cover the records.

        One ``attempt`` given twice is one plan executed twice.
        """
        ranges = []
        for part in sorted({_read(record) for record in records}):
            offsets = [record.kafka_offset for record in records if _read(record) == part]
            ranges.append(PartitionRange(*part, self.positions.get(part, min(offsets)), max(offsets) + 1))
        begun = {part.topic_partition: part.start for part in ranges if part.start}
        fresh = {part: start for part, start in begun.items() if part not in self.positions}
        if fresh:
            # As a plan does: where a partition begins is kept in the target before anything is read of it.
            self.committer().abandon(IntervalKey(self.name, 1, 1, self.epoch), fresh)
        attempt = attempt or f"a-{next(_ATTEMPTS)}"
        interval = interval_of(*ranges, epoch=epoch or self.epoch, attempt=attempt, connector=self.name)
        task = JdbcSinkTask()
        task.initialize(SinkSide(self.server.limits, self.config, interval, self.reporter))
        task.start(self.config)
        return task

    def put(self, records: Sequence[SinkRecord], in_batches: bool = True, rows: int = 1000) -> CommitMarker:
        """Run an interval of these records; several of them may be gaps."""
        if not self.epoch:
            self.fence()
        task = self.task(records)
        try:
            deliver(task, records, in_batches, rows)
            staged = task.stage(ends_of(records))
        finally:
            task.stop()
        marker = self.committer().commit(IntervalKey(self.name, 1, 1, self.epoch), staged)
        self.positions = dict(marker.positions)
        return marker

    def rows(self, query: str = "SELECT * FROM orders ORDER BY 1") -> list[tuple[Any, ...]]:
        return self.server.rows(query)


def deliver(task: JdbcSinkTask, records: Sequence[SinkRecord], in_batches: bool, rows: int = 1000) -> None:
    for begin in range(0, len(records), rows):
        some = records[begin : begin + rows]
        if in_batches and task.put_batch(columnar(Batch.from_records(some))):
            continue
        task.put(some)


def ends_of(records: Sequence[SinkRecord]) -> dict[TopicPartition, int]:
    ends: dict[TopicPartition, int] = {}
    for record in records:
        ends[_read(record)] = max(ends.get(_read(record), 0), record.kafka_offset + 1)
    return ends


def _read(record: SinkRecord) -> TopicPartition:
    assert record.original_topic is not None
    assert record.original_kafka_partition is not None
    return TopicPartition(record.original_topic, record.original_kafka_partition)


def struct(schema: Schema, **values: Any) -> Struct:
    made = Struct(schema)
    for name, value in values.items():
        made.put(name, value)
    return made


def record(
    offset: int, value: Struct | dict[str, Any] | None, key: Any = None, topic: str = "orders", partition: int = 0
) -> SinkRecord:
    """Return a record; the key of a struct or plain value gets its schema."""
    value_schema = value.schema if isinstance(value, Struct) else None
    key_schema = key.schema if isinstance(key, Struct) else _KEY_SCHEMAS.get(type(key))
    return SinkRecord(topic, partition, key_schema, key, value_schema, value, 1_700_000_000_000, kafka_offset=offset)


_KEY_SCHEMAS = {int: SchemaBuilder.int64().build(), str: SchemaBuilder.string().build()}


def order(offset: int, id: int, label: str | None = "x", partition: int = 0) -> SinkRecord:
    return record(offset, struct(ORDER, id=id, label=label), key=id, partition=partition)


def tombstone(offset: int, id: int, partition: int = 0) -> SinkRecord:
    return record(offset, None, key=id, partition=partition)
