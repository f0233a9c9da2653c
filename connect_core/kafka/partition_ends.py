"""Beginning and end of topic partitions, in calls for many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from confluent_kafka import OFFSET_INVALID, IsolationLevel, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from connect_core.api.records import TopicPartition
from connect_core.errors import RetriableError
from connect_core.interval.values import PartitionEnds
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.topics import check_same, topic_ids, topic_partitions

__all__ = ["LeaderChangingError", "OffsetPlace", "high_watermarks", "list_offsets", "list_places", "partition_ends"]

_SECONDS = 15.0
QUICK_TRIES, QUICK_SECONDS = 3, 5.0
"""A call waits for a leader that has died until it times out; a new one finds that broker's successor."""
_CHANGING = frozenset(
    {
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
    }
)

_SILENT = frozenset({KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE, KafkaError.REQUEST_TIMED_OUT})


class LeaderChangingError(RetriableError):
    """A partition has no leader at the moment, or is being created or deleted."""


class _SilentLeaderError(RetriableError):
    """The leader of a partition is connected, or was a moment ago, and has not answered in time."""


@dataclass(frozen=True, slots=True)
class OffsetPlace:
    """An offset, and its record's time in milliseconds since 1970 if it was found by time."""

    offset: int
    time: int


def partition_ends(admin: AdminClient, topics: Iterable[str], servers: str) -> dict[TopicPartition, PartitionEnds]:
    """Return the ends of all partitions of existing topics.

    Raise RetriableError if the brokers do not respond, or a topic was deleted meanwhile: offsets are read by name.
    """
    found = topic_partitions(admin, topics, servers)
    partitions = [TopicPartition(topic, number) for topic, (_, count) in found.items() for number in range(count)]
    earliest = list_offsets(admin, partitions, OffsetSpec.earliest(), servers)
    stable = list_offsets(admin, partitions, OffsetSpec.latest(), servers, IsolationLevel.READ_COMMITTED)
    latest = list_offsets(admin, partitions, OffsetSpec.latest(), servers)
    ids = {topic: topic_id for topic, (topic_id, _) in found.items()}
    check_same(ids, topic_ids(admin, ids, servers), "its offsets were read")
    return {
        key: PartitionEnds(found[key.topic][0], earliest[key], stable[key], max(latest[key], stable[key]))
        for key in partitions
    }


def high_watermarks(
    admin: AdminClient, partitions: Iterable[TopicPartition], servers: str
) -> dict[TopicPartition, int]:
    """Return the end of each partition, open transactions included."""
    return list_offsets(admin, partitions, OffsetSpec.latest(), servers)


def list_offsets(
    admin: AdminClient,
    partitions: Iterable[TopicPartition],
    spec: OffsetSpec,
    servers: str,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    """Return one offset of every partition, as ``list_places`` does."""
    return {key: place.offset for key, place in list_places(admin, partitions, spec, servers, isolation).items()}


def list_places(
    admin: AdminClient,
    partitions: Iterable[TopicPartition],
    spec: OffsetSpec,
    servers: str,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, OffsetPlace]:
    """Return one offset of every partition, in one call.

    -1 if there is no record of the time or later. Waits while partitions change leaders or are being created. Raise
    RetriableError if the brokers do not respond, or partitions no longer exist; ConnectError if forbidden.
    """
    asked = {KafkaPartition(key.topic, key.partition): spec for key in partitions}
    if not asked:
        return {}
    for _ in range(QUICK_TRIES):
        with suppress(_SilentLeaderError):
            return _places(admin, asked, servers, isolation, {"request_timeout": QUICK_SECONDS})
    return _places(admin, asked, servers, isolation, {})


@retry(
    retry=retry_if_exception_type(LeaderChangingError),
    wait=wait_exponential(multiplier=0.05, max=1.0),
    stop=stop_after_delay(_SECONDS),
    reraise=True,
)
def _places(
    admin: AdminClient,
    asked: Mapping[KafkaPartition, OffsetSpec],
    servers: str,
    isolation: IsolationLevel,
    limit: Mapping[str, float],
) -> dict[TopicPartition, OffsetPlace]:
    found: dict[TopicPartition, OffsetPlace] = {}
    # A broker that is connected and does not respond is not an error to librdkafka: the offset is -1001 then.
    answers = admin.list_offsets(dict(asked), isolation_level=isolation, **limit)
    for partition, future in answers.items():
        key = TopicPartition(partition.topic, partition.partition)
        try:
            place = future.result()
        except KafkaException as failure:
            error, act = code_of(failure), f"Reading the offsets of {key}"
            if error.code() in _CHANGING:
                raise LeaderChangingError(f"{act} failed: {error.str()} (brokers {servers})") from failure
            if error.code() in _SILENT:
                text = f"The brokers {servers} did not return the offsets of {key} in time: {error.str()}"
                raise _SilentLeaderError(text) from failure
            raise to_connect_error(error, act, servers) from failure
        if place.offset == OFFSET_INVALID:
            raise _SilentLeaderError(f"The brokers {servers} did not return the offsets of {key} in time")
        found[key] = OffsetPlace(place.offset, place.timestamp)
    return found
