"""Sink intervals that end by a time (``interval.bound=data_interval_end``).

A range ends before the first record of the time T or later, so that no record of the interval is of T or later.
Earlier records after that one are late: the next interval takes them. A record from the future would block its
partition until that time: where a range would begin at one, ``interval.future.timestamps`` decides what to do.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import DataError
from connect_core.interval.effects import LoadTimeBefore, ReadTimeBounds, RecordFuture
from connect_core.interval.time_bounds import FutureRecord, RecordTimes, millis_of
from connect_core.interval.values import IntervalRow
from connect_core.plan.run import Run, Steps

__all__ = ["bounded_by_time", "record_times"]

Ranges = tuple[PartitionRange, ...]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def bounded_by_time(run: Run, ranges: Ranges) -> Steps[tuple[Ranges, bool]]:
    """Return the ranges up to the run's time, and whether there is more before that time than they hold.

    Raises DataError at a record from the future, unless such records are passed over.
    """
    before, settings = run.read_before, run.settings
    if before is None:
        return ranges, False
    passes = settings.future == "advance"
    found = yield from ReadTimeBounds(ranges, before, settings.skew_ms, passes)
    future = {part: bound.future for part, bound in sorted(found.items()) if bound.future is not None}
    if future and not passes:
        raise _held_up(*next(iter(future.items())), before, settings.skew_ms)
    if future:
        yield from RecordFuture(run.connector, run.mine, future)
    ended = tuple(replace(part, end=found[part.topic_partition].end) for part in ranges)
    return ended, any(bound.is_cut for bound in found.values())


def record_times(run: Run, row: IntervalRow) -> Steps[RecordTimes]:
    """Return the times by which the records of an interval are counted."""
    if row.bound_time is None:
        return RecordTimes()
    earlier = yield from LoadTimeBefore(run.connector, row.key.incarnation, row.bound_time)
    return RecordTimes(None if earlier is None else millis_of(earlier), millis_of(row.bound_time))


def _held_up(part: TopicPartition, record: FutureRecord, before: datetime, skew_ms: int) -> DataError:
    time = _told(record.time)
    return DataError(
        f"{part} is held up at offset {record.offset}: its record is of {time}, later than now by more than "
        f"interval.future.skew.ms={skew_ms}, so that nothing behind it comes before {before.isoformat()}. Set "
        "interval.future.timestamps=advance to take such records with those around them, or alter the connector's "
        "offsets to leave it out; and set the clock of its producer."
    )


def _told(millis: int) -> str:
    try:
        return (_EPOCH + timedelta(milliseconds=millis)).isoformat()
    except OverflowError:
        return f"{millis} ms since 1970"
