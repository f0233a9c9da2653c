"""A real broker for tests, spoken to by the client's own API."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.api.sink import PartitionRange
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.partition_ends import partition_ends
from connect_core.kafka.topics import topic_ids


@dataclass(frozen=True, slots=True)
class Cluster:
    """One broker; topics and ids are named at random, so tests do not meet."""

    bootstrap: str

    def clients(self, **worker: str) -> KafkaClients:
        """Return our clients of the broker, with further worker properties (``_`` for ``.``)."""
        return KafkaClients(
            {"bootstrap.servers": self.bootstrap, **{key.replace("_", "."): value for key, value in worker.items()}}
        )

    def admin(self) -> AdminClient:
        """Return a plain admin client."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def create(self, partitions: int = 1, name: str | None = None, **config: str) -> str:
        """Create a topic and return its name, once it can be written."""
        name = name or f"topic-{uuid.uuid4().hex[:10]}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        admin = self.admin()
        admin.create_topics([NewTopic(name, partitions, 1, config=settings)])[name].result()
        await_that(lambda: admin.list_topics(timeout=10).topics[name].partitions)
        return name

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until it is gone."""
        admin = self.admin()
        admin.delete_topics([topic])[topic].result()
        await_that(lambda: topic not in admin.list_topics(timeout=10).topics)

    def trim(self, topic: str, offset: int) -> None:
        """Remove the records of partition 0 before ``offset``."""
        admin, part = self.admin(), TopicPartition(topic, 0, offset)

        def is_trimmed() -> bool:
            return bool(admin.delete_records([part])[part].result())

        await_that(is_trimmed)

    def topic_id(self, topic: str) -> str:
        """Return the topic's id."""
        return topic_ids(self.admin(), [topic], self.bootstrap)[topic]

    def range(self, topic: str, start: int, end: int, partition: int = 0) -> PartitionRange:
        """Return a range of the topic as it is now."""
        return PartitionRange(topic, partition, start, end, self.topic_id(topic))

    def end(self, topic: str, partition: int = 0) -> int:
        """Return the high watermark, once the topic is settled."""
        await_that(lambda: self.is_settled(topic))
        with Consumer({"bootstrap.servers": self.bootstrap, "group.id": "end"}) as consumer:
            return int(consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)[1])

    def produce(self, topic: str, values: Sequence[bytes | None], **more: Any) -> None:
        """Write values outside any transaction."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True})
        for value in values:
            producer.produce(topic, value, **{"partition": 0, **more})
        assert producer.flush(30) == 0

    def transaction(self, transactional_id: str, topic: str, values: Sequence[bytes], **more: Any) -> Producer:
        """Return a producer with an open transaction that holds the values, written to the broker."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": transactional_id})
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value, **{"partition": 0, **more})
        assert producer.flush(30) == 0
        return producer

    def is_settled(self, topic: str) -> bool:
        """Whether the topic has no open transaction: commit markers are written after the answer to a commit."""
        ends = partition_ends(self.admin(), [topic], self.bootstrap)
        return all(end.stable == end.latest for end in ends.values())

    def read(self, topic: str, partitions: int = 1, isolation: str = "read_committed") -> list[Message]:
        """Return every message of a topic, once it is settled, committed ones by default."""
        await_that(lambda: self.is_settled(topic))
        return self.read_now(topic, partitions, isolation)

    def read_now(self, topic: str, partitions: int = 1, isolation: str = "read_committed") -> list[Message]:
        """Return every message of a topic up to an open transaction, committed ones by default."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "read", "isolation.level": isolation}
        with Consumer({**settings, "enable.partition.eof": True}) as consumer:
            consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
            found, ended = [], 0
            while ended < partitions:
                message = consumer.poll(10)
                assert message is not None, f"{topic} could not be read to its end"
                if message.error():
                    ended += 1
                else:
                    found.append(message)
            return found


def await_that(condition: Callable[[], Any], seconds: float = 30) -> None:
    """Wait until a condition holds; the broker's refusals count as not yet."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except (KafkaException, KeyError):
            pass
        time.sleep(0.05)
    raise AssertionError(f"not so after {seconds:g} s")


def values_of(batches: Sequence[Any]) -> list[bytes | None]:
    """Return the values of all batches, in order."""
    return [value for batch in batches for value in batch.value.to_pylist()]


def header_texts(message: Message) -> Mapping[str, str]:
    """Return a message's headers as text."""
    return {name: (value or b"").decode() for name, value in message.headers() or []}
