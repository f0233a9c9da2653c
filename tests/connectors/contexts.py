"""Contexts for connectors under test: what the engine offers, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connect_core.api import (
    IntervalContext,
    IntervalKey,
    PartitionRange,
    SinkRecord,
    TopicPartition,
    WorkerLimits,
)
from connect_core.api.offsets import canonical


def limits_of(root: Path, standalone: bool = True) -> WorkerLimits:
    return WorkerLimits((root,), standalone=standalone)


@dataclass
class DriverSide:
    """A ConnectorContext."""

    limits: WorkerLimits
    connector_name: str = "copy"
    deployment: str = ""
    offset_states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source_offsets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def redact(self, text: str) -> str:
        return text

    def request_task_reconfiguration(self) -> None:
        raise AssertionError("not expected")

    def raise_error(self, error: BaseException) -> None:
        raise error


@dataclass
class Committed:
    """An OffsetStorageReader over a map."""

    stored: Mapping[str, Mapping[str, Any]]

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        found = self.stored.get(canonical(partition))
        return None if found is None else dict(found)

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], dict[str, Any] | None]]:
        return [(partition, self.offset(partition)) for partition in partitions]


@dataclass
class SourceSide:
    """A SourceTaskContext."""

    limits: WorkerLimits
    configs: Mapping[str, str]
    offset_storage_reader: Committed
    upper_bounds: Mapping[str, Mapping[str, Any]] | None = None
    offset_states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source_offsets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    transaction_context: None = None


@dataclass
class Reporter:
    """An ErrantRecordReporter that keeps what it is given."""

    reported: list[tuple[SinkRecord, BaseException]] = field(default_factory=list)

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        self.reported.append((record, error))
        done: Future[None] = Future()
        done.set_result(None)
        return done


@dataclass
class SinkSide:
    """A SinkTaskContext."""

    limits: WorkerLimits
    configs: Mapping[str, str]
    interval: IntervalContext
    errant_record_reporter: Reporter | None = None

    @property
    def assignment(self) -> list[TopicPartition]:
        return [part.topic_partition for part in self.interval.ranges]

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        raise AssertionError("not expected")

    def timeout(self, milliseconds: int) -> None:
        raise AssertionError("not expected")

    def request_commit(self) -> None:
        raise AssertionError("not expected")

    def pause(self, *partitions: TopicPartition) -> None:
        raise AssertionError("not expected")

    def resume(self, *partitions: TopicPartition) -> None:
        raise AssertionError("not expected")


def interval_of(
    *ranges: PartitionRange,
    sequence: int = 1,
    epoch: int = 1,
    attempt: str = "1-a",
    columns: Mapping[str, Mapping[str, str]] | None = None,
    connector: str = "copy",
) -> IntervalContext:
    return IntervalContext(IntervalKey(connector, 1, sequence, epoch), tuple(ranges), columns or {}, attempt)
