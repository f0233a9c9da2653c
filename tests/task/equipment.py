"""Tasks under test: a writer that only remembers, a reader of given batches, string converters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from connect_core.api.batch import Batch
from connect_core.api.connector import WorkerLimits
from connect_core.api.convert import Converter
from connect_core.api.offsets import canonical
from connect_core.api.records import TimestampType, TopicPartition
from connect_core.api.sink import IntervalContext, IntervalKey, PartitionRange, SinkTask
from connect_core.api.source import SourceTask
from connect_core.api.transform import FlowStage
from connect_core.converters.simple_header import SimpleHeaderConverter
from connect_core.converters.string import StringConverter
from connect_core.errors import DataError
from connect_core.interval.values import IntervalCaps
from connect_core.kafka.dead_letters import DeadLetter, ErrorContext
from connect_core.kafka.delivery import Landed
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.task.contexts import PlannedOffsets, SinkContext, SourceContext, Transactions
from connect_core.task.control import TaskControl
from connect_core.task.conversion import Converters
from connect_core.task.dead_letters import ErrantRecords, LettersOf, SinkDeadLetters, SourceDeadLetters
from connect_core.task.pipeline import Pipeline
from connect_core.task.sink import SinkAttempt
from connect_core.task.skipped import SkippedSummary
from connect_core.task.source import SourceAttempt, TransactionBoundary
from connect_core.task.timeouts import Timeouts
from connect_core.task.tolerance import Tolerance, ToleranceSettings

KEY = IntervalKey("orders", 0, 1, 1)
PART = TopicPartition("t", 0)


@dataclass(frozen=True)
class GivenDelivery:
    """A record whose place is known; ``None``: it was not taken."""

    landed: Landed | None

    def metadata(self) -> Landed | None:
        return self.landed


@dataclass
class RememberedWriter:
    """Stands for Kafka: keeps what was produced until it is committed."""

    calls: list[Any] = field(default_factory=list)
    committed: list[bytes | None] = field(default_factory=list)
    offsets: dict[str, Any] = field(default_factory=dict)
    fails_commit: BaseException | None = None
    most_bytes: int = 1_000_000
    most_letter_bytes: int = 1_000_000
    _open: list[bytes | None] = field(default_factory=list)

    def produce(
        self,
        batch: Batch,
        keys: pa.Array,
        values: pa.Array,
        headers: Any,
        refused: Callable[[int, DataError], None] | None = None,
    ) -> Sequence[GivenDelivery]:
        if batch.topic.to_pylist()[:1] == ["dead"]:
            return self._take_letter(keys[0].as_py(), values[0].as_py(), headers[0], refused)
        self.calls.append(("produce", len(values)))
        deliveries = []
        for row, value in enumerate(values.to_pylist()):
            if len(value or b"") > self.most_bytes:
                error = DataError(f"a record of {len(value or b'')} bytes")
                if refused is None:
                    raise error
                refused(row, error)
                deliveries.append(GivenDelivery(None))
                continue
            deliveries.append(GivenDelivery(Landed("t", 0, len(self.committed) + len(self._open))))
            self._open.append(value)
        return deliveries

    def commit(
        self, offsets: Sequence[tuple[Mapping[str, Any], Any]], states: Mapping[str, Mapping[str, str]], records: int
    ) -> None:
        if self.fails_commit is not None:
            raise self.fails_commit
        self.calls.append(("commit", [offset for _, offset in offsets]))
        self.committed += self._open
        self._open = []
        self.offsets.update({canonical(partition): offset for partition, offset in offsets})

    def _take_letter(self, key: Any, value: Any, headers: Any, refused: Any) -> Sequence[GivenDelivery]:
        if size_of(value, headers) > self.most_letter_bytes:
            refused(0, DataError("a letter that is too large"))
        else:
            self.calls.append(("letter", "dead", key, value, dict(headers)))
        return ()

    def abort(self) -> None:
        self.calls.append(("abort", len(self._open)))
        self._open = []


@dataclass
class RememberedQueue:
    """Stands for a dead letter topic: what is flushed is in it."""

    calls: list[Any] = field(default_factory=list)
    letters: list[tuple[DeadLetter, ErrorContext]] = field(default_factory=list)
    most_bytes: int = 1_000_000

    def report(self, letter: DeadLetter, context: ErrorContext) -> None:
        self.calls.append("report")
        if size_of(letter.value, letter.with_context(context)) > self.most_bytes:
            raise DataError("too large") from KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self.letters.append((letter, context))

    def flush(self) -> None:
        self.calls.append("flush")

    def close(self) -> None:
        self.calls.append("close")


class KnownTopics:
    """Stands for topics that all exist."""

    def ensure(self, topics: Any) -> None:
        """Do nothing."""


@dataclass
class GivenReader:
    """Gives the batches it was made of, then ends."""

    batches: list[RawBatch]
    ends: Mapping[TopicPartition, int]
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    sought: dict[TopicPartition, int] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        return not self.batches

    def poll(self) -> list[RawBatch]:
        batch = self.batches.pop(0)
        self.positions[PART] = batch.offset[len(batch) - 1].as_py() + 1
        if not self.batches:
            self.positions.update(self.ends)
        return [batch]

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.sought[partition] = offset

    def pause(self, partitions: Any) -> None:
        """Do nothing."""

    def resume(self, partitions: Any) -> None:
        """Do nothing."""

    def __enter__(self) -> GivenReader:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


def size_of(value: bytes | None, headers: RawHeaders) -> int:
    """Return the size of a letter whose key does not count."""
    return len(value or b"") + sum(len(name) + len(data or b"") for name, data in headers)


def raw(values: Sequence[str], first: int = 0) -> RawBatch:
    """Return records of partition 0 with consecutive offsets."""
    count = len(values)
    return RawBatch(
        "t",
        pa.array([0] * count, pa.int32()),
        pa.array(range(first, first + count), pa.int64()),
        pa.array([1] * count, pa.int64()),
        TimestampType.CREATE_TIME,
        pa.nulls(count, pa.binary()),
        pa.array([value.encode() for value in values], pa.binary()),
    )


def tolerance(tolerate: bool = False, **settings: Any) -> Tolerance:
    """Return a tolerance that retries nothing."""
    return Tolerance(ToleranceSettings(tolerate, **settings))


def strings(guard: Tolerance) -> Converters:
    """Return string converters."""
    key, value, header = StringConverter(), StringConverter(), SimpleHeaderConverter()
    key.configure({}, True)
    value.configure({}, False)
    header.configure({})
    return Converters(key, value, header, guard)


@dataclass
class Around:
    """What an attempt is made with beside its task; by default nothing is tolerated and nobody waits long."""

    guard: Tolerance = field(default_factory=tolerance)
    timeouts: Timeouts = field(default_factory=Timeouts)
    upper: Mapping[str, Any] | None = None
    boundary: TransactionBoundary = field(default_factory=TransactionBoundary)
    stages: Sequence[FlowStage] = ()
    letters: LettersOf | None = None
    queue: RememberedQueue | None = None
    value: Converter | None = None


def source_attempt(
    task: SourceTask, writer: RememberedWriter, caps: IntervalCaps | None = None, **more: Any
) -> SourceAttempt:
    """Return an attempt of a source task over the remembered writer; ``more`` is of Around."""
    around = Around(**more)
    transactions = Transactions() if around.boundary.is_connectors else None
    context = SourceContext({}, WorkerLimits(), PlannedOffsets({}), transactions, {}, around.upper)
    converters, summary = _converters(around), SkippedSummary()
    letters = None
    if around.letters is not None:
        letters = SourceDeadLetters(around.letters, writer, converters, lambda: None)  # type: ignore[arg-type]
        around.guard.add(letters)
    around.guard.add(summary)
    return SourceAttempt(
        task,
        context,
        {},
        converters,
        Pipeline(around.stages, around.guard),
        writer,  # type: ignore[arg-type]
        KnownTopics(),  # type: ignore[arg-type]
        around.boundary,
        TaskControl(caps or IntervalCaps(idle_milliseconds=100)),
        around.timeouts,
        summary,
        letters,
    )


def sink_attempt(task: SinkTask, is_staged: bool = False, **more: Any) -> tuple[SinkAttempt, threading.Event]:
    """Return an attempt of a sink task, and its stop flag; ``more`` is of Around, ``queue`` takes its dead letters."""
    around = Around(**more)
    guard, queue = around.guard, around.queue
    ranges = (PartitionRange("t", 0, 0, 100),)
    converters, summary = _converters(around), SkippedSummary()
    letters = None
    if queue is not None:
        letters = SinkDeadLetters(LettersOf("orders", 0, "dead", True), lambda: queue)  # type: ignore[arg-type, return-value]
        guard.add(letters)
    guard.add(summary)
    reporter = ErrantRecords(guard, task, converters, letters)
    context = SinkContext({}, WorkerLimits(), [PART], IntervalContext(KEY, ranges, {}, "1-a"), reporter)
    control = TaskControl(IntervalCaps())
    pipeline = Pipeline(around.stages, guard)
    attempt = SinkAttempt(
        task, context, {}, converters, pipeline, is_staged, control, around.timeouts, summary, letters
    )
    return attempt, control.stopping


def _converters(around: Around) -> Converters:
    found = strings(around.guard)
    return found if around.value is None else replace(found, value=around.value)
