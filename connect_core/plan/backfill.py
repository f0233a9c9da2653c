"""Planning of backfills: which ranges of a past time are exported again, or for the first time.

An interval of a backfill lies before the live position and moves no position. Its ranges are all those of one
earlier interval, since equal ranges have equal names, or those of that time that no interval ever had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from connect_core.api.backfill import Backfill, Exported
from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.errors import ConnectError, DataLossError, RetriableError
from connect_core.interval.effects import (
    InsertInterval,
    LoadOffsets,
    LoadTimeBefore,
    LoadUnfinished,
    ReadExistingExports,
    ReadPartitionEnds,
    ReadTargetMarker,
    ReadTimeBounds,
)
from connect_core.interval.time_bounds import RecordTimes, millis_of
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    IntervalState,
    PartitionEnds,
    Plan,
    TaskAssignment,
)
from connect_core.plan.assignment import assignment_name
from connect_core.plan.bounds import cap_ranges
from connect_core.plan.fence import begin_above, fence_sink, reloaded
from connect_core.plan.recovery import recovered
from connect_core.plan.run import Run, Steps
from connect_core.plan.sink import plan_of

__all__ = ["plan_backfill"]

Positions = Mapping[TopicPartition, int]
Ends = Mapping[TopicPartition, PartitionEnds]
Ranges = tuple[PartitionRange, ...]

_EVER = datetime(9000, 1, 1, tzinfo=UTC)


def plan_backfill(run: Run, assignment: TaskAssignment) -> Steps[tuple[Run, Plan | ConnectError | None]]:
    """Fence the target, abandon a backfill's unfinished interval, then bound the next one → or why it is refused."""
    run, _ = yield from fence_sink(run, assignment_name(ConnectorType.SINK, assignment.configs))
    unfinished = yield from LoadUnfinished(run.connector)
    if unfinished is not None:
        if not unfinished.is_backfill:
            return run, RetriableError(f"Interval {unfinished.key.sequence} of the live export is not finished")
        run, _ = yield from recovered(run, unfinished, None)
        run = yield from reloaded(run)
    if run.state.sequence == 0 and assignment.has_committer:
        run = yield from begin_above(run)
    if run.sequence_before is None:
        run = replace(run, sequence_before=run.state.sequence)
    return run, (yield from _next(run, assignment))


def _next(run: Run, assignment: TaskAssignment) -> Steps[Plan | ConnectError | None]:
    positions: Positions = yield from LoadOffsets(run.connector)
    ends = yield from ReadPartitionEnds(run.settings.topics, run.settings.topics_regex)
    recreated = _recreated(run, ends)
    if recreated is not None:
        return recreated
    wanted = yield from _wanted(run, positions, ends)
    existing = yield from ReadExistingExports(run.connector, wanted)
    if isinstance(existing, str):
        return ConnectError(f"Connector {run.connector} cannot be backfilled: {existing}")
    following = IntervalKey(run.connector, run.state.incarnation, run.state.sequence + 1, run.mine)
    marker = yield from ReadTargetMarker(following)
    if marker is not None:
        return RetriableError("The target is ahead of the metadata database; a live run has to update it first")
    old = [one for one in existing.exported if not _is_new(run, one)]
    refusal = _unreadable(old, positions, ends)
    if refusal is not None:
        return refusal
    piece = _piece(old, existing.gaps, run.settings.caps.records)
    if not assignment.configs or not any(part.start < part.end for part in piece.ranges):
        return None
    return (yield from _begun(run, assignment, following, piece))


@dataclass(frozen=True, slots=True)
class _Piece:
    """The ranges of one interval; ``is_first``: exported for the first time, so that late records are counted."""

    ranges: Ranges
    is_first: bool
    is_last: bool


def _piece(old: Sequence[Exported], gaps: Ranges, most: int | None) -> _Piece:
    """Return ranges that no interval has had, one of each partition; otherwise those of the oldest interval."""
    firsts: dict[TopicPartition, PartitionRange] = {}
    for gap in sorted(gaps, key=lambda one: (one.topic_partition, one.start)):
        firsts.setdefault(gap.topic_partition, gap)
    if firsts:
        ranges = tuple(firsts.values())
        capped = cap_ranges(ranges, most)
        return _Piece(capped, is_first=True, is_last=not old and len(ranges) == len(gaps) and capped == ranges)
    again = tuple(part for part in old[0].ranges if part.start < part.end) if old else ()
    return _Piece(again, is_first=False, is_last=len(old) <= 1)


def _begun(run: Run, assignment: TaskAssignment, key: IntervalKey, piece: _Piece) -> Steps[Plan]:
    since, before = _time(run)
    row = IntervalRow(
        key,
        IntervalState.PLANNED,
        run.state.config_version,
        run.assignment or "",
        ranges=piece.ranges,
        tasks=len(assignment.configs),
        bound_time=before,
        since=since,
    )
    is_last = piece.is_last and (yield from _is_exported(run, before))
    yield from InsertInterval(row)
    times = RecordTimes(millis_of(since), millis_of(before)) if piece.is_first else RecordTimes()
    plan = plan_of(run, row, assignment, (), times)
    # Ranges that a cap cuts have another file name, and would be added to what they are to replace.
    whole = replace(run.settings.caps, records=None, bytes=None, milliseconds=None)
    tasks = tuple(replace(task, caps=whole) for task in plan.tasks)
    backfill = Backfill(millis_of(since), millis_of(before), row.config_version, is_last)
    return replace(plan, tasks=tasks, is_last=False, backfill=backfill)


def _time(run: Run) -> tuple[datetime, datetime]:
    assert run.since is not None
    assert run.bound_time is not None
    return run.since, run.bound_time


def _is_exported(run: Run, before: datetime) -> Steps[bool]:
    """Return whether the live export has passed that time: it has no earlier records left, except late ones."""
    latest = yield from LoadTimeBefore(run.connector, run.state.incarnation, _EVER)
    return run.settings.offset_reset == "latest" if latest is None else latest >= before


def _wanted(run: Run, positions: Positions, ends: Ends) -> Steps[Ranges]:
    """Return the ranges of the time that lie before the live position.

    From the first record of ``since`` or later to the first of ``before`` or later, so that the ranges of
    adjacent times are adjacent. A late record belongs to the range of the time it arrived in.
    """
    behind = tuple(
        PartitionRange(part.topic, part.partition, end.earliest, min(positions[part], end.stable), end.topic_id)
        for part, end in sorted(ends.items())
        if part in positions and end.earliest < min(positions[part], end.stable)
    )
    since, before = _time(run)
    starts = yield from _first_of(run, behind, since)
    rest = tuple(replace(part, start=starts[part.topic_partition]) for part in behind)
    stops = yield from _first_of(run, rest, before)
    found = tuple(replace(part, end=stops[part.topic_partition]) for part in rest)
    return tuple(part for part in found if part.start < part.end)


def _first_of(run: Run, ranges: Ranges, moment: datetime) -> Steps[dict[TopicPartition, int]]:
    """Return the first offset of each range whose record is of a time or later; future records are passed over."""
    found: dict[TopicPartition, int] = {}
    left = ranges
    while left:
        bounds = yield from ReadTimeBounds(left, moment, run.settings.skew_ms, True)
        found.update({part: bound.end for part, bound in bounds.items()})
        left = tuple(
            replace(part, start=found[part.topic_partition]) for part in left if bounds[part.topic_partition].is_cut
        )
    return found


def _is_new(run: Run, exported: Exported) -> bool:
    """Return whether no new export is needed: this backfill, or this configuration with files that exist, made it."""
    assert run.sequence_before is not None
    is_mine = exported.incarnation == run.state.incarnation and exported.sequence > run.sequence_before
    return is_mine or (exported.config_version == run.state.config_version and exported.is_complete)


def _recreated(run: Run, ends: Ends) -> ConnectError | None:
    for part, end in sorted(ends.items()):
        if _is_other(PartitionRange(*part, 0, 0, run.state.topic_ids.get(part.topic, "")), end):
            return ConnectError(f"Topic {part.topic} was deleted and created again: a live run has to happen first")
    return None


def _is_other(part: PartitionRange, end: PartitionEnds) -> bool:
    return bool(part.topic_id and end.topic_id) and part.topic_id != end.topic_id


def _unreadable(exported: Sequence[Exported], positions: Positions, ends: Ends) -> ConnectError | None:
    """Return why an earlier interval cannot be read as a whole; nothing is replaced by less."""
    for one in exported:
        for part in (each for each in one.ranges if each.start < each.end):
            place = part.topic_partition
            if place not in ends or place not in positions or _is_other(part, ends[place]):
                return ConnectError(f"Interval {one.sequence} has records of {place}, which is not read any more")
            if part.start < min(part.end, ends[place].earliest):
                gone = f"offsets {part.start} to {min(part.end, ends[place].earliest) - 1} of {place}"
                return DataLossError(f"Kafka no longer has {gone}; the files of interval {one.sequence} stay")
            if part.end > positions[place]:
                return ConnectError(
                    f"Interval {one.sequence} reaches to offset {part.end} of {place}, beyond the live position "
                    f"{positions[place]}: offsets were altered, and the live export takes these records again itself"
                )
    return None
