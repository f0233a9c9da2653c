"""The topics that take smaller batches of records than a producer makes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.properties import ClientKind
from connect_core.kafka.topics import most_bytes

__all__ = ["BatchLimits"]


@dataclass(slots=True)
class BatchLimits:
    """Asks once a topic whether its ``max.message.bytes`` is less than the producer's ``batch.size``.

    The Java producer divides a batch that the brokers find too large, librdkafka fails with all of its records.
    """

    clients: KafkaClients
    admin: KafkaAdmin
    _asked: set[str] = field(default_factory=set)

    def of(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the limits of those of the topics that were not asked for before."""
        fresh = set(topics) - self._asked
        if not fresh:
            return {}
        self._asked |= fresh
        batch = int(self.clients.settings(ClientKind.PRODUCER)["batch.size"])
        return {topic: most for topic, most in most_bytes(self.admin.client, fresh).items() if most < batch}
