"""Records of an unfinished interval that are gone with their topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.interval.effects import ReadPartitionEnds
from connect_core.interval.values import IntervalRow, LostRecords, PartitionEnds
from connect_core.plan.bounds import find_gone
from connect_core.plan.run import Run, Steps

__all__ = ["ends_of", "gone_with_topics", "to_record"]

Ends = Mapping[TopicPartition, PartitionEnds]


def ends_of(row: IntervalRow) -> Steps[Ends]:
    """Return the ends of an interval's topics, whether or not the connector still reads them.

    A topic counts as deleted where the brokers say twice that they do not know it: what is skipped is never read again.
    Brokers that do not answer are an error of the effect.
    """
    ends = yield from ReadPartitionEnds(_topics(row.ranges))
    missing = _topics(part for part in row.ranges if part.topic_partition not in ends)
    return {**ends, **(yield from ReadPartitionEnds(missing))} if missing else ends


def gone_with_topics(row: IntervalRow, ends: Ends) -> tuple[LostRecords, ...]:
    """Return the records of topics that no longer exist: later plans have nothing to compare their positions with."""
    known = {part.topic for part in ends}
    return find_gone((part for part in row.ranges if part.topic not in known), ends)


def to_record(run: Run, row: IntervalRow) -> Steps[tuple[LostRecords, ...]]:
    """Return what is to be recorded as lost with an interval that a mark in its target abandons.

    The plan that left the mark may have been killed before it recorded why.
    """
    if row.is_backfill or run.settings.data_loss != "skip":
        return ()
    return gone_with_topics(row, (yield from ends_of(row)))


def _topics(ranges: Iterable[PartitionRange]) -> tuple[str, ...]:
    return tuple(sorted({part.topic for part in ranges}))
