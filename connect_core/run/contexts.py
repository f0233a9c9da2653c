"""What the engine hands to tasks: Connect's task contexts, bound to one interval."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.connector import WorkerLimits
from connect_core.api.offsets import canonical
from connect_core.api.records import SinkRecord, SourceRecord, TopicPartition
from connect_core.api.sink import ErrantRecordReporter, IntervalContext
from connect_core.interval.values import OffsetStates, SourceOffsets
from connect_core.run.pipeline import place_of
from connect_core.run.tolerance import Failure, Stage, Tolerance, class_name

__all__ = ["PlannedOffsets", "SinkContext", "SourceContext", "ToleratedReporter", "Transactions"]


@dataclass(slots=True)
class PlannedOffsets:
    """The committed source offsets as planned; remembers which partitions were asked for."""

    start: SourceOffsets
    asked: set[str] = field(default_factory=set)

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the committed offset of a source partition, or ``None``."""
        key = canonical(partition)
        self.asked.add(key)
        found = self.start.get(key)
        return None if found is None else dict(found)

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], dict[str, Any] | None]]:
        """Return the committed offset of each partition, in the order asked."""
        return [(partition, self.offset(partition)) for partition in partitions]


@dataclass(slots=True)
class Transactions:
    """Boundaries a source task sets itself (``transaction.boundary=connector``)."""

    commit_next: bool = False
    abort_next: bool = False
    commit_after: list[SourceRecord] = field(default_factory=list)
    abort_after: list[SourceRecord] = field(default_factory=list)

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after this record; without one, after the next batch."""
        if record is None:
            self.commit_next = True
        else:
            self.commit_after.append(record)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort after this record; without one, the next batch."""
        if record is None:
            self.abort_next = True
        else:
            self.abort_after.append(record)


@dataclass(slots=True)
class SourceContext:
    """A source task's context."""

    configs: Mapping[str, str]
    limits: WorkerLimits
    offset_storage_reader: PlannedOffsets
    transaction_context: Transactions | None
    offset_states: OffsetStates
    upper_bounds: SourceOffsets | None


@dataclass(slots=True)
class SinkContext:
    """A sink task's context; what the task asks for is kept for the engine to act on."""

    configs: Mapping[str, str]
    limits: WorkerLimits
    assignment: Collection[TopicPartition]
    interval: IntervalContext
    errant_record_reporter: ErrantRecordReporter | None
    rewinds: dict[TopicPartition, int] = field(default_factory=dict)
    paused: set[TopicPartition] = field(default_factory=set)
    timeout_milliseconds: int | None = None
    is_commit_requested: bool = False

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Rewind to offsets the target itself keeps."""
        self.rewinds.update(offsets)

    def timeout(self, milliseconds: int) -> None:
        """Wait this long before the next ``put``."""
        self.timeout_milliseconds = milliseconds

    def request_commit(self) -> None:
        """Ask for ``pre_commit`` soon."""
        self.is_commit_requested = True

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these partitions until resumed."""
        self.paused.update(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver these partitions again."""
        self.paused.difference_update(partitions)


@dataclass(frozen=True, slots=True)
class ToleratedReporter:
    """An errant record reporter over the task's tolerance (KIP-610)."""

    tolerance: Tolerance
    task: object

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Skip a record with a report. Raises ConnectError when errors are not tolerated."""
        self.tolerance.fail(Failure(place_of(record, -1), Stage.TASK_PUT, class_name(self.task), error))
        done: Future[None] = Future()
        done.set_result(None)
        return done
