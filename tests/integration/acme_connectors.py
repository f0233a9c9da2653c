"""Connectors a user might write, each for one promise of the engine; installed as a distribution of its own.

Nothing here is imported by the tests: the worker finds the classes by entry points.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as KafkaPartition

from connect_core.api import (
    ConfigDef,
    SinkConnector,
    SinkRecord,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    TopicPartition,
)
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.source import ConnectorTransactionBoundaries, RecordMetadata


class _Source(SourceConnector):
    """One task with the connector's own configuration, as Connect's guide has it."""

    def start(self, config: Mapping[str, str]) -> None:
        self.settings = dict(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [self.settings]

    def stop(self) -> None:
        """Nothing to free."""

    def config(self) -> ConfigDef:
        return ConfigDef()


class GuideSourceTask(SourceTask):
    """As in Connect's guide: start, a poll that blocks until there are records, stop."""

    def start(self, config: Mapping[str, str]) -> None:
        self.topic, self.name, self.count = config["topic"], config["stream"], int(config["count"])
        offset = self.context.offset_storage_reader.offset({"stream": self.name})
        self.position = 0 if offset is None else int(offset["position"])
        self.is_stopped = False
        self.condition = threading.Condition()

    def poll(self) -> Sequence[SourceRecord] | None:
        records: list[SourceRecord] = []
        while not self.is_stopped and not records:
            records = self.read()
            if not records:
                with self.condition:
                    self.condition.wait(1)
        return records or None

    def read(self) -> list[SourceRecord]:
        if self.position >= self.count:
            return []
        self.position += 1
        return [self.record(self.position)]

    def record(self, number: int) -> SourceRecord:
        return SourceRecord(
            self.topic,
            value_schema=STRING_SCHEMA,
            value=f"row {number}",
            source_partition={"stream": self.name},
            source_offset={"position": number},
        )

    def stop(self) -> None:
        self.is_stopped = True
        with self.condition:
            self.condition.notify_all()


class GuideSource(_Source):
    """Gives ``count`` rows, one a poll."""

    def task_class(self) -> type[SourceTask]:
        return GuideSourceTask


class AcknowledgingSourceTask(GuideSourceTask):
    """Writes down what is committed, after looking for itself whether a reader of committed records sees it."""

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        self.bootstrap, self.file = config["bootstrap"], Path(config["file"])

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        assert metadata is not None
        seen = self.see(metadata) if record.value == "row 1" else None
        line = {"value": record.value, "partition": metadata.partition, "offset": metadata.offset, "seen": seen}
        with self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def commit(self) -> None:
        with self.file.open("a") as file:
            file.write('"commit"\n')

    def see(self, place: RecordMetadata) -> str | None:
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "look", "isolation.level": "read_committed"}
        consumer = Consumer(settings)
        try:
            consumer.assign([KafkaPartition(place.topic, place.partition, place.offset)])
            message = consumer.poll(20)
            value = None if message is None else message.value()
            return None if value is None else json.loads(value)
        finally:
            consumer.close()


class AcknowledgingSource(_Source):
    """Tells its source what is committed."""

    def task_class(self) -> type[SourceTask]:
        return AcknowledgingSourceTask


class PairsSourceTask(GuideSourceTask):
    """Gives five rows a poll and commits after every second one, wherever in a batch that is."""

    def read(self) -> list[SourceRecord]:
        records = [self.record(number) for number in range(self.position + 1, min(self.position + 5, self.count) + 1)]
        self.position += len(records)
        assert self.context.transaction_context is not None
        for record in records:
            number = int(str(record.value).split()[1])
            if number % 10 == 0:
                self.context.transaction_context.abort_transaction(record)
            elif number % 2 == 0:
                self.context.transaction_context.commit_transaction(record)
        return records


class PairsSource(_Source):
    """Ends its transactions itself; each tenth row takes its pair with it."""

    def task_class(self) -> type[SourceTask]:
        return PairsSourceTask

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> ConnectorTransactionBoundaries:
        return ConnectorTransactionBoundaries.SUPPORTED


class HangingSourceTask(GuideSourceTask):
    """Never gets beyond its start."""

    def start(self, config: Mapping[str, str]) -> None:
        threading.Event().wait()


class HangingSource(_Source):
    """Has a task that hangs."""

    def task_class(self) -> type[SourceTask]:
        return HangingSourceTask


class TroubledSourceTask(GuideSourceTask):
    """Fails in its polls while the file of its trouble says so."""

    def poll(self) -> Sequence[SourceRecord] | None:
        check_trouble("task")
        return super().poll()


class TroubledSource(_Source):
    """Fails, as connector or as task, while a file says so (Connect: ``MockSourceConnector``)."""

    def start(self, config: Mapping[str, str]) -> None:
        super().start(config)
        check_trouble("connector")

    def task_class(self) -> type[SourceTask]:
        return TroubledSourceTask


def check_trouble(part: str) -> None:
    trouble = Path("trouble")
    if trouble.exists() and part in trouble.read_text():
        raise RuntimeError(f"the {part} is in trouble")


class RaisingSource(_Source):
    """Cannot plan."""

    def task_class(self) -> type[SourceTask]:
        return GuideSourceTask

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        raise ValueError("no tables found") from KeyError("orders")


class _Sink(SinkConnector):
    def start(self, config: Mapping[str, str]) -> None:
        self.settings = dict(config)

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        return [self.settings]

    def stop(self) -> None:
        """Nothing to free."""

    def config(self) -> ConfigDef:
        return ConfigDef()


class FlushingSinkTask(SinkTask):
    """Keeps what is put, and writes it in ``flush`` only; writes down the order of calls."""

    def start(self, config: Mapping[str, str]) -> None:
        self.file, self.calls = Path(config["file"]), Path(config["file"] + ".calls")
        self.kept: list[Any] = []
        self.note("start")

    def open(self, partitions: Collection[TopicPartition]) -> None:
        self.note("open")

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.note("put")
        self.kept += [record.value for record in records]

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.note(f"flush {sum(offsets.values())}")
        with self.file.open("a") as file:
            file.writelines(json.dumps(value) + "\n" for value in self.kept)
        self.kept.clear()

    def close(self, partitions: Collection[TopicPartition]) -> None:
        self.note("close")

    def stop(self) -> None:
        self.note("stop")

    def note(self, call: str) -> None:
        with self.calls.open("a") as file:
            file.write(call + "\n")


class FlushingSink(_Sink):
    """Writes in ``flush`` only."""

    def task_class(self) -> type[SinkTask]:
        return FlushingSinkTask


class OwnOffsetsSinkTask(SinkTask):
    """Keeps its offsets with its data, in one transaction of SQLite, whose connection belongs to one thread."""

    def start(self, config: Mapping[str, str]) -> None:
        self.database = sqlite3.connect(config["file"])

    def open(self, partitions: Collection[TopicPartition]) -> None:
        rows = self.database.execute("SELECT topic, part, position FROM positions").fetchall()
        stored = {TopicPartition(topic, part): position for topic, part, position in rows}
        self.context.offset({part: stored[part] for part in partitions if part in stored})

    def put(self, records: Sequence[SinkRecord]) -> None:
        with self.database:
            for one in records:
                self.database.execute("INSERT INTO rows VALUES (?, ?)", (one.kafka_offset, one.value["text"]))
                place = (one.original_topic, one.original_kafka_partition, one.kafka_offset + 1)
                self.database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", place)

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return {}

    def stop(self) -> None:
        self.database.close()


class OwnOffsetsSink(_Sink):
    """Keeps its own offsets."""

    def task_class(self) -> type[SinkTask]:
        return OwnOffsetsSinkTask


class PickySinkTask(FlushingSinkTask):
    """Reports texts it does not like, and takes the rest."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        reporter = self.context.errant_record_reporter
        assert reporter is not None
        for record in records:
            if "bad" in str(record.value):
                reporter.report(record, ValueError(f"{record.value} is bad")).result(30)
            else:
                super().put([record])


class PickySink(_Sink):
    """Has an errant record reporter (KIP-610)."""

    def task_class(self) -> type[SinkTask]:
        return PickySinkTask
