"""Bounds of sink intervals: from positions and partition ends to fixed ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import DataLossError
from connect_core.interval.values import IntervalRow, IntervalSettings, LostRecords, PartitionEnds

__all__ = [
    "cap_ranges",
    "covering",
    "find_gone",
    "find_losses",
    "find_vanished",
    "first_position",
    "has_records",
    "sink_ranges",
    "surviving_positions",
]

Positions = Mapping[TopicPartition, int]
Ends = Mapping[TopicPartition, PartitionEnds]


def first_position(ends: PartitionEnds, group_offset: int | None, settings: IntervalSettings) -> int:
    """Return the position at which a partition without one begins.

    It is the consumer group's committed offset if there is one (a Connect cluster's
    work is continued), otherwise it follows ``auto.offset.reset``. So it does, as in Connect,
    if that offset is beyond the end: it was committed in an earlier topic of this name.
    """
    if group_offset is not None and group_offset <= ends.latest:
        return group_offset
    return ends.earliest if settings.offset_reset == "earliest" else ends.stable


def has_records(positions: Positions, ends: Ends) -> bool:
    """Return whether a plan would find records, or a position beyond the end: that topic was recreated, or cut."""
    at = ((positions.get(part, end.earliest), end) for part, end in ends.items())
    return any(position < end.stable or position > end.latest for position, end in at)


def find_losses(positions: Positions, ends: Ends, topic_ids: Mapping[str, str]) -> tuple[LostRecords, ...]:
    """Return what can no longer be read at these positions; ``end`` is where reading can continue.

    A position before the earliest offset means removed records; a topic with
    different id than last time is a different topic.
    """
    found = (_loss(part, position, ends[part], topic_ids.get(part.topic))
             for part, position in sorted(positions.items()) if part in ends)  # fmt: skip
    return tuple(loss for loss in found if loss is not None)


def find_vanished(positions: Positions, ends: Ends, topic_ids: Mapping[str, str]) -> tuple[LostRecords, ...]:
    """Return the positions in partitions that a topic no longer has, as it was created again with fewer of them.

    They end at 0: the topic may be given such partitions again, and those are new ones.
    """
    ids = {part.topic: end.topic_id for part, end in ends.items()}
    found = ((part, position, _recreated(part.topic, topic_ids.get(part.topic), ids.get(part.topic)))
             for part, position in sorted(positions.items()) if part not in ends)  # fmt: skip
    return tuple(LostRecords(part, position, 0, reason) for part, position, reason in found if reason)


def _recreated(topic: str, was: str | None, now: str | None) -> str:
    """Return how a topic became another one; nothing if it is the same, or its id is not known."""
    if not (was and now) or was == now:
        return ""
    return f"Topic {topic} was deleted and created again: its id was {was} and is {now}"


def _loss(part: TopicPartition, position: int, ends: PartitionEnds, topic_id: str | None) -> LostRecords | None:
    recreated = _recreated(part.topic, topic_id, ends.topic_id)
    if recreated:
        return LostRecords(part, position, ends.earliest, recreated)
    if position < ends.earliest:
        reason = f"Offsets {position} to {ends.earliest - 1} of {part} were removed before they were read"
        return LostRecords(part, position, ends.earliest, reason)
    if position > ends.latest:
        return LostRecords(part, position, ends.latest, f"Offset {position} of {part} is beyond its end {ends.latest}")
    return None


def find_gone(ranges: Iterable[PartitionRange], ends: Ends) -> tuple[LostRecords, ...]:
    """Return the planned records that are not read yet of partitions that no longer exist."""
    return tuple(
        LostRecords(part.topic_partition, part.start, part.end, _gone(part))
        for part in sorted(ranges, key=lambda one: one.topic_partition)
        if part.start < part.end and part.topic_partition not in ends
    )


def _gone(part: PartitionRange) -> str:
    place = part.topic_partition
    return f"Topic {part.topic} was deleted before offsets {part.start} to {part.end - 1} of {place} were read"


def surviving_positions(positions: Positions, losses: Sequence[LostRecords], policy: str) -> Positions:
    """Return the positions that can still be read, advanced past losses if ``policy`` is ``skip``.

    Raises DataLossError when the policy is ``fail``.
    """
    if losses and policy != "skip":
        raise DataLossError(
            f"{losses[0].reason}. Set interval.data.loss=skip to continue without them, or reset the offsets."
        )
    return {**positions, **{loss.partition: loss.end for loss in losses}}


def covering(row: IntervalRow, reached: Positions) -> Positions:
    """Return a position for every partition of an interval; one of which nothing was read stays at its start."""
    return {**{part.topic_partition: part.start for part in row.ranges}, **reached}


def sink_ranges(positions: Positions, ends: Ends) -> tuple[PartitionRange, ...]:
    """Return [position, last stable offset) of every partition, in sorted order."""
    return tuple(
        PartitionRange(part.topic, part.partition, position, max(position, ends[part].stable), ends[part].topic_id)
        for part, position in sorted(positions.items())
        if part in ends
    )


def cap_ranges(ranges: Iterable[PartitionRange], records: int | None) -> tuple[PartitionRange, ...]:
    """Cut ranges so that together they hold at most ``records`` offsets.

    Small partitions keep all their offsets; the rest is shared equally, so that no
    partition starves behind a large one.
    """
    left = list(ranges)
    if records is None or sum(part.end - part.start for part in left) <= records:
        return tuple(left)
    capped: dict[TopicPartition, PartitionRange] = {}
    for rest, part in zip(range(len(left), 0, -1), sorted(left, key=lambda one: one.end - one.start), strict=True):
        share = min(part.end - part.start, records // rest)
        records -= share
        capped[part.topic_partition] = replace(part, end=part.start + share)
    return tuple(capped[part.topic_partition] for part in left)
