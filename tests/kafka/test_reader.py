"""Bounded reading against a real broker: gaps, aborts, losses, silence."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from connect_core.api.records import TimestampType, TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import ConfigError, DataLossError, IllegalStateError, RetriableError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.reader import BoundedReader, ReaderLimits
from tests.kafka.cluster import Cluster, await_that, values_of

pytestmark = pytest.mark.servers


def read(cluster: Cluster, *ranges: PartitionRange) -> list[bytes | None]:
    with BoundedReader(cluster.clients(), ranges) as reader:
        found = values_of(list(reader.batches()))
        assert reader.is_finished
        assert reader.positions == {one.topic_partition: max(one.start, one.end) for one in ranges}
    return found


def test_range_is_half_open(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"%d" % number for number in range(10)])
    assert read(cluster, cluster.range(topic, 2, 5)) == [b"2", b"3", b"4"]


def test_empty_range_is_finished_at_once() -> None:
    clients = KafkaClients({"bootstrap.servers": "127.0.0.1:1"})
    with BoundedReader(clients, [PartitionRange("any", 0, 7, 7, "id")]) as reader:
        assert reader.is_finished
        assert list(reader.batches()) == []


def test_reads_several_partitions_of_several_topics(cluster: Cluster) -> None:
    topics = [cluster.create(2), cluster.create(1)]
    parts = [(topics[0], 0), (topics[0], 1), (topics[1], 0)]
    for topic, number in parts:
        cluster.produce(topic, [f"{topic}-{number}-{row}".encode() for row in range(2000)], partition=number)
    with BoundedReader(cluster.clients(), [cluster.range(topic, 5, 1500, number) for topic, number in parts]) as reader:
        batches = list(reader.batches())
    assert all(one.value[0].as_py().startswith(one.topic.encode()) for one in batches)
    for topic, number in parts:
        start = f"{topic}-{number}-".encode()
        mine = [value for one in batches for value in one.value.to_pylist() if value.startswith(start)]
        assert mine == [f"{topic}-{number}-{row}".encode() for row in range(5, 1500)]


def test_columns_say_what_was_written(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"v", None], key=b"k", timestamp=1_700_000_000_123, headers=[("a", b"1"), ("a", None)])
    with BoundedReader(cluster.clients(), [cluster.range(topic, 0, 2)]) as reader:
        (batch,) = list(reader.batches())
    assert (batch.key.to_pylist(), batch.value.to_pylist()) == ([b"k", b"k"], [b"v", None])
    assert batch.timestamp.to_pylist() == [1_700_000_000_123] * 2
    assert batch.timestamp_type is TimestampType.CREATE_TIME
    assert batch.headers == [[("a", b"1"), ("a", None)]] * 2
    assert (batch.partition.to_pylist(), batch.offset.to_pylist()) == ([0, 0], [0, 1])


def test_log_append_time_is_told(cluster: Cluster) -> None:
    topic = cluster.create(message_timestamp_type="LogAppendTime")
    cluster.produce(topic, [b"v"])
    with BoundedReader(cluster.clients(), [cluster.range(topic, 0, 1)]) as reader:
        (batch,) = list(reader.batches())
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert batch.headers is None


def test_aborted_records_are_passed_over(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"before"])
    cluster.transaction("abort-middle", topic, [b"x"] * 20).abort_transaction()
    cluster.produce(topic, [b"after"])
    assert read(cluster, cluster.range(topic, 0, cluster.end(topic))) == [b"before", b"after"]


@pytest.mark.parametrize("cut", [0, 1, 7])
def test_end_among_aborted_records(cluster: Cluster, cut: int) -> None:
    """The range ends at the abort marker, before it, or amid the aborted records."""
    topic = cluster.create()
    cluster.produce(topic, [b"before"])
    cluster.transaction(f"abort-end-{cut}", topic, [b"x"] * 20).abort_transaction()
    began = time.monotonic()
    assert read(cluster, cluster.range(topic, 0, cluster.end(topic) - cut)) == [b"before"]
    assert time.monotonic() - began < 30


def test_range_of_nothing_but_aborted_records(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.transaction("abort-all", topic, [b"x"] * 20).abort_transaction()
    assert read(cluster, cluster.range(topic, 3, cluster.end(topic))) == []


def test_end_behind_commit_marker(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.transaction("commit-end", topic, [b"a", b"b"]).commit_transaction()
    await_that(lambda: cluster.end(topic) == 3)
    assert read(cluster, cluster.range(topic, 0, 3)) == [b"a", b"b"]


def test_records_before_an_open_transaction(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a", b"b"])
    producer = cluster.transaction("open", topic, [b"x"])
    assert read(cluster, cluster.range(topic, 0, 2)) == [b"a", b"b"]
    producer.abort_transaction()


def test_compaction_gap_at_the_end(cluster: Cluster) -> None:
    """Records just before the end are compacted away: the next one lies beyond it."""
    policy: dict[str, Any] = {"segment_ms": "100", "min_cleanable_dirty_ratio": "0.001", "max_compaction_lag_ms": "100"}
    topic = cluster.create(cleanup_policy="compact", **policy)
    cluster.produce(topic, [b"first"], key=b"once")
    cluster.produce(topic, [b"%d" % number for number in range(99)], key=b"again")

    def is_compacted() -> bool:
        cluster.produce(topic, [b"roll"], key=b"roll")
        return len(cluster.read(topic)) < 60

    await_that(is_compacted, seconds=120)
    assert read(cluster, cluster.range(topic, 0, 50)) == [b"first"]


def test_recreated_topic_is_data_loss(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a", b"b"])
    planned = cluster.range(topic, 0, 2)
    cluster.delete(topic)
    cluster.create(name=topic)
    cluster.produce(topic, [b"other", b"records", b"now"])
    with BoundedReader(cluster.clients(), [planned]) as reader:
        with pytest.raises(DataLossError, match="recreated") as caught:
            list(reader.batches())
        assert not reader.is_finished
    assert planned.topic_id in str(caught.value)


def test_deleted_topic_is_data_loss(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a"])
    planned = cluster.range(topic, 0, 1)
    cluster.delete(topic)
    limits = ReaderLimits(stall_seconds=1)
    with BoundedReader(cluster.clients(), [planned], limits) as reader, pytest.raises(DataLossError, match="deleted"):
        list(reader.batches())


def test_removed_offsets_are_data_loss(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a"] * 10)
    cluster.trim(topic, 6)
    with (
        BoundedReader(cluster.clients(), [cluster.range(topic, 2, 10)]) as reader,
        pytest.raises(DataLossError, match=r"interval\.data\.loss=skip"),
    ):
        list(reader.batches())


def test_offsets_beyond_the_end_are_data_loss(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a"])
    with BoundedReader(cluster.clients(), [cluster.range(topic, 5, 9)]) as reader, pytest.raises(DataLossError):
        list(reader.batches())


def test_silent_brokers_are_named() -> None:
    clients = KafkaClients({"bootstrap.servers": "127.0.0.1:1"})
    limits = ReaderLimits(stall_seconds=1)
    with (
        BoundedReader(clients, [PartitionRange("any", 0, 0, 5)], limits) as reader,
        pytest.raises(RetriableError, match=r"any-0 at 0 of 5.*bootstrap\.servers=127\.0\.0\.1:1"),
    ):
        list(reader.batches())


def test_unknown_value_of_a_setting_is_a_config_error() -> None:
    clients = KafkaClients({"consumer.fetch.min.bytes": "many"})
    with pytest.raises(ConfigError, match=r"fetch\.min\.bytes"):
        BoundedReader(clients, [PartitionRange("any", 0, 0, 5)])


def test_stop_flag_ends_the_reading(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a"] * 1000)
    stop = threading.Event()
    with BoundedReader(cluster.clients(), [cluster.range(topic, 0, 1000)], ReaderLimits(100), stop) as reader:
        got = 0
        for batch in reader.batches():
            got += len(batch)
            stop.set()
        assert got == reader.positions[TopicPartition(topic, 0)] == 100
        assert not reader.is_finished


def test_paused_partition_gives_nothing(cluster: Cluster) -> None:
    topic = cluster.create(2)
    for number in (0, 1):
        cluster.produce(topic, [b"%d" % number] * 1000, partition=number)
    ranges = [cluster.range(topic, 0, 1000, number) for number in (0, 1)]
    with BoundedReader(cluster.clients(), ranges, ReaderLimits(50, stall_seconds=0.5)) as reader:
        reader.pause([TopicPartition(topic, 0)])
        while reader.positions[TopicPartition(topic, 1)] < 1000:
            assert b"0" not in values_of(reader.poll())
        for _ in range(10):
            assert reader.poll(0.1) == []
        reader.resume([TopicPartition(topic, 0)])
        assert values_of(list(reader.batches())) == [b"0"] * 1000


def test_seek_goes_back_and_on(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"%d" % number for number in range(10)])
    part = TopicPartition(topic, 0)
    with BoundedReader(cluster.clients(), [cluster.range(topic, 3, 6)]) as reader:
        assert values_of(list(reader.batches())) == [b"3", b"4", b"5"]
        reader.seek(part, 1)
        assert not reader.is_finished
        assert values_of(list(reader.batches())) == [b"1", b"2", b"3", b"4", b"5"]
        reader.seek(part, 8)
        assert reader.is_finished
        assert reader.positions == {part: 8}
        with pytest.raises(IllegalStateError, match="other-0"):
            reader.seek(TopicPartition("other", 0), 0)


def test_seek_before_the_first_poll(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"%d" % number for number in range(10)])
    with BoundedReader(cluster.clients(), [cluster.range(topic, 0, 10)]) as reader:
        reader.seek(TopicPartition(topic, 0), 8)
        assert values_of(list(reader.batches())) == [b"8", b"9"]


def test_no_wait_at_the_end(cluster: Cluster) -> None:
    topic = cluster.create()
    cluster.produce(topic, [b"a"] * 10)
    chosen = [cluster.range(topic, 0, 10)]

    def seconds() -> float:
        began = time.monotonic()
        with BoundedReader(cluster.clients(), chosen) as reader:
            list(reader.batches())
        return time.monotonic() - began

    # A wait would be in each of them, a busy machine is not.
    assert min(seconds() for _ in range(6)) < 1.0
