"""The effects on Kafka, performed on a real broker."""

from __future__ import annotations

import logging
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.effects.kafka import KafkaEffects
from connect_core.errors import RetriableError, StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.time_bounds import FutureRecord, TimeBound
from connect_core.interval.values import PartitionEnds
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.ids import transactional_id
from tests.kafka.cluster import Cluster

pytestmark = pytest.mark.servers


@pytest.fixture
def performer(cluster: Cluster) -> KafkaEffects:
    """A performer with topics of its own."""
    offsets, status = cluster.create(3, cleanup_policy="compact"), cluster.create(2, cleanup_policy="compact")
    return KafkaEffects(cluster.clients(), f"dep-{uuid.uuid4().hex[:8]}", offsets, status)


def perform(performer: KafkaEffects, effect: fx.Effect[Any]) -> object:
    return performer.handlers()[type(effect)](effect)


def test_epoch_is_written_and_read_back(performer: KafkaEffects) -> None:
    key = '{"file":"a"}'
    perform(performer, fx.WriteEpoch("lines", 2))
    perform(performer, fx.WriteOffsets("lines", 2, {key: {"at": 1}}))
    projection = perform(performer, fx.ReadOffsetsTopic("lines", None))
    assert (projection.epoch, projection.offsets) == (2, {key: {"at": 1}})  # type: ignore[attr-defined]
    with pytest.raises(StaleEpochError):
        perform(performer, fx.WriteEpoch("lines", 2))


def test_fence_ends_what_is_open(cluster: Cluster, performer: KafkaEffects) -> None:
    topic = cluster.create()
    ids = [transactional_id(performer.deployment, "lines", task) for task in range(3)]
    producers = [cluster.transaction(identity, topic, [b"zombie"]) for identity in ids]
    perform(performer, fx.FenceProducers("lines", 3))
    for producer in producers:
        with pytest.raises(Exception, match="fenced"):
            producer.commit_transaction(10)
    cluster.produce(topic, [b"after"])
    assert [one.value() for one in cluster.read(topic)] == [b"after"]


def test_partition_ends_tell_of_open_transactions(cluster: Cluster, performer: KafkaEffects) -> None:
    topic = cluster.create(2)
    cluster.produce(topic, [b"a"] * 5)
    cluster.trim(topic, 2)
    producer = cluster.transaction(f"open-{topic}", topic, [b"x"] * 3)
    ends = perform(performer, fx.ReadPartitionEnds((topic, "no-such-topic")))
    topic_id = cluster.topic_id(topic)
    assert ends == {
        TopicPartition(topic, 0): PartitionEnds(topic_id, 2, 5, 8),
        TopicPartition(topic, 1): PartitionEnds(topic_id, 0, 0, 0),
    }
    producer.abort_transaction()


def test_topics_by_expression_match_whole(cluster: Cluster, performer: KafkaEffects) -> None:
    mark = uuid.uuid4().hex[:8]
    for name in (f"in-{mark}-1", f"in-{mark}-2", f"not-in-{mark}-3"):
        cluster.create(name=name)
    ends = perform(performer, fx.ReadPartitionEnds((), rf"in-{mark}-\d|__consumer_offsets"))
    assert sorted(part.topic for part in ends) == [f"in-{mark}-1", f"in-{mark}-2"]  # type: ignore[attr-defined]


def test_bound_by_time_is_the_first_later_record(cluster: Cluster, performer: KafkaEffects) -> None:
    topic = cluster.create(2)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for minute in (-2, -1, 0, -3, 1):
        cluster.produce(topic, [b"v"], timestamp=int(noon.timestamp() * 1000) + minute * 60_000)
    cluster.produce(topic, [b"v"], partition=1, timestamp=int(noon.timestamp() * 1000) - 1)
    assert time_bounds(performer, topic, noon, starts=(0, 0)) == [TimeBound(2), TimeBound(1)]
    # The record of noon lies before the range: the range has its own first one of noon or later.
    assert time_bounds(performer, topic, noon, starts=(3, 1)) == [TimeBound(4), TimeBound(1)]


def test_bound_by_time_of_a_record_from_the_future(cluster: Cluster, performer: KafkaEffects) -> None:
    # Of themselves brokers take no record that is more than an hour ahead.
    topic = cluster.create(2, message_timestamp_after_max_ms=str(2**62))
    now = datetime.now(UTC)
    for minutes in (-70, 9000, -69, 9001, -10):
        cluster.produce(topic, [b"v"], timestamp=int(now.timestamp() * 1000) + minutes * 60_000)
    hour = now - timedelta(hours=1)
    future = FutureRecord(1, int(now.timestamp() * 1000) + 9000 * 60_000)
    assert time_bounds(performer, topic, hour, starts=(0, 0))[0] == TimeBound(1, is_cut=True)
    assert time_bounds(performer, topic, hour, starts=(1, 0))[0] == TimeBound(1, future)
    assert time_bounds(performer, topic, hour, starts=(1, 0), passes_future=True)[0] == TimeBound(4, future)


def test_times_of_a_recreated_topic_bound_nothing(cluster: Cluster, performer: KafkaEffects) -> None:
    topic = cluster.create()
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    cluster.produce(topic, [b"v"] * 9, timestamp=int(noon.timestamp() * 1000))
    ranges = (cluster.range(topic, 0, 9), cluster.range(topic, 5, 9))
    cluster.delete(topic)
    cluster.create(name=topic)
    for one in ranges:
        with pytest.raises(RetriableError, match=f"Topic {topic} was deleted and created again"):
            perform(performer, fx.ReadTimeBounds((one,), noon, 300_000, True))
    # Searched record by record, as all of them lie before the time that Kafka finds: the first offset of the topic.
    cluster.produce(topic, [b"v"] * 3, timestamp=int(noon.timestamp() * 1000))
    with pytest.raises(RetriableError, match="next plan"):
        perform(performer, fx.ReadTimeBounds((ranges[1],), noon, 300_000, True))


def time_bounds(
    performer: KafkaEffects, topic: str, before: datetime, starts: tuple[int, int], passes_future: bool = False
) -> list[TimeBound]:
    ends = perform(performer, fx.ReadPartitionEnds((topic,)))
    parts = [TopicPartition(topic, number) for number in (0, 1)]
    ranges = tuple(PartitionRange(*part, starts[part.partition], ends[part].stable) for part in parts)  # type: ignore[index]
    found = perform(performer, fx.ReadTimeBounds(ranges, before, 300_000, passes_future))
    return [found[part] for part in parts]  # type: ignore[index]


def test_group_follows_and_is_read(cluster: Cluster, performer: KafkaEffects) -> None:
    topic = cluster.create(2)
    cluster.produce(topic, [b"a"] * 5)
    group, parts = f"connect-{topic}", (TopicPartition(topic, 0), TopicPartition(topic, 1))
    assert perform(performer, fx.ReadGroupOffsets(group, parts)) == {}
    perform(performer, fx.CommitGroupOffsets(group, {parts[0]: 4}))
    assert perform(performer, fx.ReadGroupOffsets(group, parts)) == {parts[0]: 4}
    assert perform(performer, fx.ReadGroupOffsets(group, ())) == {}


def test_refused_group_commit_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    silent = KafkaClients({"bootstrap.servers": "127.0.0.1:1"})
    lost = KafkaEffects(silent, "dep", "offsets", "status")
    with caplog.at_level(logging.WARNING):
        perform(lost, fx.CommitGroupOffsets("connect-x", {TopicPartition("t", 0): 1}))
    assert "The offsets of group connect-x were not updated" in caplog.text


def test_stop_request_and_progress_pass_through_the_status_topic(performer: KafkaEffects) -> None:
    key = IntervalKey("lines", 0, 5, 2)
    assert performer.progress(key) == []
    performer.ask_to_stop(key)
    began = time.monotonic()
    while time.monotonic() - began < 1:
        assert performer.progress(key) == []
    performer.close()
