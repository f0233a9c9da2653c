"""Finds the producer that holds back a partition's last stable offset."""

from __future__ import annotations

import time

from confluent_kafka import IsolationLevel, Message
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import OffsetSpec

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.marker_records import EpochRecord, Marker, decode
from connect_core.kafka.partition_ends import list_offsets

__all__ = ["describe_blocker"]

_SECONDS = 10.0


def describe_blocker(clients: KafkaClients, partition: TopicPartition, end: int) -> str:
    """Return a text that describes the open transaction which keeps ``partition`` from reaching ``end``.

    The record at the last stable offset is the first of that transaction; in the offsets topic its key and headers
    contain connector, task and epoch. A transaction may stay open for good: a coordinator drops the end of one whose
    partition has no leader at that time, as one with a single replica has none when its broker was killed.
    """
    try:
        spec, servers = OffsetSpec.latest(), clients.bootstrap_servers
        stable = list_offsets(clients.admin(), [partition], spec, servers, IsolationLevel.READ_COMMITTED).get(partition)
    except ConnectError as failure:
        return f"the brokers do not respond ({failure})"
    if stable is None or stable >= end:
        return "the brokers return no data"
    first = _record_at(clients, partition, stable)
    place = f"--topic {partition.topic} --partition {partition.partition} --start-offset {stable}"
    return (
        f"a transaction is open since offset {stable}{f', {_describe(first)}' if first else ''}."
        " It ends by itself at its transaction.timeout.ms, unless its coordinator has lost it:"
        f" then `kafka-transactions.sh abort {place}` ends it"
    )


def _record_at(clients: KafkaClients, partition: TopicPartition, offset: int) -> Message | None:
    consumer = clients.consumer({"isolation.level": "read_uncommitted"})
    try:
        consumer.assign([KafkaPartition(partition.topic, partition.partition, offset)])
        deadline = time.monotonic() + _SECONDS
        message = None
        while message is None and time.monotonic() < deadline:
            message = consumer.poll(0.5)
        return None if message is None or message.error() else message
    finally:
        consumer.close()


def _describe(message: Message) -> str:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(message.timestamp()[1] / 1000))
    record = decode(message.key() or b"", message.value(), message.headers() or [])
    if isinstance(record, EpochRecord):
        return f"started {since} UTC by the control producer of connector {record.connector} (epoch {record.epoch})"
    if not isinstance(record, Marker):
        return f"started {since} UTC by a producer that is not a connector's"
    if record.stamp.epoch < 0:
        return f"started {since} UTC by connector {record.connector} of a Connect worker"
    return (
        f"started {since} UTC by task {record.stamp.task} of connector {record.connector}"
        f" (epoch {record.stamp.epoch}, attempt {record.stamp.attempt})"
    )
