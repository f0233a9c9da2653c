"""Lists of fetched messages: what librdkafka takes for one, and what is released."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, TopicPartition

from connect_core.kafka import message_list
from connect_core.kafka.librdkafka import handle_of, library
from connect_core.kafka.message_list import MessageList, releases_lists
from tests.kafka.cluster import Cluster


@pytest.fixture
def without_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client whose librdkafka cannot release lists, as before 2.15."""
    monkeypatch.setattr(message_list, "releases_lists", lambda: False)


def consumed(cluster: Cluster, count: int) -> int:
    """Return how many messages a list receives before the consumer is closed."""
    topic = cluster.create(1)
    cluster.produce(topic, [b"%d" % row for row in range(count)])
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "lists", "enable.auto.commit": False})
    queue = library().rd_kafka_queue_get_consumer(handle_of(consumer))
    consumer.assign([TopicPartition(topic, 0, 0)])
    found, deadline = 0, time.monotonic() + 30
    while found < count:
        assert time.monotonic() < deadline
        with MessageList(7) as messages:
            addresses = messages.receive(queue, 100)
            assert len(addresses) <= 7
            assert addresses.all()
            found += len(addresses)
    library().rd_kafka_queue_destroy(queue)
    consumer.close()
    return found


def test_pinned_client_releases_lists() -> None:
    assert releases_lists()


@pytest.mark.servers
def test_messages_are_released_together(cluster: Cluster) -> None:
    """A consumer with messages that were not released never ends its close."""
    assert consumed(cluster, 100) == 100


@pytest.mark.servers
@pytest.mark.usefixtures("without_lists")
def test_messages_are_released_one_by_one(cluster: Cluster) -> None:
    assert consumed(cluster, 100) == 100
