"""Compares committed ranges with the offsets Kafka still has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from connect_core.api.records import TopicPartition
from connect_core.api.recount import Difference
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.tiling import Chain
from connect_core.herder.topic_ends import Ends

__all__ = ["PartitionCount", "beyond", "count_partitions"]

_OFFSETS = (
    "offsets do not count records: transactions, aborted records and compaction leave offsets without one, and "
    "Kafka does not report how many"
)


@dataclass(frozen=True, slots=True)
class PartitionCount:
    """One topic partition. ``offsets``: the sum of the lengths of the committed ranges from ``start`` to ``end``.

    ``earliest``, ``stable`` and ``latest`` are Kafka's now, ``retained`` is how many offsets of [start, end) it still
    has; null if Kafka does not answer, or has another topic of this name.
    """

    topic: str
    partition: int
    topic_id: str
    start: int
    end: int
    offsets: int
    earliest: int | None = None
    stable: int | None = None
    latest: int | None = None
    retained: int | None = None


def count_partitions(
    herder: Herder, chains: Mapping[tuple[TopicPartition, str], Chain]
) -> tuple[list[PartitionCount], set[str]]:
    """Return a line for each partition, and notes."""
    if not chains:
        return [], set()
    ends, notes = _ends(herder, {part.topic for part, _ in chains})
    found = [_counted(part, topic_id, chain, ends) for (part, topic_id), chain in sorted(chains.items())]
    return found, {*notes, _OFFSETS}


def beyond(partitions: Iterable[PartitionCount]) -> Iterator[Difference]:
    """Yield the partitions whose committed offsets Kafka has never had, or has lost at their end."""
    for one in partitions:
        if one.latest is not None and one.end > one.latest:
            said, found = f"committed up to {one.end}", f"Kafka's end is {one.latest}"
            yield Difference("kafka", f"{one.topic}-{one.partition}", said, found)


def _ends(herder: Herder, topics: set[str]) -> tuple[Ends, set[str]]:
    if herder.ends is None:
        return {}, {"Kafka is not queried here"}
    try:
        return herder.ends.reader.partition_ends(sorted(topics)), set()
    except ConnectError as error:
        return {}, {f"Kafka did not report where topics begin and end: {error}"}


def _counted(part: TopicPartition, topic_id: str, chain: Chain, ends: Ends) -> PartitionCount:
    line = PartitionCount(part.topic, part.partition, topic_id, chain.start, chain.end, chain.offsets)
    end = ends.get(part)
    if end is None or (topic_id and end.topic_id and end.topic_id != topic_id):
        return line
    retained = max(0, min(chain.end, end.stable) - max(chain.start, end.earliest))
    return replace(line, earliest=end.earliest, stable=end.stable, latest=end.latest, retained=retained)
