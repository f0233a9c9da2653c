"""Writes records, and the source offsets reached, in Kafka transactions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import repeat
from types import TracebackType
from typing import Any, NoReturn, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from connect_core.api.batch import Batch
from connect_core.api.offsets import canonical
from connect_core.errors import ConnectError, DataError, IllegalStateError, RetriableError, UnclearOutcomeError
from connect_core.interval.failpoints import reach
from connect_core.interval.values import OffsetStates, SourceOffsets
from connect_core.kafka.clients import ClientErrors, KafkaClients, destroy, init_transactions
from connect_core.kafka.delivery import Delivery, DeliveryReports
from connect_core.kafka.failures import FENCED, called, code_of, to_produce_error
from connect_core.kafka.marker_records import Marker, MarkerStamp
from connect_core.kafka.raw_batch import RawHeaders
from connect_core.kafka.record_queue import NoRoomError, NotTakenError, RecordQueue, Refused, by_topic
from connect_core.kafka.timestamps import sent_times

__all__ = ["KafkaRecord", "OffsetsTarget", "TransactionalWriter", "WriterOptions"]

_log = logging.getLogger(__name__)
_LEAST_ROWS = 20
"""The fewest records per topic for which one call for all costs less than one call for each."""


@dataclass(frozen=True, slots=True)
class OffsetsTarget:
    """The topic and the stamp for source offsets; ``start``: the planned ones."""

    topic: str
    connector: str
    stamp: MarkerStamp
    start: SourceOffsets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriterOptions:
    """Timeouts in seconds, and whether each record's place is needed (it costs throughput).

    ``transaction_seconds``: the broker aborts a transaction open for longer; by default
    ``producer.transaction.timeout.ms``, 60 s unless set. ``limits``: returns the largest batch, in bytes, of those of
    some topics that take less than the producer puts into one.
    """

    init_seconds: float = 60.0
    commit_seconds: float = 60.0
    transaction_seconds: float | None = None
    keeps_places: bool = False
    limits: Callable[[Iterable[str]], Mapping[str, int]] = lambda topics: {}


class KafkaRecord(Protocol):
    """The bytes of one record, whose key determines its partition."""

    @property
    def key(self) -> bytes | None:
        """The key."""

    @property
    def value(self) -> bytes | None:
        """The value."""

    @property
    def headers(self) -> RawHeaders:
        """The headers, in order."""


class _State(Enum):
    NEW = "not yet initialised"
    READY = "ready"
    OPEN = "in a transaction"
    CLOSED = "closed"


class TransactionalWriter:
    """One transactional producer: ``init``, then any number of {produce…, commit}.

    After any error of a transaction it is closed for good: create another one, which runs ``init`` before anything
    else, and read the marker (plan/README.md#rules, 5).
    """

    def __init__(
        self,
        clients: KafkaClients,
        transactional_id: str,
        offsets: OffsetsTarget,
        options: WriterOptions = WriterOptions(),
    ) -> None:
        self._id = transactional_id
        self._offsets = offsets
        self._committed: dict[str, Mapping[str, Any] | None] = dict(offsets.start)
        self._options = options
        self._servers = clients.bootstrap_servers
        self._errors = ClientErrors()
        self._reports = DeliveryReports()
        self._state = _State.NEW
        producer = clients.producer(
            {
                "transactional.id": transactional_id,
                **_time_limit(options.transaction_seconds),
                "delivery.report.only.error": not options.keeps_places,
                "error_cb": self._errors.note,
            }
        )
        self._queue = RecordQueue(producer, self._reports, self._check_delivered, self._meaning, options.commit_seconds)

    @property
    def _producer(self) -> Any:
        return self._queue.producer

    def init(self) -> None:
        """Fence every older producer of this id and end its open transaction.

        Raise RetriableError if the brokers do not answer, ConnectError if forbidden.
        """
        self._require(_State.NEW)
        self._attempt("init_transactions", partial(init_transactions, self._producer), self._options.init_seconds)
        self._state = _State.READY

    def produce(
        self,
        batch: Batch,
        keys: pa.Array,
        values: pa.Array,
        headers: Sequence[RawHeaders] | None,
        refused: Refused | None = None,
    ) -> Sequence[Delivery]:
        """Add records to the open transaction, or to a new one.

        keys, values: binary or large_binary, null = Kafka null; topic, partition and timestamp are the batch's.
        Return one delivery per record if places are kept, else nothing. A record that is too large for the client, or
        whose partition does not exist, is passed to ``refused``, else raises DataError. Raise StaleEpochError when
        fenced, RetriableError if the brokers accept nothing.
        """
        self._begin()
        self._queue.limits.update(self._options.limits(distinct := batch.topic.unique().to_pylist()))
        if batch.partition.null_count < len(batch):
            self._queue.learn_partitions(distinct)
        if headers is None and not self._options.keeps_places and _is_for_columns(batch):
            for records in by_topic(batch.topic, keys, values):
                self._put(partial(self._queue.put_columns, records, refused))
            return ()
        topics, partitions, stamps = _topics(batch.topic), _partitions(batch.partition), sent_times(batch.timestamp)
        deliveries = [Delivery(self._reports) for _ in range(len(batch))] if self._options.keeps_places else ()
        callbacks = deliveries or repeat(self._reports.note)
        data = values.to_pylist(), keys.to_pylist()
        rows = zip(topics, *data, partitions, callbacks, repeat(None), stamps, headers or repeat(None))
        self._put(partial(self._queue.put_rows, rows, refused))
        return deliveries

    def commit(
        self,
        offsets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]],
        states: OffsetStates | None = None,
        records: int = 0,
    ) -> None:
        """Produce the source offsets, last, and commit.

        ``states``: private state of sources by canonical partition; ``records``: how many the transaction moved.
        Raise UnclearOutcomeError when only the marker shows whether it is committed; StaleEpochError when fenced (then,
        too, only the marker shows it); the error of a refused record, or RetriableError, when it is not committed.
        """
        self._begin()
        markers = [self._marker(partition, offset, states or {}) for partition, offset in offsets]
        markers[:1] = [replace(first, records=records) for first in markers[:1]]
        self.produce_records(self._offsets.topic, [marker.encode() for marker in markers])
        deadline = time.monotonic() + self._options.commit_seconds
        self._flush(deadline)
        reach("K6", self._offsets.connector)
        try:
            called(self._producer.commit_transaction, max(1.0, deadline - time.monotonic()))
        except KafkaException as failure:
            self._fail_commit(failure)
        self._state = _State.READY
        for partition, offset in offsets:
            self._committed[canonical(partition)] = offset

    def produce_records(self, topic: str, records: Iterable[KafkaRecord]) -> None:
        """Add records for one topic to the open transaction, or to a new one; raises as ``produce``."""
        self._begin()
        note = self._reports.note
        rows = ((topic, one.value, one.key, -1, note, None, 0, one.headers) for one in records)
        self._put(partial(self._queue.put_rows, rows))

    def abort(self) -> None:
        """Abort the open transaction, if any. Raise StaleEpochError when fenced."""
        if self._state is not _State.OPEN:
            return
        # Not purged: sequence numbers would be missing, and the next transaction would fail.
        self._attempt("Delivering records that are discarded", self._producer.flush, self._options.commit_seconds)
        self._attempt("Aborting a transaction", self._producer.abort_transaction, self._options.commit_seconds)
        self._reports.failed.clear()
        self._state = _State.READY

    def close(self) -> None:
        """Disconnect from the brokers; an open transaction is aborted if that is still possible."""
        if self._state is _State.OPEN:
            try:
                called(self._producer.abort_transaction, self._options.commit_seconds)
            except KafkaException as failure:
                _log.warning("%s: the open transaction will time out: %s", self._id, code_of(failure).str())
        if self._state is not _State.CLOSED:
            self._discard()

    def __enter__(self) -> TransactionalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        if self._state is _State.OPEN:
            return
        self._require(_State.READY)
        self._attempt("Beginning a transaction", self._producer.begin_transaction)
        self._queue.largest = 0
        self._state = _State.OPEN

    def _require(self, state: _State) -> None:
        if self._state is not state:
            raise IllegalStateError(f"The producer {self._id} is {self._state.value}; it must be {state.value}")

    def _marker(self, partition: Mapping[str, Any], offset: Mapping[str, Any] | None, states: OffsetStates) -> Marker:
        key = canonical(partition)
        target = self._offsets
        start, state = self._committed.get(key), states.get(key)
        return Marker(target.connector, partition, offset, target.stamp, start, state)

    def _put(self, put: Callable[[], None]) -> None:
        try:
            put()
        except NotTakenError as refusal:
            if refusal.error.code() == KafkaError._STATE:
                self._fail_delivery()
            raise self._ended(refusal.act, KafkaException(refusal.error)) from refusal
        except NoRoomError as full:
            self._discard()
            raise RetriableError(
                f"The brokers of bootstrap.servers={self._servers} accepted no record for"
                f" {self._options.commit_seconds:g} s; last error: {self._errors.last or 'none'}"
            ) from full

    def _check_delivered(self) -> None:
        if self._reports.failed:
            self._fail_delivery()

    def _meaning(self, act: str, error: KafkaError) -> ConnectError:
        return _advised(to_produce_error(error, act, self._servers, self._errors.last), error)

    def _flush(self, deadline: float) -> None:
        """Wait until everything is delivered: after a failure up to here, the transaction is not committed."""
        try:
            waiting = called(self._producer.flush, max(0.0, deadline - time.monotonic()))
        except KafkaException as failure:
            raise self._ended("Delivering a transaction", failure) from failure
        self._check_delivered()
        if waiting:
            self._discard()
            raise RetriableError(
                f"{waiting} records of a transaction were not delivered in {self._options.commit_seconds:g} s"
                f" to bootstrap.servers={self._servers}; last error: {self._errors.last or 'none'}"
            )

    def _fail_delivery(self) -> NoReturn:
        """End a transaction of which a record was refused."""
        reason = self._abort_reason()
        try:
            called(self._producer.purge)
            called(self._producer.abort_transaction, self._options.commit_seconds)
        except KafkaException as failure:
            _log.warning("%s: a failed transaction will time out: %s", self._id, code_of(failure).str())
        largest = self._queue.largest
        self._discard()
        if reason is not None and self._reports.are_purged:
            raise self._meaning(f"A transaction of {self._id}, with records of up to {largest} bytes,", reason)
        self._reports.raise_failure(self._servers, largest)
        raise RetriableError(f"A transaction of {self._id} was ended by the client; brokers: {self._servers}")

    def _abort_reason(self) -> KafkaError | None:
        """Return why the open transaction can only be aborted: the client reveals it when another one is begun."""
        try:
            called(self._producer.begin_transaction)
        except KafkaException as failure:
            error = code_of(failure)
            return error if error.txn_requires_abort() else None
        return None

    def _fail_commit(self, failure: KafkaException) -> None:
        error = code_of(failure)
        if error.txn_requires_abort():
            self._fail_delivery()
        elif error.code() not in FENCED:
            self._discard()
            raise UnclearOutcomeError(
                f"No broker reported whether a transaction of {self._id} was committed: {error.str()}"
                f" (bootstrap.servers={self._servers}; last error: {self._errors.last or 'none'})."
                " The marker in the offsets topic will show it"
            ) from failure
        raise self._ended("Committing a transaction", failure) from failure

    def _attempt(self, act: str, call: Callable[..., object], *arguments: float) -> None:
        try:
            called(call, *arguments)
        except KafkaException as failure:
            raise self._ended(f"{act} of {self._id}", failure) from failure

    def _ended(self, act: str, failure: KafkaException) -> ConnectError:
        """Close after a failure, and return its exception."""
        error = code_of(self._reason(failure))
        self._discard()
        return self._meaning(act, error)

    def _reason(self, failure: KafkaException) -> KafkaException:
        """Return the cause if the client reports only that it is unusable; update its last error."""
        try:
            called(self._producer.poll, 0)
            if code_of(failure).code() == KafkaError._FATAL:
                called(self._producer.begin_transaction)
        except KafkaException as fatal:
            return fatal
        return failure

    def _discard(self) -> None:
        """Destroy the client at once: what it has in flight is discarded and not retried."""
        producer, self._queue.producer = self._producer, _Closed(self._id)
        self._state = _State.CLOSED
        destroy(producer)


def _time_limit(seconds: float | None) -> dict[str, int]:
    return {} if seconds is None else {"transaction.timeout.ms": int(seconds * 1000)}


def _advised(found: ConnectError, error: KafkaError) -> ConnectError:
    if isinstance(found, DataError) and error.code() != KafkaError._UNKNOWN_PARTITION:
        found.add_note("Raise producer.max.request.size and the topic's max.message.bytes, or skip the record")
    return found


def _is_for_columns(batch: Batch) -> bool:
    """Return whether no record has a partition or timestamp of its own, and each topic has enough records to pay."""
    is_bare = batch.partition.null_count == len(batch) and (
        batch.timestamp.null_count == len(batch) or _is_all(batch.timestamp, batch.read_time)
    )
    return is_bare and len(batch) >= _LEAST_ROWS * len(batch.topic.unique())


def _is_all(column: pa.Array, number: int | None) -> bool:
    """Return whether every row is this number."""
    return number is not None and column.null_count == 0 and bool(pc.all(pc.equal(column, number)).as_py())


def _topics(column: pa.Array) -> Iterable[str]:
    """Return a topic for each row; entries of a dictionary are converted only once."""
    if not pa.types.is_dictionary(column.type):
        names: list[str] = column.to_pylist()
        return names
    names = column.dictionary.to_pylist()
    return repeat(names[0]) if len(names) == 1 else map(names.__getitem__, column.indices.to_pylist())


def _partitions(column: pa.Array) -> Iterable[int]:
    if column.null_count == len(column):
        return repeat(-1)
    numbers: list[int] = column.fill_null(-1).to_pylist()
    return numbers


class _Closed:
    """Replaces a closed producer: every call raises."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    def __getattr__(self, name: str) -> Any:
        raise IllegalStateError(f"The producer {self._identity} is closed; create another one and call init")
