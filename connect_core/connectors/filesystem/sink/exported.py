"""Finds what a folder contains of ranges of offsets, by its newest manifests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, PartitionRange

__all__ = ["Found", "newest_over"]

Found: TypeAlias = tuple[int, int, CommitMarker]
"""Incarnation and sequence of an interval, and its marker."""
_Pieces: TypeAlias = list[tuple[int, int]]


def newest_over(
    markers: Iterable[Found], wanted: Sequence[PartitionRange]
) -> tuple[list[Found], tuple[PartitionRange, ...]]:
    """Return the markers that are the newest for some of these offsets, oldest first, and the offsets without one.

    markers: the newest first; read only until all offsets are covered.
    """
    missing = {part.topic_partition: [(part.start, part.end)] for part in wanted if part.start < part.end}
    ids = {part.topic_partition: part.topic_id for part in wanted}
    found: list[Found] = []
    for one in _while_missing(markers, missing):
        covered = [part for part in _told(one[2]) if _is_same_topic(part, ids) and _covers(part, missing)]
        for part in covered:
            missing[part.topic_partition] = _without(missing[part.topic_partition], part.start, part.end)
        if covered:
            found.append(one)
    gaps = (
        PartitionRange(part.topic, part.partition, start, end, ids[part])
        for part, pieces in sorted(missing.items())
        for start, end in pieces
    )
    return found[::-1], tuple(gaps)


def _while_missing(markers: Iterable[Found], missing: dict[TopicPartition, _Pieces]) -> Iterator[Found]:
    every = iter(markers)
    while any(missing.values()):
        one = next(every, None)
        if one is None:
            return
        yield one


def _told(marker: CommitMarker) -> tuple[PartitionRange, ...]:
    return () if marker.aborted or marker.is_foreign else marker.ranges or ()


def _is_same_topic(part: PartitionRange, ids: dict[TopicPartition, str]) -> bool:
    wanted = ids.get(part.topic_partition, "")
    return not (wanted and part.topic_id) or wanted == part.topic_id


def _covers(part: PartitionRange, missing: dict[TopicPartition, _Pieces]) -> bool:
    return any(part.start < end and start < part.end for start, end in missing.get(part.topic_partition, ()))


def _without(pieces: _Pieces, first: int, last: int) -> _Pieces:
    cut = [piece for start, end in pieces for piece in ((start, min(end, first)), (max(start, last), end))]
    return [(start, end) for start, end in cut if start < end]
