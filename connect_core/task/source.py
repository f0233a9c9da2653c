"""Running one source task: polls, converts, and commits Kafka transactions with their offsets."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.flow import RowFailure
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.errors import ConnectError, DataError
from connect_core.interval.failpoints import reach
from connect_core.interval.values import Counts, SkippedRecords
from connect_core.kafka.delivery import Delivery, Landed
from connect_core.kafka.topic_creation import SourceTopics
from connect_core.kafka.transactional_writer import TransactionalWriter
from connect_core.task.contexts import Boundary, SourceContext
from connect_core.task.control import TaskControl
from connect_core.task.conversion import Converters
from connect_core.task.dead_letters import SourceDeadLetters
from connect_core.task.flow import FlowSteps
from connect_core.task.hooks import HookThread, release_task
from connect_core.task.pipeline import Pipeline, place_of
from connect_core.task.polling import Polled, Poller
from connect_core.task.skipped import SkippedSummary
from connect_core.task.timeouts import Timeouts
from connect_core.task.tolerance import Failure, Stage, Step, class_name

__all__ = ["SourceAttempt", "TransactionBoundary"]

_LOG = logging.getLogger(__name__)
_BOUNDED_IDLE_SECONDS = 10.0
_FIRST_ANSWER_SECONDS = 5.0
_HELD_OPEN_IDLE_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class TransactionBoundary:
    """When a transaction ends: after so many records or seconds, or where the task requests it."""

    records: int | None = 100_000
    seconds: float = 10.0
    is_connectors: bool = False
    """Whether only the task itself sets boundaries (``transaction.boundary=connector``)."""


@dataclass(frozen=True, slots=True)
class _Acknowledged:
    """A batch and where its records were written: ``None`` for dropped ones; ``None`` if places are not kept."""

    batch: Batch
    records: Sequence[SourceRecord]
    deliveries: Sequence[Delivery | None] | None

    @property
    def places(self) -> list[Landed | None] | None:
        if self.deliveries is None:
            return None
        return [None if one is None else one.metadata() for one in self.deliveries]

    def source_records(self) -> list[SourceRecord]:
        """Return the records of the batch."""
        rows: list[int] = self.batch.origin.to_pylist()
        records = [self.records[row] for row in rows] if self.records else self.batch.to_records()
        return [record for record in records if isinstance(record, SourceRecord)]

    def dropped(self) -> _Acknowledged:
        """Return the same for a transaction that was aborted."""
        return replace(self, deliveries=[None] * len(self.batch))


@dataclass(slots=True)
class _Transaction:
    """The uncommitted content of the open transaction."""

    began: float = field(default_factory=time.monotonic)
    records: int = 0
    bytes: int = 0
    dropped: int = 0
    offsets: dict[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]] = field(default_factory=dict)
    states: dict[str, Mapping[str, str]] = field(default_factory=dict)
    acknowledged: list[_Acknowledged] = field(default_factory=list)

    def advance(self, answer: Polled, batch: Batch) -> None:
        """Move the offsets to the end of a batch."""
        assert batch.positions is not None
        self.states.update(answer.states)
        for partition, offset in batch.positions.last():
            self.offsets[canonical(partition)] = (partition, offset)

    def aborted(self) -> _Transaction:
        """Return the one that takes over what an abort leaves."""
        told = [one.dropped() for one in self.acknowledged]
        return _Transaction(offsets=self.offsets, states=self.states, acknowledged=told, dropped=self.records)


@dataclass(slots=True)
class SourceAttempt:
    """One attempt: transactions of {records, then source offsets}, until idle, a bound, a cap or a stop.

    Connect: ``ExactlyOnceWorkerSourceTask``. ``commit_record`` and ``commit`` run
    only after the transaction has committed.
    """

    task: SourceTask
    context: SourceContext
    task_config: Mapping[str, str]
    converters: Converters
    pipeline: Pipeline
    writer: TransactionalWriter
    target_topics: SourceTopics
    boundary: TransactionBoundary
    control: TaskControl
    timeouts: Timeouts = field(default_factory=Timeouts)
    summary: SkippedSummary = field(default_factory=SkippedSummary)
    letters: SourceDeadLetters | None = None
    steps: FlowSteps | None = None
    moved: Counts = field(default_factory=Counts)
    offsets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    skipped: tuple[SkippedRecords, ...] = ()
    _open: _Transaction = field(default_factory=_Transaction)
    _read: int = 0
    _has_answered: bool = False
    _is_interruptible: bool = True
    _keeps_places: bool = field(init=False)
    _poller: Poller = field(init=False)
    _hooks: HookThread = field(init=False)

    def __post_init__(self) -> None:
        self._keeps_places = self.task.wants_places(self.task_config)
        self._poller = Poller(self.task, self.context.transaction_context, self.timeouts.hook_seconds)
        # Not the polling thread: a poll may block forever.
        self._hooks = HookThread(self.task, self.timeouts.hook_seconds)

    def run(self) -> None:
        """Run the task to the end of its interval. Raise ConnectError."""
        task, poller = self.task, self._poller
        try:
            self._hooks.call("initialize", lambda: task.initialize(self.context))
            poller.start(self.task_config)
            self._work_off()
            self._send_last()
            self._finish()
        finally:
            self._hooks.close()
            poller.stop(self.timeouts.stop_seconds)
            release_task(task, 2 * self.timeouts.stop_seconds)
            self.pipeline.close()

    def counts(self) -> Counts:
        """Return what has been committed so far."""
        pipeline, converters = self.pipeline, self.converters
        return replace(self.moved, fallbacks=max(pipeline.fallbacks, converters.fallbacks))

    def is_capped(self) -> bool:
        """Return whether a cap ends the attempt."""
        sent, control = self.moved.records + self._open.records, self.control
        is_full = control.is_past_records(sent) or control.is_past_bytes(self.moved.bytes + self._open.bytes)
        return is_full or control.is_past_deadline

    @property
    def _must_go_on(self) -> bool:
        """Whether the interval must continue, whatever caps or idle time say."""
        return self._is_held_open or self._is_in_snapshot

    @property
    def _is_in_snapshot(self) -> bool:
        """Whether the task cannot resume after the last result, or after one that is still queued."""
        return not (self._is_interruptible and self.task.is_interruptible())

    @property
    def _is_held_open(self) -> bool:
        """Whether the task has begun a transaction and not yet ended it: only the task may end it."""
        return self.boundary.is_connectors and self._open.records > 0

    def _work_off(self) -> None:
        last_data = time.monotonic()
        while not self.control.is_stopping and (self._must_go_on or not self.is_capped()):
            answer = self._next(min(self._idle_left(last_data), self._transaction_left()))
            if answer is not None:
                self._has_answered = True
                self._is_interruptible = answer.is_interruptible
            if self._is_in_snapshot:
                last_data = time.monotonic()
            if answer is not None and answer.batch is not None:
                self._send_all(answer, answer.batch)
            elif self._is_idle(answer, last_data):
                return
            if self._is_transaction_over():
                self._commit()
            if answer is not None and answer.batch is not None:
                # Only now: the time spent sending is not idle time of the source.
                last_data = time.monotonic()

    def _next(self, seconds: float) -> Polled | None:
        """Return the next result of ``poll``. Raises what it raised, with earlier polls committed, as in Connect."""
        try:
            return self._poller.next(seconds)
        except ConnectError:
            if not self._is_held_open:
                self._commit()
            raise

    def _send_last(self) -> None:
        """Send what was polled before the task stopped, but not beyond a cap."""
        if self._read and self.is_capped():
            return
        for answer in self._poller.last(self.timeouts.stop_seconds):
            if answer.batch is not None:
                self._send_all(answer, answer.batch)

    def _send_all(self, answer: Polled, batch: Batch) -> None:
        """Send a batch, ending transactions at exactly the records that the task requested."""
        if self.letters is not None:
            self.letters.begin(batch, answer.records)
        self._read += len(batch)
        for failure in answer.failures:
            self._fail_row(answer, failure)
        first = 0
        for row, boundary in answer.boundaries.rows:
            self._send(answer, batch, first, row + 1)
            self._end_transaction(boundary)
            first = row + 1
        if first < len(batch):
            self._send(answer, batch, first, len(batch))
        if answer.boundaries.last is not None:
            self._end_transaction(answer.boundaries.last)

    def _fail_row(self, answer: Polled, failure: RowFailure) -> None:
        """Handle a record that failed in the part of the flow that the task does itself."""
        assert self.steps is not None
        record = answer.records[failure.row]
        self.steps.fail(failure, place_of(record, failure.row), record)

    def _end_transaction(self, boundary: Boundary) -> None:
        if boundary is Boundary.ABORT:
            self._drop()
        self._commit()

    def _send(self, answer: Polled, polled: Batch, first: int, end: int) -> None:
        """Send the rows [first, end) of what was polled."""
        batch = _rows(polled, first, end)
        skipped = self.pipeline.tolerance.skipped
        given = batch if answer.result is None else answer.result
        produced = self.converters.from_connect(self.pipeline.apply(given))
        skipped = self.pipeline.tolerance.skipped - skipped
        topics = [topic for topic in produced.batch.topic.unique().to_pylist() if topic is not None]
        self.target_topics.ensure(topics)
        tolerates = self.pipeline.tolerance.settings.tolerate_all
        refused = partial(self._skip, produced.batch) if tolerates else None
        is_converted = end == len(polled)
        if is_converted and refused is None:
            self._poller.proceed()
        deliveries = self.writer.produce(produced.batch, produced.keys, produced.values, produced.headers, refused)
        if is_converted:
            # Only now if records may be refused: their dead letters are made of the polled objects.
            self._poller.proceed()
        if _is_overridden(self.task, "commit_record") or _is_overridden(self.task, "commit_batch"):
            self._remember(answer, batch, produced.batch, deliveries)
        self._open.records += len(batch)
        self._open.dropped += len(batch) - len(produced.values) - skipped
        self._open.bytes += pc.sum(pc.binary_length(produced.values)).as_py() or 0
        self.topics.update(topics)
        self._open.advance(answer, batch)
        reach("K4", self.control.connector)

    def _skip(self, batch: Batch, row: int, error: DataError) -> None:
        """Skip a record that the client refuses. Connect: ``producerSendFailed``."""
        one = batch.take(pa.array([row], pa.int64()))
        (record,), origin = one.to_records(), one.origin[0].as_py()
        step = Step(Stage.KAFKA_PRODUCE, self.task, place_of(record, origin), record)
        self.pipeline.tolerance.fail(Failure(step, error))

    def _drop(self) -> None:
        """Abort the open transaction; its offsets are kept, so that the source does not return its records again."""
        self.writer.abort()
        self._open = self._open.aborted()

    def _remember(self, answer: Polled, batch: Batch, sent: Batch, deliveries: Sequence[Delivery]) -> None:
        places: list[Delivery | None] | None = None
        if self._keeps_places:
            by_row: dict[int, Delivery] = dict(zip(sent.origin.to_pylist(), deliveries, strict=True))
            places = [by_row.get(row) for row in batch.origin.to_pylist()]
        self._open.acknowledged.append(_Acknowledged(batch, answer.records, places))

    def _commit(self) -> None:
        """Produce the offsets last and commit; then notify the task. Connect: ``commitTransaction``."""
        done = self._open
        if not done.offsets:
            return
        tolerance = self.pipeline.tolerance
        tolerance.check_share(self._read)
        reach("K5", self.control.connector)
        self.writer.commit(list(done.offsets.values()), done.states, done.records)
        self.moved += Counts(done.records, done.bytes, tolerance.skipped - self.moved.skipped, done.dropped)
        self.skipped = self.summary.lines()
        self.offsets.update({key: offset for key, (_, offset) in done.offsets.items() if offset is not None})
        self._open = _Transaction()
        _acknowledge(self._hooks, self.task, done.acknowledged)
        self.control.progress(self.moved.records, {})

    def _finish(self) -> None:
        """End the last transaction. One that the task holds open is aborted: its records are read again."""
        transactions = self.context.transaction_context
        if self._is_held_open and transactions is not None and transactions.take(()).last is not Boundary.COMMIT:
            _LOG.warning(
                "%s left a transaction of %d records open: it is aborted, and they are read again",
                class_name(self.task),
                self._open.records,
            )
            self.writer.abort()
            return
        self._commit()
        if not self.offsets:
            # As in Connect, also if no record was committed: the source may have passed over some.
            _acknowledge(self._hooks, self.task, ())

    def _is_transaction_over(self) -> bool:
        boundary = self.boundary
        if boundary.is_connectors:
            return False
        is_full = boundary.records is not None and self._open.records >= boundary.records
        return is_full or self._transaction_left() <= 0

    def _transaction_left(self) -> float:
        if self.boundary.is_connectors or not self._open.offsets:
            return _LONGEST_WAIT_SECONDS
        return self.boundary.seconds - (time.monotonic() - self._open.began)

    def _idle_left(self, last_data: float) -> float:
        """Return how much longer the source may return nothing; one with an upper bound gets more time."""
        idle = self.control.caps.idle_milliseconds / 1000
        if not self._has_answered:
            idle = max(idle, _FIRST_ANSWER_SECONDS)
        if self.context.upper_bounds is not None:
            idle = max(idle, _BOUNDED_IDLE_SECONDS)
        if self._is_held_open:
            idle = max(idle, _HELD_OPEN_IDLE_SECONDS)
        return idle - (time.monotonic() - last_data)

    def _is_idle(self, answer: Polled | None, last_data: float) -> bool:
        now = self.offsets | {key: offset for key, (_, offset) in self._open.offsets.items()}
        is_over = _is_bound_reached(self.context, now) or self.task.is_exhausted()
        if answer is not None and not self._must_go_on and is_over:
            return True
        return self._idle_left(last_data) <= 0


def _rows(batch: Batch, first: int, end: int) -> Batch:
    """Return the rows [first, end) of a batch."""
    whole = first == 0 and end == len(batch)
    return batch if whole else batch.take(pa.array(range(first, end), pa.int64()))


def _is_bound_reached(context: SourceContext, now: Mapping[str, Mapping[str, Any] | None]) -> bool:
    """Return whether all source partitions of the task are at their upper bounds; ``now``: where it has read."""
    upper, reader = context.upper_bounds or {}, context.offset_storage_reader
    mine = upper.keys() & (reader.asked | now.keys())
    return bool(mine) and all(now.get(key, reader.start.get(key)) == upper[key] for key in mine)


def _is_overridden(task: SourceTask, hook: str) -> bool:
    return getattr(type(task), hook) is not getattr(SourceTask, hook)


def _acknowledge(hooks: HookThread, task: SourceTask, done: Sequence[_Acknowledged]) -> None:
    if done:
        hooks.call("commit_record", lambda: _tell_committed(task, done))
    if _is_overridden(task, "commit"):
        hooks.call("commit", task.commit)


def _tell_committed(task: SourceTask, done: Sequence[_Acknowledged]) -> None:
    for one in done:
        places = one.places
        if not task.commit_batch(one.batch, places):
            for record, place in zip(one.source_records(), places or (), strict=True):
                task.commit_record(record, place)
