"""Running one source task: polls, converts, and commits Kafka transactions with their offsets."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.interval.values import Counts
from connect_core.kafka.delivery import Delivery
from connect_core.kafka.topic_creation import SourceTopics
from connect_core.kafka.writer import TransactionalWriter
from connect_core.run.contexts import SourceContext
from connect_core.run.control import TaskControl
from connect_core.run.conversion import Converters
from connect_core.run.pipeline import Pipeline
from connect_core.run.polling import Polled, Poller

__all__ = ["SourceRun", "SourceWork", "TransactionBoundary"]

_STOP_SECONDS = 10.0
_BOUNDED_IDLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TransactionBoundary:
    """When a transaction ends: after so many records or seconds, or where the task says."""

    records: int = 100_000
    seconds: float = 10.0
    is_connectors: bool = False
    """Whether the task itself sets boundaries (``transaction.boundary=connector``)."""


@dataclass(frozen=True, slots=True)
class SourceWork:
    """What one source task is run with."""

    task: SourceTask
    context: SourceContext
    task_config: Mapping[str, str]
    converters: Converters
    pipeline: Pipeline
    writer: TransactionalWriter
    topics: SourceTopics
    boundary: TransactionBoundary


@dataclass(slots=True)
class _Transaction:
    """What the open transaction holds that is not yet committed."""

    began: float = field(default_factory=time.monotonic)
    records: int = 0
    offsets: dict[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]] = field(default_factory=dict)
    states: dict[str, Mapping[str, str]] = field(default_factory=dict)
    acknowledged: list[tuple[Sequence[SourceRecord], Sequence[Delivery | None]]] = field(default_factory=list)


@dataclass(slots=True)
class SourceRun:
    """One attempt: transactions of {records, then source offsets}, until idle, a bound, a cap or a stop.

    Connect: ``ExactlyOnceWorkerSourceTask``. ``commit_record`` and ``commit`` run
    only after the transaction has committed.
    """

    work: SourceWork
    control: TaskControl
    records: int = 0
    bytes: int = 0
    dropped: int = 0
    offsets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    _open: _Transaction = field(default_factory=_Transaction)

    def run(self) -> None:
        """Run the task to the end of its interval."""
        task = self.work.task
        task.initialize(self.work.context)
        poller = Poller(task)
        try:
            task.start(self.work.task_config)
            poller.start()
            self._work_off(poller)
            self._commit()
        finally:
            poller.stop(_STOP_SECONDS)
            self.work.pipeline.close()

    def counts(self) -> Counts:
        """Return what is committed so far."""
        pipeline, converters = self.work.pipeline, self.work.converters
        fallbacks = max(pipeline.fallbacks, converters.fallbacks)
        return Counts(self.records, self.bytes, pipeline.tolerance.skipped, self.dropped, fallbacks)

    def _work_off(self, poller: Poller) -> None:
        last_data = time.monotonic()
        while not self.control.is_stopping and not self.is_capped():
            answer = poller.next(min(self._idle_left(last_data), self._transaction_left()))
            if answer is not None and answer.batch is not None:
                last_data = time.monotonic()
                self._send(answer, answer.batch)
            elif self._is_idle(answer, last_data):
                return
            if self._is_transaction_over():
                self._commit()

    def _send(self, answer: Polled, batch: Batch) -> None:
        transactions = self.work.context.transaction_context
        if transactions is not None and transactions.abort_next:
            self._drop(answer, batch)
            return
        produced = self.work.converters.from_connect(self.work.pipeline.apply(batch))
        topics = [topic for topic in produced.batch.topic.unique().to_pylist() if topic is not None]
        self.work.topics.ensure(topics)
        wants_records = type(self.work.task).commit_record is not SourceTask.commit_record
        deliveries = self.work.writer.produce(produced.batch, produced.keys, produced.values, produced.headers)
        if wants_records:
            self._remember(answer, batch, produced.batch, deliveries)
        self._open.records += len(batch)
        self.dropped += len(batch) - len(produced.values)
        self.bytes += sum(map(len, filter(None, produced.values)))
        self.topics.update(topics)
        self._advance(answer, batch)

    def _advance(self, answer: Polled, batch: Batch) -> None:
        assert batch.positions is not None
        self._open.states.update(answer.states)
        for partition, offset in batch.positions.last():
            self._open.offsets[canonical(partition)] = (partition, offset)

    def _drop(self, answer: Polled, batch: Batch) -> None:
        assert self.work.context.transaction_context is not None
        self.work.context.transaction_context.abort_next = False
        self.work.writer.abort()
        self.dropped += len(batch) + self._open.records
        self._advance(answer, batch)
        self._open = _Transaction(offsets=self._open.offsets, states=self._open.states)

    def _remember(self, answer: Polled, batch: Batch, sent: Batch, deliveries: Sequence[Delivery]) -> None:
        records = answer.records or batch.to_records()
        by_row: dict[int, Delivery] = dict(zip(sent.origin.to_pylist(), deliveries, strict=True))
        sources = [record for record in records if isinstance(record, SourceRecord)]
        self._open.acknowledged.append((sources, [by_row.get(row) for row in range(len(sources))]))

    def _commit(self) -> None:
        """Produce the offsets last and commit; then tell the task. Connect: ``commitTransaction``."""
        done = self._open
        if not done.offsets:
            return
        self.work.writer.commit(list(done.offsets.values()), done.states)
        self.records += done.records
        self.offsets.update({key: offset for key, (_, offset) in done.offsets.items() if offset is not None})
        self._open = _Transaction()
        for records, deliveries in done.acknowledged:
            for record, delivery in zip(records, deliveries, strict=True):
                self.work.task.commit_record(record, delivery.metadata() if delivery is not None else None)
        self.work.task.commit()
        self.control.progress(self.records, {})

    def _is_transaction_over(self) -> bool:
        boundary, done = self.work.boundary, self._open
        transactions = self.work.context.transaction_context
        if boundary.is_connectors and transactions is not None:
            over = transactions.commit_next or bool(transactions.commit_after)
            transactions.commit_next, transactions.commit_after = False, []
            return over
        return done.records >= boundary.records or self._transaction_left() <= 0

    def _transaction_left(self) -> float:
        if not self._open.offsets:
            return self.work.boundary.seconds
        return self.work.boundary.seconds - (time.monotonic() - self._open.began)

    def _idle_left(self, last_data: float) -> float:
        """Return how long the source may still give nothing; one with a bound is owed more patience."""
        idle = self.control.caps.idle_milliseconds / 1000
        if self.work.context.upper_bounds is not None:
            idle = max(idle, _BOUNDED_IDLE_SECONDS)
        return idle - (time.monotonic() - last_data)

    def _is_idle(self, answer: Polled | None, last_data: float) -> bool:
        if answer is not None and self._is_bound_reached():
            return True
        return self._idle_left(last_data) <= 0

    def _is_bound_reached(self) -> bool:
        upper = self.work.context.upper_bounds
        if upper is None:
            return False
        mine = self.work.context.offset_storage_reader.asked | set(self._open.offsets) | set(self.offsets)
        now = {key: offset for key, (_, offset) in self._open.offsets.items()}
        start = self.work.context.offset_storage_reader.start
        reached = [now.get(key, self.offsets.get(key, start.get(key))) == upper[key] for key in mine if key in upper]
        return bool(reached) and all(reached)

    def is_capped(self) -> bool:
        """Return whether a cap ends the attempt."""
        sent = self.records + self._open.records
        control = self.control
        return control.is_past_deadline or control.is_past_records(sent) or control.is_past_bytes(self.bytes)
