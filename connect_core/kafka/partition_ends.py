"""Where topic partitions begin and end, in calls for many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from confluent_kafka import IsolationLevel, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from connect_core.api.records import TopicPartition
from connect_core.errors import RetriableError
from connect_core.interval.values import PartitionEnds
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.topics import topic_partitions

__all__ = ["LeaderChangingError", "high_watermarks", "list_offsets", "partition_ends"]

_SECONDS = 15.0
_CHANGING = frozenset(
    {
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
    }
)


class LeaderChangingError(RetriableError):
    """Say that a partition has no leader at the moment, or is being made or removed."""


def partition_ends(
    admin: AdminClient, topics: Iterable[str], servers: str, before: datetime | None = None
) -> dict[TopicPartition, PartitionEnds]:
    """Return the ends of every partition of the topics that exist.

    With ``before``, ``stable`` is at most the first offset whose timestamp is
    not earlier. Raise RetriableError if the brokers do not answer.
    """
    found = topic_partitions(admin, topics, servers)
    partitions = [TopicPartition(topic, number) for topic, (_, count) in found.items() for number in range(count)]
    earliest = list_offsets(admin, partitions, OffsetSpec.earliest(), servers)
    stable = list_offsets(admin, partitions, OffsetSpec.latest(), servers, IsolationLevel.READ_COMMITTED)
    latest = list_offsets(admin, partitions, OffsetSpec.latest(), servers)
    ends = {
        key: PartitionEnds(found[key.topic][0], earliest[key], stable[key], max(latest[key], stable[key]))
        for key in partitions
    }
    return ends if before is None else _bounded(admin, ends, before, servers)


def high_watermarks(
    admin: AdminClient, partitions: Iterable[TopicPartition], servers: str
) -> dict[TopicPartition, int]:
    """Return the end of each partition, open transactions included."""
    return list_offsets(admin, partitions, OffsetSpec.latest(), servers)


@retry(
    retry=retry_if_exception_type(LeaderChangingError),
    wait=wait_exponential(multiplier=0.05, max=1.0),
    stop=stop_after_delay(_SECONDS),
    reraise=True,
)
def list_offsets(
    admin: AdminClient,
    partitions: Iterable[TopicPartition],
    spec: OffsetSpec,
    servers: str,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    """Return one offset of every partition, in one call.

    -1 stands for a time after the last record. Waits while partitions change
    leaders or are being made. Raise RetriableError if the brokers do not answer,
    or partitions are gone by now; ConnectError if forbidden.
    """
    found: dict[TopicPartition, int] = {}
    asked = {KafkaPartition(key.topic, key.partition): spec for key in partitions}
    if not asked:
        return found
    answers = admin.list_offsets(asked, isolation_level=isolation)
    for partition, future in answers.items():
        key = TopicPartition(partition.topic, partition.partition)
        try:
            found[key] = future.result().offset
        except KafkaException as failure:
            error, act = code_of(failure), f"Reading the offsets of {key}"
            if error.code() in _CHANGING:
                raise LeaderChangingError(f"{act} failed: {error.str()} (brokers {servers})") from failure
            raise to_connect_error(error, act, servers) from failure
    return found


def _bounded(
    admin: AdminClient, ends: Mapping[TopicPartition, PartitionEnds], before: datetime, servers: str
) -> dict[TopicPartition, PartitionEnds]:
    spec = OffsetSpec.for_timestamp(int(before.timestamp() * 1000))
    first = list_offsets(admin, ends, spec, servers)
    return {
        key: replace(end, stable=min(end.stable, first[key])) if first[key] >= 0 else end for key, end in ends.items()
    }
