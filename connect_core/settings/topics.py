"""Internal topics, in which the worker keeps offsets and heartbeats."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from connect_core.errors import ConnectError

__all__ = ["InternalTopic", "check_free", "is_internal"]


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """How an internal topic is created; -1 leaves a number to the broker's default.

    ``settings`` are topic settings, ``cleanup.policy=compact`` always among
    them. Connect: ``DistributedConfig.offsetStorageTopicSettings``.
    """

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]


def is_internal(topic: str, internal: Collection[str]) -> bool:
    """Return whether a topic is Kafka's or the worker's own: connectors must not use it for records."""
    return topic.startswith("__") or topic in internal


def check_free(topic: str, internal: Collection[str]) -> None:
    """Reject an internal topic: whoever wrote to it could forge offsets and epochs of any connector.

    Raise ConnectError.
    """
    if is_internal(topic, internal):
        raise ConnectError(
            f"Topic {topic} is internal: Kafka or the worker keeps its own offsets, status or other records in it."
            " Change the connector, its transforms or errors.deadletterqueue.topic.name use another topic"
        )
