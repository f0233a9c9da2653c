"""One admin client for what plans and tasks need from a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from confluent_kafka.admin import AdminClient, OffsetSpec

from connect_core.api.records import TopicPartition
from connect_core.interval.values import PartitionEnds
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.groups import commit_group_offsets, delete_group, group_offsets
from connect_core.kafka.partition_ends import list_places, partition_ends
from connect_core.kafka.topics import list_topics, topic_ids

__all__ = ["KafkaAdmin"]


class KafkaAdmin:
    """Handles many partitions per call; every method raises RetriableError if the brokers do not respond.

    Thread-safe. The client is created at the first call. ``internal`` returns the topics that no pattern matches.
    """

    def __init__(self, clients: KafkaClients, internal: Callable[[], Collection[str]] = frozenset) -> None:
        self._clients, self._internal = clients, internal
        self.servers = clients.bootstrap_servers
        self._client: AdminClient | None = None

    @property
    def client(self) -> AdminClient:
        """The underlying client."""
        if self._client is None:
            self._client = self._clients.admin()
        return self._client

    def topics(self, regex: str) -> list[str]:
        """Return the names that match ``regex`` as a whole, internal topics left out."""
        return list_topics(self.client, regex, self.servers, self._internal())

    def topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """Return the id of each topic that exists."""
        return topic_ids(self.client, names, self.servers)

    def partition_ends(self, topics: Iterable[str], regex: str | None = None) -> dict[TopicPartition, PartitionEnds]:
        """Return the ends of all partitions of these topics and of the topics that match ``regex``."""
        names = {*topics, *(self.topics(regex) if regex else ())}
        return partition_ends(self.client, names, self.servers)

    def first_offsets(self, partitions: Iterable[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Return the first offset of each partition whose record is of a time or later, in milliseconds; -1 if none."""
        places = list_places(self.client, partitions, OffsetSpec.for_timestamp(millis), self.servers)
        return {part: place.offset for part, place in places.items()}

    def group_offsets(self, group: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offsets that a group has committed for these partitions."""
        return group_offsets(self._clients, group, partitions)

    def commit_group_offsets(self, group: str, positions: Mapping[TopicPartition, int]) -> None:
        """Commit positions for a group without members. Raise ConnectError when it has some."""
        commit_group_offsets(self._clients, group, positions)

    def delete_group(self, group: str) -> None:
        """Delete a consumer group and its offsets; a missing group is not an error. Raise ConnectError."""
        delete_group(self.client, group, self.servers)
