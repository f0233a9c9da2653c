"""The service's own client, so that "broker broken" is told from "connector failed"."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of one broker."""

    bootstrap: str
    replicas: int = 1

    def create(self, partitions: int = 4, name: str | None = None, **config: str) -> str:
        """Create a topic and return its name. ``config``: its settings, with ``_`` for points."""
        name = name or f"topic-{uuid.uuid4().hex[:8]}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        settings = {key.replace("_", "."): value for key, value in config.items()}
        admin.create_topics([NewTopic(name, partitions, self.replicas, config=settings)])[name].result()
        return name

    def exists(self, topic: str) -> bool:
        """Whether the broker has the topic."""
        return topic in AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(timeout=10).topics

    def write(self, topic: str, values: Sequence[bytes | None], partitions: int = 4) -> None:
        """Write values round the partitions."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 5, "enable.idempotence": True})
        for index, value in enumerate(values):
            producer.produce(topic, value, partition=index % partitions)
            if index % 10_000 == 0:
                producer.poll(0)
        assert producer.flush(30) == 0

    def read(self, topic: str, at_least: int = 0, seconds: float = 180) -> list[bytes | None]:
        """Return all committed values, waiting until there are ``at_least`` so many."""
        values: list[bytes | None] = []
        end = time.monotonic() + seconds
        while True:
            values = [value for _, value in self.placed(topic)]
            if len(values) >= at_least or time.monotonic() > end:
                return values
            time.sleep(0.2)

    def placed(self, topic: str) -> list[tuple[int, bytes | None]]:
        """Return the partition and value of all committed records, those of a partition in their order."""
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap,
            "group.id": f"check-{uuid.uuid4().hex}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        })  # fmt: skip
        try:
            known = consumer.list_topics(topic, timeout=10).topics[topic].partitions
            parts = [TopicPartition(topic, number, 0) for number in known]
            ends = {part.partition: consumer.get_watermark_offsets(part, timeout=10)[1] for part in parts}
            consumer.assign([part for part in parts if ends[part.partition]])
            values: list[tuple[int, bytes | None]] = []
            until = time.monotonic() + 20
            while time.monotonic() < until:
                messages = [one for one in consumer.consume(10_000, 0.2) if one.error() is None]
                values += [(one.partition() or 0, one.value()) for one in messages]
                at = consumer.position([part for part in parts if ends[part.partition]])
                if all(one.offset >= ends[one.partition] for one in at):
                    break
            return values
        finally:
            consumer.close()
