"""Dead letters: unchanged records that could not be processed, with the reason in headers (KIP-298)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.offsets import canonical
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.plain_writer import PlainWriter
from connect_core.kafka.raw_batch import RawHeaders
from connect_core.kafka.topic_creation import create_topic
from connect_core.settings.topics import InternalTopic

__all__ = ["DeadLetter", "DeadLetterQueue", "ErrorContext", "ensure_dead_letter_topic", "open_dead_letter_queue"]

_PREFIX = "__connect.errors."
_BATCH_BYTES = 16_384
"""As in Connect. A topic takes more, so that the brokers refuse no small letter for the others in its batch."""
_FACTOR = "errors.deadletterqueue.topic.replication.factor"


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Why and where a record failed; ``task`` and ``connector`` are those that processed it."""

    connector: str
    task: int
    stage: str
    executing_class: str
    exception_class: str | None = None
    message: str | None = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record as it was read from Kafka; ``timestamp`` in milliseconds or ``None``.

    ``source``: source partition and offset of a record that was on its way to Kafka; its Kafka partition and offset are
    -1 if unknown.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int | None = None
    headers: RawHeaders = ()
    source: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None

    def with_context(self, context: ErrorContext) -> list[tuple[str, bytes | None]]:
        """Return its headers, followed by those that describe the error.

        Connect: ``DeadLetterQueueReporter.populateContextHeaders``; the two headers of a source's position are not in
        Connect.
        """
        texts: list[tuple[str, object]] = [
            ("topic", self.topic),
            ("partition", self.partition),
            ("offset", self.offset),
            ("connector.name", context.connector),
            ("task.id", context.task),
            ("stage", context.stage),
            ("class.name", context.executing_class),
        ]
        if context.exception_class is not None:
            texts += [("exception.class.name", context.exception_class), ("exception.message", context.message)]
            texts += [("exception.stacktrace", context.trace)] if context.trace is not None else []
        if self.source is not None:
            texts += [("source.partition", canonical(self.source[0])), ("source.offset", canonical(self.source[1]))]
        added = [(_PREFIX + name, None if text is None else str(text).encode()) for name, text in texts]
        return [*self.headers, *added]


@dataclass(slots=True)
class DeadLetterQueue:
    """Produces dead letters, at least once; a letter counts as sent after ``flush``.

    A large one is sent at once: only the brokers know whether its topic takes it.
    """

    writer: PlainWriter
    has_context: bool

    def report(self, letter: DeadLetter, context: ErrorContext) -> None:
        """Queue a letter. Raise DataError if Kafka refuses it, RetriableError if the brokers accept nothing."""
        headers = letter.with_context(context) if self.has_context else list(letter.headers)
        size = sum(len(data or b"") for data in (letter.key, letter.value, *(data for _, data in headers)))
        write = self.writer.write_alone if size > _BATCH_BYTES else self.writer.produce
        write(letter.key, letter.value, headers or None, letter.timestamp)

    def flush(self) -> None:
        """Wait until every letter is in Kafka; raises as ``report``. Call it before any offset is committed."""
        self.writer.flush()

    def close(self) -> None:
        """Disconnect from the brokers."""
        self.writer.close()


def open_dead_letter_queue(
    clients: KafkaClients, topic: str, replication_factor: int, has_context: bool
) -> DeadLetterQueue:
    """Return the queue of a connector; its topic is created with one partition if it does not exist.

    Connect: ``DeadLetterQueueReporter.createAndSetup``. Raise ConnectError.
    """
    ensure_dead_letter_topic(clients, topic, replication_factor)
    return DeadLetterQueue(PlainWriter(clients, topic, batch_bytes=_BATCH_BYTES), has_context)


def ensure_dead_letter_topic(clients: KafkaClients, topic: str, replication_factor: int) -> None:
    """Create the topic of dead letters, with one partition, if it does not exist. Raise ConnectError."""
    admin = KafkaAdmin(clients)
    if topic not in admin.topic_ids([topic]):
        create_topic(admin, InternalTopic(topic, 1, replication_factor, {}), _FACTOR)
