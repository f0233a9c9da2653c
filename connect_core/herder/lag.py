"""Lag of sinks: the last stable offsets of Kafka minus their positions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.topic_ends import Ends
from connect_core.interval.values import ConnectorType
from connect_core.store import connectors, offsets

__all__ = ["Lag", "PartitionLag", "behind", "get_lag", "sum_of", "topics_of"]


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """A sink's lag in one partition; ``end`` is the last stable offset."""

    topic: str
    partition: int
    position: int
    end: int
    lag: int


@dataclass(frozen=True, slots=True)
class Lag:
    """A connector's lag; ``lag`` is ``None``, with the reason, if it is not known."""

    lag: int | None
    partitions: list[PartitionLag] = field(default_factory=list)
    reason: str | None = None


def topics_of(config: Mapping[str, str]) -> list[str]:
    """Return the topics that a sink's configuration lists by name."""
    return [topic.strip() for topic in config.get("topics", "").split(",") if topic.strip()]


def behind(positions: Mapping[TopicPartition, int], ends: Ends) -> list[PartitionLag]:
    """Return the lag of every partition, sorted; without a position it counts from the partition's beginning."""
    found = []
    for part, end in sorted(ends.items(), key=lambda item: (item[0].topic, item[0].partition)):
        position = positions.get(part, end.earliest)
        found.append(PartitionLag(part.topic, part.partition, position, end.stable, max(0, end.stable - position)))
    return found


def sum_of(positions: Mapping[TopicPartition, int], topics: Collection[str], ends: Ends) -> int | None:
    """Return a sink's total lag; ``None`` if the ends of one of its topics are not known."""
    wanted = {*topics, *(part.topic for part in positions)}
    mine = {part: end for part, end in ends.items() if part.topic in wanted}
    if not wanted or wanted - {part.topic for part in mine}:
        return None
    return sum(one.lag for one in behind(positions, mine))


def get_lag(herder: Herder, name: str) -> Lag:
    """Return a connector's lag, asking Kafka. Raise NotFoundError."""
    with herder.database.read() as connection:
        state = connectors.get(connection, name)
        stored = offsets.load(connection, name, state.type)
    if state.type is ConnectorType.SOURCE:
        return Lag(None, reason="Only the system that a source reads knows its lag.")
    if herder.ends is None:
        return Lag(None, reason="Kafka is not queried here.")
    try:
        ends = herder.ends.reader.partition_ends(topics_of(state.config), state.config.get("topics.regex") or None)
    except ConnectError as error:
        return Lag(None, reason=str(error))
    parts = behind(offsets.sink_positions(stored), ends)
    return Lag(sum(part.lag for part in parts), parts)
