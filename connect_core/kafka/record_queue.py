"""A producer's queue: records are added one by one, or many at once from columns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from connect_core.errors import ConnectError, DataError
from connect_core.kafka.bulk import Messages, enqueue, lengths, to_messages
from connect_core.kafka.delivery import DeliveryReports
from connect_core.kafka.failures import called, code_of

__all__ = ["NoRoomError", "NotTakenError", "RecordColumns", "RecordQueue", "Refused", "Row", "by_topic"]

Refused = Callable[[int, DataError], None]
"""Receives the row of a record that the client refuses, and the error; the other records are sent."""

Row = tuple[Any, ...]
"""The arguments of ``Producer.produce``: topic, value, key, partition, callback, None, timestamp, headers."""

_WAIT_SECONDS = 0.05
_ANSWER_SECONDS = 10.0
_RECORD_BYTES = 70
"""More than a record takes in a batch beside its key, value and headers; a batch of them takes as much again."""
_ASK_SECONDS = 1.0
"""The partitions of a topic are asked for no more often, though each record of a batch has one that is missing."""


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Records for one topic without partition, timestamp and headers of their own.

    key, value: binary or large_binary, null = Kafka null; rows: their row numbers in the batch.
    """

    topic: str
    key: pa.Array
    value: pa.Array
    rows: range | list[int]


class NotTakenError(Exception):
    """A producer accepts nothing more: the operation and the error."""

    def __init__(self, act: str, error: KafkaError) -> None:
        super().__init__(act, error)
        self.act = act
        self.error = error


class NoRoomError(Exception):
    """A producer's queue stayed full."""


@dataclass(slots=True)
class RecordQueue:
    """Adds records to a producer's queue, waits for room in it, and checks delivery reports meanwhile.

    ``check``: called when reports were served; raises if one is a failure. ``meaning``: returns the protocol's error
    for the client's; DataError if it concerns that record alone. ``limits``: the bytes of the largest batch of topics
    that take less than the producer puts into one: brokers refuse such a batch, and librdkafka does not divide it.
    """

    producer: Any
    reports: DeliveryReports
    check: Callable[[], None]
    meaning: Callable[[str, KafkaError], ConnectError]
    timeout_seconds: float
    largest: int = field(default=0)
    """Bytes of the largest value added from columns: reports are requested for few of these."""
    _asked: dict[str, float] = field(default_factory=dict)
    """When the client was last told the partitions of a topic, by a monotonic clock."""
    limits: dict[str, int] = field(default_factory=dict)
    _waiting_bytes: int = 0
    """The most bytes for topics with limits that may be waiting to be sent in one batch."""

    def put_rows(self, rows: Iterable[Row], refused: Refused | None = None, first: int = 0) -> None:
        """Add records one by one, numbered from ``first``.

        Raise NotTakenError, NoRoomError, or what ``check`` raises.
        """
        produce = self.producer.produce
        for number, row in enumerate(rows, first):
            if row[0] in self.limits:
                self._separate(row)
            try:
                try:
                    produce(*row)
                except BufferError:
                    self._put_when_there_is_room(row)
            except KafkaException as failure:
                self._put_if_added(number, row, code_of(failure), refused)
        self._serve()

    def learn_partitions(self, topics: Iterable[str]) -> None:
        """Ask for the partitions of topics not asked for yet.

        The client then refuses a record for a missing partition when it is put in, and not only with the transaction.
        """
        for topic in topics:
            if topic not in self._asked:
                self._ask(topic)

    def put_columns(self, records: RecordColumns, refused: Refused | None = None) -> None:
        """Add records in order; raises as ``put_rows``.

        Only for the last one a delivery report is requested: it shows errors of the topic as a whole. Errors of other
        records show when the transaction cannot commit.
        """
        if records.topic in self.limits:
            for row, key, value in zip(records.rows, records.key.to_pylist(), records.value.to_pylist(), strict=True):
                self.put_rows([(records.topic, value, key, -1, self.reports.note)], refused, row)
            return
        last = len(records.value) - 1
        self.largest = max(self.largest, int(lengths(records.value).max(initial=0)))
        messages = to_messages(records.key.slice(0, last), records.value.slice(0, last))
        first, deadline = 0, self._deadline()
        while first < last:
            end = self._enqueue(records, messages, first, refused)
            if end == first:
                self._make_room(deadline)
            else:
                first, deadline = end, self._deadline()
        key, value = records.key[last].as_py(), records.value[last].as_py()
        self.put_rows([(records.topic, value, key, -1, self.reports.note)], refused, records.rows[last])

    def _separate(self, row: Row) -> None:
        """Send what is waiting if this record could make a batch too large for its topic."""
        size = _bytes_of(row)
        if self._waiting_bytes + size > self.limits[row[0]] - _RECORD_BYTES:
            self._send_waiting()
        self._waiting_bytes += size

    def _send_waiting(self) -> None:
        try:
            waiting = called(self.producer.flush, self.timeout_seconds)
        except KafkaException as failure:
            raise NotTakenError("Producing", code_of(failure)) from failure
        self.check()
        if waiting:
            raise NoRoomError
        self._waiting_bytes = 0

    def _put_when_there_is_room(self, row: Row) -> None:
        deadline = self._deadline()
        while True:
            self._make_room(deadline)
            try:
                self.producer.produce(*row)
            except BufferError:
                continue
            return

    def _put_if_added(self, number: int, row: Row, error: KafkaError, refused: Refused | None) -> None:
        """Leave a record out, unless its partition was added since the client asked for them."""
        topic, value, _, partition, *_ = row
        to = topic
        if error.code() == KafkaError._UNKNOWN_PARTITION:
            to = f"{topic}-{partition}"
            if time.monotonic() > self._asked.get(topic, 0) + _ASK_SECONDS:
                self._ask(topic)
                try:
                    self._put_when_there_is_room(row)
                except KafkaException as failure:
                    error = code_of(failure)
                else:
                    return
        self._leave_out(number, _producing(to, value), error, refused)

    def _ask(self, topic: str) -> None:
        # Brokers that do not answer are an error where the records are put in.
        with suppress(KafkaException):
            self.producer.list_topics(topic, min(self.timeout_seconds, _ANSWER_SECONDS))
            self._asked[topic] = time.monotonic()

    def _enqueue(self, records: RecordColumns, messages: Messages, first: int, refused: Refused | None) -> int:
        """Add the messages from ``first`` on → the first for which there was no room."""
        try:
            enqueue(self.producer, records.topic, messages[first:])
        except KafkaException as failure:
            raise NotTakenError(f"Producing to {records.topic}", code_of(failure)) from failure
        errors = messages["err"]
        waiting = np.flatnonzero(errors[first:] == KafkaError._QUEUE_FULL)
        end = first + int(waiting[0]) if len(waiting) else len(messages)
        for row in np.flatnonzero(errors[first:end]) + first:
            act = _producing(records.topic, records.value[row].as_py())
            self._leave_out(records.rows[row], act, KafkaError(int(errors[row])), refused)
        return end

    def _leave_out(self, number: int, act: str, error: KafkaError, refused: Refused | None) -> None:
        meaning = self.meaning(act, error)
        if refused is None or not isinstance(meaning, DataError):
            raise NotTakenError(act, error)
        refused(number, meaning)

    def _deadline(self) -> float:
        return time.monotonic() + self.timeout_seconds

    def _make_room(self, deadline: float) -> None:
        if time.monotonic() >= deadline:
            raise NoRoomError
        self._serve(_WAIT_SECONDS)

    def _serve(self, seconds: float = 0) -> None:
        try:
            called(self.producer.poll, seconds)
        except KafkaException as failure:
            raise NotTakenError("Producing", code_of(failure)) from failure
        self.check()


def by_topic(topics: pa.Array, key: pa.Array, value: pa.Array) -> Iterator[RecordColumns]:
    """Iterate over the records of each topic; ``topics``: a string or dictionary column."""
    names = topics.unique().to_pylist()
    for name in names:
        if len(names) == 1:
            yield RecordColumns(name, key, value, range(len(value)))
            continue
        rows = pc.indices_nonzero(pc.equal(topics, name))
        yield RecordColumns(name, key.take(rows), value.take(rows), rows.to_pylist())


def _bytes_of(row: Row) -> int:
    """Return no less than a record takes in a batch that is not compressed."""
    headers = row[7] if len(row) > 7 and row[7] else ()
    named = sum(len(name.encode()) + len(data or b"") + 10 for name, data in headers)
    return _RECORD_BYTES + len(row[1] or b"") + len(row[2] or b"") + named


def _producing(topic: str, value: bytes | None) -> str:
    return f"Producing to {topic} a record of {len(value or b'')} bytes"
