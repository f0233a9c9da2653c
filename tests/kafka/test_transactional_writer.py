"""Transactional writing against a real broker: what is atomic, fenced, refused, unclear."""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import replace

import pyarrow as pa
import pytest
from confluent_kafka.admin import NewPartitions

from connect_core.errors import (
    ConnectError,
    DataError,
    IllegalStateError,
    RetriableError,
    StaleEpochError,
    UnclearOutcomeError,
)
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.batch_limits import BatchLimits
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions
from tests.kafka.batches import batch, column
from tests.kafka.cluster import Cluster, await_that, header_texts
from tests.kafka.proxy import BrokerProxy

pytestmark = pytest.mark.servers

FILE = {"filename": "/data/a.txt"}
OPTIONS = WriterOptions()
KEY = '{"filename":"/data/a.txt"}'


def writer_to(
    clients: KafkaClients, offsets: str, identity: str | None = None, options: WriterOptions = OPTIONS
) -> TransactionalWriter:
    target = OffsetsTarget(offsets, "lines", MarkerStamp(3, 1, 7, 0, "3-abc"), {KEY: {"position": 0}})
    writer = TransactionalWriter(clients, identity or f"writer-{uuid.uuid4().hex}", target, options)
    writer.init()
    return writer


def values(cluster: Cluster, topic: str, partitions: int = 1, isolation: str = "read_committed") -> list[bytes | None]:
    return [message.value() for message in cluster.read(topic, partitions, isolation)]


def test_records_and_offsets_commit_together(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create(cleanup_policy="compact")
    with writer_to(cluster.clients(), offsets) as writer:
        assert writer.produce(batch(topic, 2), column(b"k", None), column(b"v", None), None) == ()
        assert cluster.read_now(topic) == []
        writer.commit([(FILE, {"position": 9})], {KEY: {"inode": "12"}})
        writer.produce(batch(topic, 1), column(None), column(b"w"), None)
        writer.commit([(FILE, {"position": 11})])
    assert [(one.key(), one.value()) for one in cluster.read(topic)] == [(b"k", b"v"), (None, None), (None, b"w")]
    first, second = cluster.read(offsets)
    assert (first.key(), first.value()) == (b'["lines",{"filename":"/data/a.txt"}]', b'{"position":9}')
    assert header_texts(first) == {
        "connect.epoch": "3",
        "connect.incarnation": "1",
        "connect.sequence": "7",
        "connect.task": "0",
        "connect.attempt": "3-abc",
        "connect.start": '{"position":0}',
        "connect.state": '{"inode":"12"}',
    }
    assert header_texts(second)["connect.start"] == '{"position":9}'


def test_topic_partition_timestamp_and_headers_a_row(cluster: Cluster) -> None:
    one, other, offsets = cluster.create(3), cluster.create(), cluster.create()
    rows = batch([one, other, one], 3, partitions=[2, None, 1], stamps=[1_600_000_000_000, None, 1_600_000_000_001])
    headers: list[list[tuple[str, bytes | None]]] = [[("a", b"1"), ("a", None)], [], [("b", b"")]]
    with writer_to(cluster.clients(), offsets) as writer:
        writer.produce(rows, pa.nulls(3, pa.binary()), column(b"0", b"1", b"2"), headers)
        writer.commit([(FILE, {"position": 1})])
    found = {message.value(): message for message in [*cluster.read(one, 3), *cluster.read(other)]}
    assert [found[value].partition() for value in (b"0", b"2")] == [2, 1]
    assert [found[value].timestamp()[1] for value in (b"0", b"2")] == [1_600_000_000_000, 1_600_000_000_001]
    assert found[b"1"].topic() == other
    assert [found[value].headers() for value in (b"0", b"1", b"2")] == [headers[0], None, headers[2]]


@pytest.mark.parametrize("own", [None, 1_600_000_000_001], ids=["time of reading", "time of its own"])
def test_only_time_of_reading_is_replaced_by_that_of_sending(cluster: Cluster, own: int | None) -> None:
    topic, offsets, began, rows = cluster.create(), cluster.create(), time.time_ns() // 1_000_000, 50
    stamps = [1_600_000_000_000] * (rows - 1) + [own or 1_600_000_000_000]
    read = replace(batch(topic, rows, stamps=stamps), read_time=1_600_000_000_000)
    sent = [b"%d" % number for number in range(rows)]
    with writer_to(cluster.clients(), offsets) as writer:
        writer.produce(read, pa.nulls(rows, pa.binary()), column(*sent), None)
        writer.commit([(FILE, {"position": 1})])
    found = cluster.read(topic)
    assert [one.value() for one in found] == sent
    times = [one.timestamp()[1] for one in found]
    assert times == stamps if own else all(began <= stamp <= time.time_ns() // 1_000_000 for stamp in times)


def test_partition_added_meanwhile_takes_records(cluster: Cluster) -> None:
    topic, offsets, refused = cluster.create(1), cluster.create(), list[int]()
    admin = cluster.admin()
    second = batch(topic, 1, partitions=[1]), column(None), column(b"1"), None
    with writer_to(cluster.clients(), offsets) as writer:
        writer.produce(*second, lambda row, error: refused.append(row))
        admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
        await_that(lambda: len(admin.list_topics(topic).topics[topic].partitions) == 2)
        time.sleep(1.1)
        writer.produce(*second)
        writer.commit([(FILE, {"position": 1})])
    assert refused == [0]
    assert values(cluster, topic, 2) == [b"1"]


def test_places_are_known_after_the_commit(cluster: Cluster) -> None:
    topic, offsets = cluster.create(2), cluster.create()
    with writer_to(cluster.clients(), offsets, options=WriterOptions(keeps_places=True)) as writer:
        sent = writer.produce(
            batch(topic, 3, partitions=[0, 1, 1]), pa.nulls(3, pa.binary()), column(b"a", b"b", b"c"), None
        )
        writer.commit([(FILE, {"position": 1})])
        places = [one.metadata() for one in sent]
    assert [(place.topic, place.partition, place.offset) for place in places if place] == [
        (topic, 0, 0),
        (topic, 1, 0),
        (topic, 1, 1),
    ]


def test_more_than_the_queue_holds_keeps_its_order(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create()
    clients = KafkaClients(
        {"bootstrap.servers": cluster.bootstrap, "producer.queue.buffering.max.messages": "100"},
    )
    wanted = [b"%d" % number for number in range(5000)]
    with writer_to(clients, offsets) as writer:
        writer.produce(batch(topic, 5000), pa.nulls(5000, pa.binary()), column(*wanted), None)
        writer.commit([(FILE, {"position": 1})])
    assert values(cluster, topic) == wanted


def test_aborted_transaction_leaves_nothing(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create()
    with writer_to(cluster.clients(), offsets) as writer:
        writer.abort()
        writer.produce(batch(topic, 1), column(None), column(b"dropped"), None)
        writer.abort()
        writer.produce(batch(topic, 1), column(None), column(b"kept"), None)
        writer.commit([(FILE, {"position": 1})])
    assert values(cluster, topic) == [b"kept"]


def test_closing_aborts(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create()
    with writer_to(cluster.clients(), offsets) as writer:
        writer.produce(batch(topic, 1), column(None), column(b"dropped"), None)
    cluster.produce(topic, [b"next"])
    assert values(cluster, topic) == [b"next"]
    with pytest.raises(IllegalStateError, match="closed"):
        writer.commit([(FILE, {"position": 1})])


def test_init_comes_first(cluster: Cluster) -> None:
    writer = TransactionalWriter(cluster.clients(), "never", OffsetsTarget("any", "lines", MarkerStamp()))
    with pytest.raises(IllegalStateError, match="not yet initialised"):
        writer.produce(batch("any", 1), column(None), column(b"v"), None)
    writer.close()


@pytest.mark.parametrize("has_headers", [False, True])
def test_small_records_fit_a_topic_of_small_batches(cluster: Cluster, has_headers: bool) -> None:
    """By columns and, with headers, by rows: brokers refuse a batch as a whole."""
    topic, offsets = cluster.create(max_message_bytes="100000"), cluster.create()
    clients = cluster.clients()
    options = WriterOptions(limits=BatchLimits(clients, KafkaAdmin(clients)).of)
    headers = [[("h", b"1")]] * 500 if has_headers else None
    with writer_to(clients, offsets, options=options) as writer:
        for _ in range(2):
            writer.produce(batch(topic, 500), column(*[None] * 500), column(*map(os.urandom, [500] * 500)), headers)
        writer.commit([(FILE, {"position": 1})])
    assert len(values(cluster, topic)) == 1000


@pytest.mark.parametrize("is_late", [False, True])
def test_fenced_writer_is_stale(cluster: Cluster, is_late: bool) -> None:
    topic, offsets = cluster.create(), cluster.create()
    identity = f"fenced-{uuid.uuid4().hex}"
    old = writer_to(cluster.clients(), offsets, identity)
    old.produce(batch(topic, 1), column(None), column(b"old"), None)
    if is_late:
        old._producer.flush(10)
    with writer_to(cluster.clients(), offsets, identity) as new:
        with pytest.raises(StaleEpochError, match="Another attempt"):
            old.commit([(FILE, {"position": 1})])
        with pytest.raises(IllegalStateError):
            old.produce(batch(topic, 1), column(None), column(b"old"), None)
        new.produce(batch(topic, 1), column(None), column(b"new"), None)
        new.commit([(FILE, {"position": 1})])
    assert values(cluster, topic) == [b"new"]


def test_record_the_client_refuses_names_its_size(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create()
    with (
        writer_to(cluster.clients(), offsets) as writer,
        pytest.raises(DataError, match=rf"{topic}.* 1200000 bytes") as caught,
    ):
        writer.produce(batch(topic, 2), pa.nulls(2, pa.binary()), column(b"small", b"x" * 1_200_000), None)
    assert "max.request.size" in caught.value.__notes__[0]
    assert values(cluster, topic) == []


def test_records_beside_one_that_somebody_leaves_out_are_committed(cluster: Cluster) -> None:
    topic, offsets = cluster.create(), cluster.create()
    left_out: list[tuple[int, str]] = []
    with writer_to(cluster.clients(), offsets) as writer:
        sent = [b"one", b"x" * 1_200_000, b"three"]
        writer.produce(
            batch(topic, 3),
            pa.nulls(3, pa.binary()),
            column(*sent),
            None,
            lambda row, error: left_out.append((row, str(error))),
        )
        writer.commit([(FILE, {"position": 1})])
    assert values(cluster, topic) == [b"one", b"three"]
    assert [row for row, _ in left_out] == [1]
    assert "1200000 bytes" in left_out[0][1]


@pytest.mark.parametrize(("more", "told"), [(1, "a record of 5000 bytes"), (30, "records of up to 5000 bytes")])
def test_record_the_broker_refuses_is_named(cluster: Cluster, more: int, told: str) -> None:
    topic, offsets = cluster.create(max_message_bytes="1000"), cluster.create()
    with writer_to(cluster.clients(producer_compression_type="none"), offsets) as writer:
        sent = column(b"s", b"x" * 5000, *[b"t"] * more)
        writer.produce(batch(topic, len(sent)), pa.nulls(len(sent), pa.binary()), sent, None)
        with pytest.raises(DataError, match=rf"{topic}-0 {told}"):
            writer.commit([(FILE, {"position": 1})])
    assert values(cluster, topic) == values(cluster, offsets) == []


@pytest.mark.parametrize("is_committed", [True, False])
def test_unclear_commit_is_told_by_the_marker(cluster: Cluster, proxy: BrokerProxy, is_committed: bool) -> None:
    topic, offsets = cluster.create(), cluster.create(cleanup_policy="compact")
    identity = f"unclear-{uuid.uuid4().hex}"
    far = KafkaClients({"bootstrap.servers": proxy.bootstrap})
    writer = writer_to(far, offsets, identity, WriterOptions(commit_seconds=3))
    writer.produce(batch(topic, 1), column(None), column(b"v"), None)
    arm = proxy.lose_answer if is_committed else proxy.lose_request
    arm()
    with pytest.raises(UnclearOutcomeError, match="No broker reported"):
        writer.commit([(FILE, {"position": 5})])
    proxy.heal()
    with pytest.raises(IllegalStateError, match="closed"):
        writer.commit([(FILE, {"position": 5})])
    with writer_to(far, offsets, identity) as again:
        view = OffsetsTopic(cluster.clients(), offsets).read("lines")
        assert list(view.markers) == ([KEY] if is_committed else [])
        again.produce(batch(topic, 1), column(None), column(b"next"), None)
        again.commit([(FILE, {"position": 6})])
    assert values(cluster, topic) == ([b"v", b"next"] if is_committed else [b"next"])


def test_brokers_lost_before_the_commit_are_no_commit(cluster: Cluster, proxy: BrokerProxy) -> None:
    topic, offsets = cluster.create(), cluster.create()
    far = KafkaClients({"bootstrap.servers": proxy.bootstrap})
    writer = writer_to(far, offsets, options=WriterOptions(commit_seconds=2))
    proxy.cut()
    writer.produce(batch(topic, 1), column(None), column(b"v"), None)
    with pytest.raises(RetriableError, match="not delivered") as caught:
        writer.commit([(FILE, {"position": 5})])
    assert not isinstance(caught.value, UnclearOutcomeError)
    assert proxy.bootstrap in str(caught.value)


def test_silent_brokers_are_named() -> None:
    clients = KafkaClients({"bootstrap.servers": "127.0.0.1:1"})
    target = OffsetsTarget("any", "lines", MarkerStamp())
    writer = TransactionalWriter(clients, "silent", target, WriterOptions(init_seconds=1))
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1:1.*refused"):
        writer.init()


def test_transaction_time_out_above_the_brokers_is_fatal(cluster: Cluster) -> None:
    target = OffsetsTarget("any", "lines", MarkerStamp())
    options = WriterOptions(transaction_seconds=3600)
    writer = TransactionalWriter(cluster.clients(), "too-long", target, options)
    with pytest.raises(ConnectError) as caught:
        writer.init()
    assert not isinstance(caught.value, RetriableError)
