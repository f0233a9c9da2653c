"""Reads the committed messages of a topic's partitions up to known ends; open transactions are waited for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Message
from confluent_kafka import TopicPartition as KafkaPartition

from connect_core.api.records import TopicPartition
from connect_core.errors import RetriableError
from connect_core.kafka.blockers import describe_blocker
from connect_core.kafka.clients import ClientErrors, KafkaClients
from connect_core.kafka.collection_pause import collection_paused
from connect_core.kafka.failures import to_connect_error

__all__ = ["CommittedMessages"]

_SLICE = 0.005
_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class CommittedMessages:
    """The messages of a topic from ``starts`` to before ``ends``, by partition, in the order of each partition.

    A start that the topic no longer has is moved to the earliest message. ``timeout_seconds``: how long to wait for the
    last stable offset, held back by open transactions, to reach the ends.
    """

    clients: KafkaClients
    topic: str
    starts: Mapping[int, int]
    ends: Mapping[int, int]
    timeout_seconds: float
    _errors: ClientErrors = field(default_factory=ClientErrors)

    def __iter__(self) -> Iterator[Message]:
        """Yield each message. Raise RetriableError with the producer that holds a transaction open, ConnectError."""
        waiting = {number for number, end in self.ends.items() if self.starts[number] < end}
        if not waiting:
            return
        # The beginning of a compacted topic may have been removed, without loss.
        consumer = self.clients.consumer({"auto.offset.reset": "earliest", "error_cb": self._errors.note})
        try:
            consumer.assign([KafkaPartition(self.topic, number, self.starts[number]) for number in waiting])
            deadline = time.monotonic() + self.timeout_seconds
            while waiting:
                messages = self._consume(consumer)
                yield from messages
                waiting -= self._reached(consumer, waiting)
                if messages:
                    deadline = time.monotonic() + self.timeout_seconds
                elif time.monotonic() > deadline:
                    raise self._blocked(min(waiting))
        finally:
            consumer.close()

    def _consume(self, consumer: Consumer) -> list[Message]:
        with collection_paused():
            messages: list[Message] = consumer.consume(_AT_ONCE, _SLICE)
        for message in messages:
            if error := message.error():
                servers = self.clients.bootstrap_servers
                raise to_connect_error(error, f"Reading {self.topic}", servers, self._errors.last)
        return messages

    def _reached(self, consumer: Consumer, waiting: set[int]) -> set[int]:
        positions = consumer.position([KafkaPartition(self.topic, number) for number in waiting])
        return {found.partition for found in positions if found.offset >= self.ends[found.partition]}

    def _blocked(self, number: int) -> RetriableError:
        end = self.ends[number]
        blocker = describe_blocker(self.clients, TopicPartition(self.topic, number), end)
        trouble = f"; last error: {self._errors.last}" if self._errors.last else ""
        return RetriableError(
            f"{self.topic}-{number} could not be read to its end {end} in {self.timeout_seconds:g} s:"
            f" {blocker}{trouble}"
        )
