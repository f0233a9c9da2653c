"""Internal topics: those the worker keeps offsets and heartbeats in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["InternalTopic"]


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """How an internal topic is created; -1 leaves a number to the broker.

    ``settings`` are topic settings, ``cleanup.policy=compact`` always among
    them. Connect: ``DistributedConfig.offsetStorageTopicSettings``.
    """

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]
