"""Delivery results of produced records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from confluent_kafka import KafkaError, Message

from connect_core.kafka.failures import to_produce_error

__all__ = ["Delivery", "DeliveryReports", "Landed"]


_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)


class Landed(NamedTuple):
    """The position of a record in Kafka. Connect: ``RecordMetadata``."""

    topic: str
    partition: int
    offset: int


@dataclass(slots=True)
class DeliveryReports:
    """Takes a producer's delivery reports; keeps the failures."""

    failed: list[tuple[KafkaError, Message]] = field(default_factory=list)

    def note(self, error: KafkaError | None, message: Message) -> None:
        """Remember a failed delivery; librdkafka calls this while the producer is polled."""
        if error is not None:
            self.failed.append((error, message))

    @property
    def are_purged(self) -> bool:
        """Whether all failed records were only dropped with their transaction, which does not reveal the cause."""
        return all(error.code() in _PURGED for error, _ in self.failed)

    def raise_failure(self, servers: str, largest: int = 0) -> None:
        """Raise the error of the failed record that caused the failure, if any failed.

        One request carries many records and fails as a whole: of records too large for the broker, the largest is
        named. ``largest``: size in bytes of the largest record for which no report was requested.
        """
        if not self.failed:
            return
        error, message = max(self.failed, key=lambda failure: (failure[0].code() not in _PURGED, len(failure[1])))
        size = len(message)
        what = f"a record of {size} bytes" if size >= largest else f"records of up to {largest} bytes"
        raise to_produce_error(error, f"Producing to {message.topic()}-{message.partition()} {what}", servers)


@dataclass(slots=True)
class Delivery:
    """One produced record; its place is known once its transaction has committed.

    It is its own delivery callback: a closure per record would cost twice as much.
    """

    reports: DeliveryReports
    landed: tuple[str, int, int] | None = None

    def metadata(self) -> Landed | None:
        """Return the record's place in Kafka; ``None`` before the commit."""
        return None if self.landed is None else Landed(*self.landed)

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.landed = message.topic() or "", message.partition() or 0, message.offset() or 0
        else:
            self.reports.note(error, message)
