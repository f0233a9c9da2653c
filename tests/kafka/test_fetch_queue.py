"""Fetched messages as columns, against message objects and a real broker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

from connect_core.kafka.clients import CLIENT_LOG
from connect_core.kafka.fetch_queue import ColumnQueue, FetchQueue, MessageQueue, open_queue
from connect_core.kafka.raw_batch import RawBatch
from tests.kafka.cluster import Cluster, await_that


def settings(servers: str, **more: object) -> dict[str, object]:
    return {"bootstrap.servers": servers, "group.id": "fetch", "enable.auto.commit": False, **more}


def fetched(queue: FetchQueue, count: int) -> list[RawBatch]:
    """Return the batches of ``count`` messages."""
    batches: list[RawBatch] = []
    deadline = time.monotonic() + 60
    while sum(map(len, batches)) < count:
        assert time.monotonic() < deadline
        batches += queue.fetch(count - sum(map(len, batches)), 0.1).batches()
    return batches


def rows(batches: list[RawBatch]) -> list[tuple[object, ...]]:
    return sorted(
        (
            batch.topic,
            batch.partition[row].as_py(),
            batch.offset[row].as_py(),
            batch.timestamp[row].as_py(),
            batch.timestamp_type.value,
            batch.key[row].as_py(),
            batch.value[row].as_py(),
            list((batch.headers[row] if batch.headers else None) or []),
        )
        for batch in batches
        for row in range(len(batch))
    )


@pytest.mark.servers
def test_columns_are_what_message_objects_say(cluster: Cluster) -> None:
    topics = [cluster.create(2), cluster.create(1, message_timestamp_type="LogAppendTime"), cluster.create(1)]
    headers = [("a", b"1"), ("a", None), ("ü", b""), ("long", b"x" * 300)]
    for number in range(2):
        cluster.produce(topics[0], [b"", None, b"short", b"v" * 5000], partition=number, key=b"k")
        cluster.produce(topics[0], [b"%d" % row for row in range(300)], partition=number, timestamp=number * 10**12)
    cluster.produce(topics[1], [b"w"], key=b"", headers=headers)
    cluster.produce(topics[1], [b"w"])
    cluster.transaction("fetch-aborted", topics[2], [b"aborted"] * 5).abort_transaction()
    # The marker of the abort is written after the answer to it; it must not be the last record.
    await_that(lambda: cluster.is_settled(topics[2]))
    cluster.produce(topics[2], [b"seen"] * 3, headers=headers[:1])
    partitions = zip(topics, (2, 1, 1), strict=True)
    parts = [TopicPartition(topic, number, 0) for topic, count in partitions for number in range(count)]
    found = []
    kinds: list[Callable[[Consumer], FetchQueue]] = [
        MessageQueue,
        lambda consumer: open_queue(consumer, lambda error: None, CLIENT_LOG),
    ]
    for kind in kinds:
        consumer = Consumer(settings(cluster.bootstrap))
        queue = kind(consumer)
        consumer.assign(parts)
        found.append(rows(fetched(queue, 2 * 304 + 2 + 3)))
        assert [one.offset for one in consumer.position(parts)] == [304, 304, 2, 9]
        queue.close()
        consumer.close()
    assert found[0] == found[1]
    assert len(found[0]) == 613


def test_pinned_client_is_read_by_columns() -> None:
    consumer = Consumer(settings("127.0.0.1:1", log_level=0))
    queue = open_queue(consumer, lambda error: None, CLIENT_LOG)
    assert isinstance(queue, ColumnQueue)
    queue.close()
    consumer.close()


def test_errors_and_log_lines_arrive_without_callbacks(caplog: pytest.LogCaptureFixture) -> None:
    """A callback run outside the Python client's own methods would end the process."""
    noted: list[KafkaError] = []

    def never(error: KafkaError) -> None:
        pytest.fail(f"callback: {error}")

    log = logging.getLogger("test.librdkafka")
    consumer = Consumer(settings("127.0.0.1:1", error_cb=never), logger=log)
    queue = open_queue(consumer, noted.append, log)
    consumer.assign([TopicPartition("any", 0, 0)])
    deadline = time.monotonic() + 30
    while not noted or not caplog.records:
        assert len(queue.fetch(10, 0.05)) == 0
        assert time.monotonic() < deadline
    assert KafkaError._TRANSPORT in {error.code() for error in noted}
    assert any("127.0.0.1:1" in record.getMessage() for record in caplog.records)
    queue.close()
    consumer.close()
