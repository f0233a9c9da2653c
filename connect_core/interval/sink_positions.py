"""Positions of a sink as Connect writes offsets: ``kafka_topic``, ``kafka_partition``, ``kafka_offset``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.offsets import canonical, parse
from connect_core.api.records import TopicPartition

__all__ = ["sink_offsets", "sink_positions", "sink_wishes"]


def sink_positions(offsets: Mapping[str, Mapping[str, Any]]) -> dict[TopicPartition, int]:
    """Return a sink's offsets as positions in topic partitions."""
    return {_topic_partition(partition): offset["kafka_offset"] for partition, offset in offsets.items()}


def sink_wishes(offsets: Mapping[str, Mapping[str, Any] | None]) -> dict[TopicPartition, int | None]:
    """Return the requested offsets as positions; ``None`` deletes one."""
    return {
        _topic_partition(partition): None if offset is None else offset["kafka_offset"]
        for partition, offset in offsets.items()
    }


def sink_offsets(positions: Mapping[TopicPartition, int | None]) -> dict[str, dict[str, Any] | None]:
    """Return positions in Connect's own form, keyed by the canonical JSON of the partition."""
    return {
        canonical({"kafka_partition": part.partition, "kafka_topic": part.topic}): None
        if position is None
        else {"kafka_offset": position}
        for part, position in positions.items()
    }


def _topic_partition(text: str) -> TopicPartition:
    partition = parse(text)
    return TopicPartition(partition["kafka_topic"], partition["kafka_partition"])
