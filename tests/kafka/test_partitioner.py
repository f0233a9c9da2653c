"""Keys go to the partitions the Java producer sends them to."""

from __future__ import annotations

import pytest
from confluent_kafka import cimpl

from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.plain_writer import PlainWriter
from tests.kafka.cluster import Cluster

JAVA_HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
"""``Utils.murmur2`` of Kafka's Java client, as its own tests have it."""


def java_partition(key: bytes, count: int) -> int:
    return (JAVA_HASHES[key] & 0x7FFFFFFF) % count


@pytest.mark.parametrize("count", [1, 7, 12, 25, 1000])
def test_hash_is_javas(count: int) -> None:
    for key in JAVA_HASHES:
        assert cimpl.murmur2(key, count) == java_partition(key, count)


@pytest.mark.servers
def test_producers_use_it_whatever_is_configured(cluster: Cluster) -> None:
    topic = cluster.create(7)
    worker = {"bootstrap.servers": cluster.bootstrap, "producer.partitioner": "consistent_random"}
    with PlainWriter(KafkaClients(worker), topic) as writer:
        for key in JAVA_HASHES:
            writer.produce(key, b"v")
        writer.flush()
    found = {message.key(): message.partition() for message in cluster.read(topic, 7)}
    assert found == {key: java_partition(key, 7) for key in JAVA_HASHES}
