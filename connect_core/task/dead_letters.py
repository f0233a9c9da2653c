"""Dead letters of a task: the bytes of a failed record, whichever stage it failed in."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.convert import Converter
from connect_core.api.data import Schema
from connect_core.api.records import SinkRecord, SourceRecord, TimestampType
from connect_core.converters.json import JsonConverter
from connect_core.errors import ConnectError, DataError
from connect_core.kafka.dead_letters import DeadLetter, DeadLetterQueue, ErrorContext
from connect_core.kafka.failures import is_too_large
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.kafka.transactional_writer import TransactionalWriter
from connect_core.task.conversion import Converters
from connect_core.task.frame_headers import moved
from connect_core.task.letter_size import send_shortened
from connect_core.task.pipeline import place_of
from connect_core.task.raw_memory import RawMemory
from connect_core.task.reporting import executing_class
from connect_core.task.tolerance import Failure, Stage, Step, Tolerance, class_name

__all__ = ["ErrantRecords", "LettersOf", "SinkDeadLetters", "SourceDeadLetters"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LettersOf:
    """The origin of dead letters: the task, their topic, and whether headers give the reason."""

    connector: str
    task: int
    topic: str
    has_context: bool

    def context(self, failure: Failure) -> ErrorContext:
        """Return the content of a letter's error headers."""
        step, error = failure.step, failure.error
        return ErrorContext(
            connector=self.connector,
            task=self.task,
            stage=step.stage.value,
            executing_class=executing_class(step),
            exception_class=class_name(error),
            message=str(error),
            trace="".join(traceback.format_exception(error)),
        )


@dataclass(slots=True)
class SinkDeadLetters:
    """Sends bad records as they were read, outside any transaction: at least once.

    ``open`` is called at the first letter. A letter sent again after a crash can be identified by its topic, partition
    and offset headers.
    """

    of: LettersOf
    open: Callable[[], DeadLetterQueue]
    _queue: DeadLetterQueue | None = None
    _recent: RawMemory = field(default_factory=RawMemory)
    _waiting: list[Future[None]] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, raw: RawBatch) -> None:
        """Remember the current batch: a failure refers to a row of it, and an errant record may be older."""
        self._recent.add(raw)

    def forget(self) -> None:
        """Forget what the task has written: it reports none of these records any more."""
        self._recent.forget()

    def report(self, failure: Failure) -> None:
        """Send one record, shortened if too large. Raise DataError or RetriableError if Kafka does not take it."""
        if not failure.is_of_record:
            return
        letter = failure.letter or _letter(self._recent.latest, failure.step.place.row)
        with self._lock:
            self._queue = queue = self._queue or self.open()
            send_shortened(letter, self.of.context(failure), self.of.has_context, partial(_send, queue))

    def find(self, record: SinkRecord) -> DeadLetter | None:
        """Return a record that is not yet committed as it was read; ``None`` if its batch had to be forgotten."""
        found = self._recent.find(record.original_topic, record.original_kafka_partition, record.kafka_offset)
        return None if found is None else _letter(*found)

    def future(self) -> Future[None]:
        """Return a future that is done when every letter so far is in Kafka."""
        promised = _Promise(self)
        with self._lock:
            self._waiting.append(promised)
        return promised

    def flush(self) -> None:
        """Wait until every letter is in Kafka; raises as ``report``. Called before any offset is committed."""
        with self._lock:
            if self._queue is not None:
                self._queue.flush()
            waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.set_result(None)

    def close(self) -> None:
        """Send what is still waiting, if possible, and disconnect."""
        if self._queue is None:
            return
        try:
            self.flush()
        except ConnectError as error:
            _LOG.warning("dead letters of %s-%d may be missing: %s", self.of.connector, self.of.task, error)
        self._queue.close()


class _Promise(Future[None]):
    """Flushes the letters when its result is requested: the engine itself flushes only before offsets are committed."""

    def __init__(self, letters: SinkDeadLetters) -> None:
        super().__init__()
        self._letters = letters

    def result(self, timeout: float | None = None) -> None:
        if not self.done():
            self._letters.flush()
        super().result(timeout)


@dataclass(frozen=True, slots=True)
class ErrantRecords:
    """The errant record reporter of a sink task, over its tolerance (KIP-610).

    Connect: ``WorkerErrantRecordReporter``. A record that was delivered is sent as it was read; it is converted
    back if the task made it itself, or too much was read since.
    """

    tolerance: Tolerance
    task: object
    converters: Converters
    letters: SinkDeadLetters | None = None

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Skip a record with a report. Raise ConnectError if errors are not tolerated."""
        letter = None if self.letters is None else self.letters.find(record) or self._converted(record)
        step = Step(Stage.TASK_PUT, self.task, place_of(record, -1), record)
        self.tolerance.fail(Failure(step, error, letter=letter))
        if self.letters is not None:
            return self.letters.future()
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _converted(self, record: SinkRecord) -> DeadLetter:
        key, value, headers = self.converters.write(record)
        partition = record.original_kafka_partition
        return DeadLetter(
            record.original_topic or "",
            -1 if partition is None else partition,
            record.kafka_offset,
            key,
            value,
            record.timestamp,
            headers,
        )


@dataclass(slots=True)
class SourceDeadLetters:
    """Adds bad source records to the open transaction: exactly once, like the other records.

    A letter is the record before any transform, in the bytes of the task's converters, or as JSON with its schema if
    those cannot write it. Not in Connect, which has dead letters only for sinks.
    """

    of: LettersOf
    writer: TransactionalWriter
    converters: Converters
    ensure_topic: Callable[[], None]
    _batch: Batch | None = None
    _records: Sequence[SourceRecord] = ()
    _fallback: Converter = field(default_factory=lambda: _json())
    _is_ready: bool = False

    def begin(self, batch: Batch, records: Sequence[SourceRecord] = ()) -> None:
        """Remember the current batch: a failure refers to a row of it."""
        self._batch, self._records = batch, records

    def report(self, failure: Failure) -> None:
        """Produce one record, shortened if it is too large. Raises as ``TransactionalWriter.produce``."""
        if not failure.is_of_record:
            return
        if not self._is_ready:
            self.ensure_topic()
            self._is_ready = True
        letter = self._letter(self._record(failure.step.place.row))
        send_shortened(letter, self.of.context(failure), self.of.has_context, self._send)

    def _send(self, letter: DeadLetter, context: ErrorContext) -> DataError | None:
        headers = letter.with_context(context) if self.of.has_context else list(letter.headers)
        batch = Batch.from_records([SourceRecord(self.of.topic)])
        keys, values = (pa.array([data], pa.binary()) for data in (letter.key, letter.value))
        refusals: list[DataError] = []
        # Without a place for refusals the writer would give up the whole transaction.
        self.writer.produce(batch, keys, values, [headers], lambda _, error: refusals.append(error))
        return refusals[0] if refusals else None

    def _record(self, row: int) -> SourceRecord:
        assert self._batch is not None
        if self._records:
            return self._records[row]
        (record,) = self._batch.take(pa.array([row], pa.int64())).to_records()
        assert isinstance(record, SourceRecord)
        return record

    def _letter(self, record: SourceRecord) -> DeadLetter:
        topic, to = record.topic or "", self.converters
        headers: RawHeaders = ()
        with suppress(Exception):
            headers = to.write_headers(topic, record.headers)
        key, headers = self._bytes(to.key, topic, (record.key_schema, record.key), headers)
        value, headers = self._bytes(to.value, topic, (record.value_schema, record.value), headers)
        return DeadLetter(
            topic=topic,
            partition=-1 if record.kafka_partition is None else record.kafka_partition,
            offset=-1,
            key=key,
            value=value,
            headers=headers,
            source=_position(record),
        )

    def _bytes(
        self, converter: Converter, topic: str, data: tuple[Schema | None, Any], headers: RawHeaders
    ) -> tuple[bytes | None, RawHeaders]:
        for one in (converter, self._fallback):
            with suppress(Exception):
                return moved(one.frame_header, one.from_connect_data(topic, *data), headers)
        return repr(data[1]).encode(), headers


def _send(queue: DeadLetterQueue, letter: DeadLetter, context: ErrorContext) -> DataError | None:
    try:
        queue.report(letter, context)
    except DataError as error:
        if not is_too_large(error):
            raise
        return error
    return None


def _json() -> Converter:
    made = JsonConverter()
    made.configure({"schemas.enable": "true", "converter.type": "value"}, False)
    return made


def _position(record: SourceRecord) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return record.source_partition or {}, record.source_offset or {}


def _letter(raw: RawBatch, row: int) -> DeadLetter:
    has_time = raw.timestamp_type is not TimestampType.NO_TIMESTAMP_TYPE
    return DeadLetter(
        topic=raw.topic,
        partition=raw.partition[row].as_py(),
        offset=raw.offset[row].as_py(),
        key=raw.key[row].as_py(),
        value=raw.value[row].as_py(),
        timestamp=raw.timestamp[row].as_py() if has_time else None,
        headers=(raw.headers[row] if raw.headers else None) or (),
    )
