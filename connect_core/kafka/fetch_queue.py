"""A consumer's queue of fetched messages: taken as columns, or as message objects.

See kafka/ADR-5-messages-read-as-columns.md.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from confluent_kafka import Consumer, KafkaError, Message

from connect_core.errors import ConnectError
from connect_core.kafka.collection_pause import collection_paused
from connect_core.kafka.fetched import Fetched, from_messages
from connect_core.kafka.librdkafka import handle_of, library, version
from connect_core.kafka.memory import Addresses, WordReader, binary_column, distinct
from connect_core.kafka.message_list import MessageList
from connect_core.kafka.raw_batch import RawHeaders
from connect_core.kafka.record_headers import parse_headers

__all__ = ["ColumnQueue", "FetchError", "FetchQueue", "MessageQueue", "open_queue"]

_LOG = logging.getLogger(__name__)
_KNOWN_LAYOUTS = ((2, 14), (2, 16))
"""The first and the last version of librdkafka whose ``rd_kafka_msg_t`` is laid out as below."""
_ERR, _TOPIC, _PARTITION, _, _LEN, _, _KEY_LEN, _ = range(8)
"""Words of ``rd_kafka_message_t``, which is public: payload, key and offset are after the last three."""
_FLAGS_AND_TYPE, _HEADERS_LEN = 11, 15
"""Words of ``rd_kafka_msg_t`` after it (rdkafka_msg.h), and after each: the timestamp, the record's raw headers."""
_EVENT_LOG, _EVENT_ERROR = 0x4, 0x8
_LEVELS = (logging.CRITICAL,) * 3 + (logging.ERROR, logging.WARNING, logging.INFO, logging.INFO, logging.DEBUG)
"""Syslog severity → level."""


class FetchError(Exception):
    """An error that a consumer received instead of a message, with its topic and partition."""

    def __init__(self, error: KafkaError, topic: str, partition: int) -> None:
        super().__init__(error, topic, partition)
        self.error = error
        self.topic = topic
        self.partition = partition


class FetchQueue(Protocol):
    """The source of a consumer's messages, once partitions are assigned to it."""

    def fetch(self, count: int, seconds: float) -> Fetched:
        """Return at most ``count`` messages, waiting at most ``seconds``. Raise FetchError."""

    def close(self) -> None:
        """Release the queue; called before the consumer is closed."""


def open_queue(consumer: Consumer, note: Callable[[KafkaError], None], log: logging.Logger) -> FetchQueue:
    """Return the fastest queue for a consumer that has no partitions yet.

    note, log: receive the client's errors and log lines if its callbacks cannot run.
    """
    first, last = _KNOWN_LAYOUTS
    if first <= version() <= last:
        return ColumnQueue(consumer, note, log)
    _LOG.warning("Kafka messages are read one by one: the layout of librdkafka %d.%d is not known", *version())
    return MessageQueue(consumer)


class MessageQueue:
    """Returns messages as objects of the Python client."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def fetch(self, count: int, seconds: float) -> Fetched:
        """Return at most ``count`` messages. Raise FetchError."""
        with collection_paused():
            messages: list[Message] = self._consumer.consume(count, seconds)
            for message in messages:
                if error := message.error():
                    raise FetchError(error, message.topic() or "", message.partition() or 0)
            return from_messages(messages)

    def close(self) -> None:
        """Do nothing: the consumer owns all resources."""


class ColumnQueue:
    """Reads messages from librdkafka's own memory, without an object for each.

    The client's callbacks need a state that only its own methods set, so they must not run here: its events stay in the
    main queue and are read as events.
    """

    def __init__(self, consumer: Consumer, note: Callable[[KafkaError], None], log: logging.Logger) -> None:
        self._note = note
        self._log = log
        self._client = library()
        handle = handle_of(consumer)
        self._events = self._client.rd_kafka_queue_get_main(handle)
        self._messages = self._client.rd_kafka_queue_get_consumer(handle)
        self._client.rd_kafka_queue_forward(self._events, None)
        # Events from before the line above are in this queue; messages are not, as nothing is assigned yet.
        self._serve(self._messages)
        self._names: dict[int, str] = {}

    def fetch(self, count: int, seconds: float) -> Fetched:
        """Return at most ``count`` messages. Raise FetchError."""
        self._serve(self._events)
        with MessageList(count) as messages:
            return self._columns(messages.receive(self._messages, round(seconds * 1000)))

    def close(self) -> None:
        """Release the queues."""
        self._serve(self._events)
        for queue in (self._events, self._messages):
            self._client.rd_kafka_queue_destroy(queue)

    def _columns(self, addresses: Addresses) -> Fetched:
        read = WordReader(addresses)
        errors, topics = read.pair(_ERR)
        failed = np.flatnonzero(_low(errors))
        if len(failed):
            raise self._failure(int(addresses[failed[0]]))
        handles, topic = distinct(topics)
        (partitions, payloads), (lengths, keys) = read.pair(_PARTITION), read.pair(_LEN)
        (key_lengths, offsets), (kinds, times) = read.pair(_KEY_LEN), read.pair(_FLAGS_AND_TYPE)
        fetched = Fetched(
            tuple(self._name(int(handle)) for handle in handles),
            topic,
            _low(partitions),
            offsets.astype(np.int64),
            times.astype(np.int64),
            (kinds >> np.uint64(32)).astype(np.int32),
            binary_column(keys, key_lengths),
            binary_column(payloads, lengths),
            _headers(*read.pair(_HEADERS_LEN)),
        )
        self._check_layout(addresses, fetched)
        return fetched

    def _check_layout(self, addresses: Addresses, fetched: Fetched) -> None:
        """Compare one message with librdkafka's own accessor. Raise ConnectError."""
        if not len(addresses):
            return
        kind = ctypes.c_int()
        time = self._client.rd_kafka_message_timestamp(int(addresses[-1]), ctypes.byref(kind))
        if (kind.value, time) != (fetched.timestamp_type[-1], fetched.timestamp[-1]):
            raise ConnectError(
                f"librdkafka {'.'.join(map(str, version()))} has an unknown message layout;"
                " install confluent-kafka as pinned in config/constraints.txt"
            )

    def _name(self, handle: int) -> str:
        if handle not in self._names:
            name: bytes = self._client.rd_kafka_topic_name(handle)
            self._names[handle] = name.decode()
        return self._names[handle]

    def _failure(self, address: int) -> FetchError:
        read = WordReader(np.array([address], np.uint64))
        code, topic, partition = (int(read(word)[0]) for word in (_ERR, _TOPIC, _PARTITION))
        text: bytes = self._client.rd_kafka_message_errstr(address)
        name = self._name(topic) if topic else ""
        return FetchError(KafkaError(_signed(code), text.decode(errors="replace")), name, _signed(partition))

    def _serve(self, queue: Any) -> None:
        """Pass on the client's errors and log lines."""
        client = self._client
        while event := client.rd_kafka_queue_poll(queue, 0):
            kind = client.rd_kafka_event_type(event)
            if kind == _EVENT_ERROR:
                text: bytes = client.rd_kafka_event_error_string(event) or b""
                self._note(KafkaError(client.rd_kafka_event_error(event), text.decode(errors="replace")))
            elif kind == _EVENT_LOG:
                self._log_line(event)
            client.rd_kafka_event_destroy(event)

    def _log_line(self, event: int) -> None:
        facility, text, level = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_int()
        self._client.rd_kafka_event_log(event, ctypes.byref(facility), ctypes.byref(text), ctypes.byref(level))
        parts = [(part.value or b"").decode(errors="replace") for part in (facility, text)]
        self._log.log(_LEVELS[level.value & 7], "%s %s", *parts)


def _headers(lengths: Addresses, places: Addresses) -> list[RawHeaders | None] | None:
    """Return each message's headers; ``None`` when no message has any."""
    sizes = _low(lengths)
    # A length of one byte is a count of zero.
    present = np.flatnonzero(sizes > 1)
    if not len(present):
        return None
    found: list[RawHeaders | None] = [None] * len(lengths)
    raw = binary_column(places[present], sizes[present].astype(np.uint64))
    for row, data in zip(present.tolist(), raw.to_pylist(), strict=True):
        found[row] = parse_headers(data)
    return found


def _low(words: Addresses) -> npt.NDArray[np.int32]:
    return (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.int32)


def _signed(word: int) -> int:
    return ctypes.c_int32(word & 0xFFFFFFFF).value
