"""Committed offsets of consumer groups: read when a sink is adopted, written for lag tools.

Uses a consumer of the group, not the admin client: librdkafka 2.16 crashes the process when a coordinator that is still
loading responds to the latter (``rd_kafka_handle_OffsetFetch`` without a consumer group).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import AdminClient
from tenacity import retry, retry_if_exception, stop_after_delay, wait_exponential

from connect_core.api.records import TopicPartition
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.failures import code_of, to_connect_error

__all__ = ["commit_group_offsets", "delete_group", "group_offsets"]

_SECONDS = 30.0
_PROBE_SECONDS = 10.0
_NO_GROUP = frozenset({KafkaError.GROUP_ID_NOT_FOUND})
_COORDINATOR_MOVES = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
    }
)
"""Returned while a broker that has just started takes over its groups; the client passes them on."""


def _is_coordinator_moving(failure: BaseException) -> bool:
    return isinstance(failure, KafkaException) and code_of(failure).code() in _COORDINATOR_MOVES


_until_coordinator = retry(
    retry=retry_if_exception(_is_coordinator_moving),
    stop=stop_after_delay(_SECONDS),
    wait=wait_exponential(0.1, max=2.0),
    reraise=True,
)


def group_offsets(clients: KafkaClients, group: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Return the offsets that the group has committed for these partitions; partitions without one are left out.

    Raise RetriableError if the brokers do not answer.
    """
    asked = [KafkaPartition(key.topic, key.partition) for key in partitions]
    if not asked:
        return {}
    with _member(clients, group) as consumer:
        try:
            found = _committed(consumer, asked, _SECONDS)
        except KafkaException as failure:
            error = code_of(failure)
            if error.code() in _NO_GROUP:
                return {}
            act = f"Reading the offsets of group {group}"
            raise to_connect_error(error, act, clients.bootstrap_servers) from failure
    return {TopicPartition(one.topic, one.partition): one.offset for one in found if one.offset >= 0 and not one.error}


def commit_group_offsets(clients: KafkaClients, group: str, positions: Mapping[TopicPartition, int]) -> None:
    """Commit positions for a group without members. Raise ConnectError when it has some, or is forbidden."""
    if not positions:
        return
    wanted = [KafkaPartition(key.topic, key.partition, offset) for key, offset in positions.items()]
    act = f"Committing the positions of group {group}"
    with _member(clients, group) as consumer:
        try:
            # A commit has no time limit while the coordinator is unreachable; this call has one.
            _committed(consumer, wanted, _PROBE_SECONDS)
            done = consumer.commit(offsets=wanted, asynchronous=False) or []
        except KafkaException as failure:
            raise to_connect_error(code_of(failure), act, clients.bootstrap_servers) from failure
    for one in done:
        if one.error is not None:
            raise to_connect_error(one.error, f"{act} for {one.topic}-{one.partition}", clients.bootstrap_servers)


def delete_group(admin: AdminClient, group: str, servers: str) -> None:
    """Delete a group without members, and its offsets. Raise ConnectError when it has some, or is forbidden."""
    (future,) = admin.delete_consumer_groups([group], request_timeout=_PROBE_SECONDS).values()
    try:
        future.result()
    except KafkaException as failure:
        error = code_of(failure)
        if error.code() not in _NO_GROUP:
            raise to_connect_error(error, f"Deleting group {group}", servers) from failure


@_until_coordinator
def _committed(consumer: Consumer, partitions: list[KafkaPartition], seconds: float) -> list[KafkaPartition]:
    found: list[KafkaPartition] = consumer.committed(partitions, seconds)
    return found


@contextmanager
def _member(clients: KafkaClients, group: str) -> Iterator[Consumer]:
    """Return a consumer that acts for the group without joining it."""
    consumer = clients.consumer({"group.id": group})
    try:
        yield consumer
    finally:
        consumer.close()
