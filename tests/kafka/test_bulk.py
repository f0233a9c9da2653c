"""Records put in many at once, against a real broker: nothing is lost, changed, out of order or left unsaid."""

from __future__ import annotations

import uuid
from typing import Any

import confluent_kafka
import pyarrow as pa
import pytest
from confluent_kafka import KafkaException
from hypothesis import given, settings
from hypothesis import strategies as st

from connect_core.errors import ConnectError, DataError
from connect_core.kafka.bulk import enqueue, lengths, to_messages
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions
from tests.kafka.batches import batch, column
from tests.kafka.cluster import Cluster
from tests.kafka.test_partitioner import JAVA_HASHES, java_partition

DONE = [({"file": "a"}, {"position": 1})]
Bytes = st.one_of(st.none(), st.binary(max_size=30), st.just(b"x" * 3000))


@pytest.fixture
def offsets(cluster: Cluster) -> str:
    return cluster.create()


def writer_to(clients: KafkaClients, offsets: str, **options: Any) -> TransactionalWriter:
    writer = TransactionalWriter(
        clients,
        f"bulk-{uuid.uuid4().hex}",
        OffsetsTarget(offsets, "lines", MarkerStamp()),
        WriterOptions(**options),
    )
    writer.init()
    return writer


@settings(deadline=None)
@given(st.lists(Bytes, max_size=30), st.integers(0, 5), st.sampled_from([pa.binary(), pa.large_binary()]))
def test_lengths_are_those_of_any_slice(rows: list[bytes | None], start: int, kind: pa.DataType) -> None:
    part = pa.array(rows, kind).slice(start)
    assert lengths(part).tolist() == [len(row or b"") for row in rows[start:]]
    messages = to_messages(part, part)
    assert (messages["payload"] == 0).tolist() == [row is None for row in rows[start:]]
    assert messages["key_len"].tolist() == lengths(part).tolist()


def test_topic_that_cannot_be_is_refused() -> None:
    nowhere = confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    with pytest.raises(KafkaException, match="is not a valid topic name"):
        enqueue(nowhere, "t" * 600, to_messages(column(b"k"), column(b"v")))


def test_closed_producer_is_not_touched() -> None:
    closed = confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    closed.close()
    with pytest.raises(KafkaException, match="closed"):
        enqueue(closed, "t", to_messages(column(b"k"), column(b"v")))


@pytest.mark.servers
def test_bytes_order_and_places_are_those_of_single_records(cluster: Cluster, offsets: str) -> None:
    topic, keys = cluster.create(7), list(JAVA_HASHES)
    wanted = [(keys[number % len(keys)], [None, b"", b"%d" % number][number % 3]) for number in range(3000)]
    found = column(*(value for _, value in wanted)), column(*(key for key, _ in wanted))
    with writer_to(cluster.clients(), offsets) as writer:
        for first in range(0, 3000, 500):
            keys_part, values_part = found[1].slice(first, 500), found[0].slice(first, 500)
            writer.produce(batch(topic, 500), keys_part, values_part, None)
        assert cluster.read_now(topic, 7) == []
        writer.commit(DONE)
    for partition in range(7):
        here = [one for one in cluster.read(topic, 7) if one.partition() == partition]
        assert [(one.key(), one.value()) for one in here] == [
            pair for pair in wanted if java_partition(pair[0], 7) == partition
        ]


@pytest.mark.servers
def test_rows_of_several_topics_and_the_refused_among_them(cluster: Cluster, offsets: str) -> None:
    one, other = cluster.create(), cluster.create()
    data = [b"%d" % number for number in range(100)]
    data[41] = data[99] = b"x" * 1_200_000
    refused: list[int] = []
    with writer_to(cluster.clients(), offsets) as writer:
        rows = batch([one, other] * 50, 100)
        writer.produce(rows, pa.nulls(100, pa.binary()), column(*data), None, lambda row, error: refused.append(row))
        writer.commit(DONE)
    assert sorted(refused) == [41, 99]
    assert [message.value() for message in cluster.read(one)] == data[::2]
    assert [message.value() for message in cluster.read(other)] == [data[row] for row in range(1, 99, 2) if row != 41]


@pytest.mark.servers
def test_what_the_broker_refuses_fails_though_no_report_tells(cluster: Cluster, offsets: str) -> None:
    topic, (big, *_), small = cluster.create(2, max_message_bytes="1000"), _keys(0), [min(_keys(1), key=len)] * 25
    keys, values = column(big, *small), column(b"x" * 5000, *[b"s"] * len(small))
    with writer_to(cluster.clients(producer_compression_type="none"), offsets) as writer:
        writer.produce(batch(topic, len(keys)), keys, values, None)
        with pytest.raises(DataError, match=rf"up to 5000 bytes.* {topic} \[0\] with 1 message") as caught:
            writer.commit(DONE)
    assert "max.message.bytes" in caught.value.__notes__[0]
    assert cluster.read(topic, 2) == []


@pytest.mark.servers
def test_producing_into_a_failed_transaction_says_why_it_failed(cluster: Cluster, offsets: str) -> None:
    topic, (big, *_), small = cluster.create(2, max_message_bytes="1000"), _keys(0), [min(_keys(1), key=len)] * 29
    with writer_to(cluster.clients(producer_compression_type="none"), offsets) as writer:
        writer.produce(batch(topic, 30), column(big, *small), column(b"x" * 5000, *[b"s"] * 29), None)
        writer._producer.flush(10)
        with pytest.raises(DataError, match=r"up to 5000 bytes.*Message size too large"):
            writer.produce(batch(topic, 29), column(*small), column(*[b"s"] * 29), None)


@pytest.mark.servers
def test_full_queue_without_brokers_ends(cluster: Cluster, proxy: Any, offsets: str) -> None:
    settings = {"bootstrap.servers": proxy.bootstrap, "producer.queue.buffering.max.messages": "10"}
    topic, values = cluster.create(), column(*[b"v"] * 30)
    with writer_to(KafkaClients(settings), offsets, commit_seconds=1) as writer:
        proxy.cut()
        with pytest.raises(ConnectError, match="accepted no record for 1 s"):
            writer.produce(batch(topic, 30), pa.nulls(30, pa.binary()), values, None)


def _keys(partition: int) -> list[bytes]:
    return [key for key in JAVA_HASHES if java_partition(key, 2) == partition]
