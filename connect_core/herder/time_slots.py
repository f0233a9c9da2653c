"""The state of each time slot of an export, from the history of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum

from connect_core.herder.slot_times import SlotTime
from connect_core.interval.values import IntervalState
from connect_core.store.interval_history import BoundedInterval

__all__ = ["SlotHistory", "SlotState", "TimeSlot", "covering", "time_slots"]

_GRACE = timedelta(minutes=5)


class SlotState(Enum):
    """The state of a time slot."""

    FINISHED = "finished"
    """The export has passed its end, or Kafka has no record before its end that is not exported."""
    LATE = "late"
    """Finished; its run also exported records of earlier times, into additional files."""
    RUNNING = "running"
    """It is being exported, for the first time or again."""
    FAILED = "failed"
    """Its export failed, or was given up when it was exported again, and no other has finished it."""
    DUE = "due"
    """It has just ended, and its run has not begun."""
    MISSING = "missing"
    """It ended, and is not exported."""
    UNKNOWN = "unknown"
    """It is before the first interval that the history still contains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSlot:
    """A slot: records from ``start`` on and before ``end``; ``local_…`` are these in the connector's time zone.

    ``records``, ``late`` and ``interval_count`` are those of its own live intervals, the last of which is
    ``last_interval`` and ended at ``exported_at``; a slot without any is passed by an interval of a later one.
    ``exported_again_at``: when its last backfill ended. ``can_export_again``: whether a backfill can. ``reason``: of a
    failure, else null.
    """

    start: datetime
    end: datetime
    local_start: str
    local_end: str
    state: SlotState
    records: int
    late: int
    interval_count: int
    last_interval: int | None
    exported_at: datetime | None
    exported_again_at: datetime | None
    can_export_again: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class SlotHistory:
    """What slots are judged by. ``intervals``: those with a bound within the slots, of this incarnation.

    ``unfinished``: the one under way. ``reached``, ``first``: the newest and the oldest bound of a committed live
    interval; ``is_whole``: no earlier interval was deleted. ``reads_all``: the first one began at the beginning of the
    topics. ``empty_until``: Kafka has no record before that time which is not exported.
    """

    now: datetime
    intervals: Sequence[BoundedInterval] = ()
    unfinished: BoundedInterval | None = None
    reached: datetime | None = None
    first: datetime | None = None
    is_whole: bool = True
    reads_all: bool = True
    empty_until: datetime | None = None


def time_slots(times: Sequence[SlotTime], history: SlotHistory, zone: tzinfo = UTC) -> list[TimeSlot]:
    """Return the slots of these times, which follow one another."""
    live = sorted((one for one in history.intervals if one.since is None), key=lambda one: one.bound_time)
    again = [one for one in history.intervals if one.since is not None]
    found, at = [], 0
    for time in times:
        own = []
        while at < len(live) and live[at].bound_time <= time.end:
            if live[at].bound_time > time.start and live[at].state is IntervalState.COMMITTED:
                own.append(live[at])
            at += 1
        backfills = sorted((one for one in again if covering(one, time)), key=lambda one: one.sequence)
        found.append(_slot(time, own, backfills, history, zone))
    return found


def covering(backfill: BoundedInterval, time: SlotTime) -> bool:
    """Return whether a backfill is of this time."""
    return backfill.since is not None and backfill.since <= time.start and time.end <= backfill.bound_time


def _slot(
    time: SlotTime,
    own: Sequence[BoundedInterval],
    backfills: Sequence[BoundedInterval],
    history: SlotHistory,
    zone: tzinfo,
) -> TimeSlot:
    last = max(own, key=lambda one: one.sequence, default=None)
    again = [one for one in backfills if one.state is IntervalState.COMMITTED]
    state = _state(time, own, backfills, history)
    has_reached = history.reached is not None and time.end <= history.reached
    return TimeSlot(
        start=time.start,
        end=time.end,
        local_start=time.start.astimezone(zone).isoformat(timespec="seconds"),
        local_end=time.end.astimezone(zone).isoformat(timespec="seconds"),
        state=state,
        records=sum(one.records for one in own),
        late=sum(one.late for one in own),
        interval_count=len(own),
        last_interval=None if last is None else last.sequence,
        exported_at=None if last is None else last.ended_at,
        exported_again_at=again[-1].ended_at if again else None,
        can_export_again=has_reached and state is not SlotState.RUNNING,
        reason=_reason(backfills, history.unfinished if state is SlotState.FAILED else None),
    )


def _state(
    time: SlotTime, own: Sequence[BoundedInterval], backfills: Sequence[BoundedInterval], history: SlotHistory
) -> SlotState:
    if history.unfinished is not None and _is_under_way(history.unfinished, time, history.reached):
        return SlotState.FAILED if history.unfinished.state is IntervalState.FAILED else SlotState.RUNNING
    has_passed = history.reached is not None and time.end <= history.reached
    is_before = not own and has_passed and history.first is not None and time.end < history.first
    if has_passed and not is_before:
        return SlotState.LATE if any(one.late for one in own) else SlotState.FINISHED
    if any(one.state is IntervalState.COMMITTED for one in backfills):
        return SlotState.FINISHED
    if backfills:
        return SlotState.FAILED
    return _before_the_first(history) if is_before else _not_reached(time, history)


def _is_under_way(unfinished: BoundedInterval, time: SlotTime, reached: datetime | None) -> bool:
    if unfinished.since is not None:
        return covering(unfinished, time)
    is_own = time.start < unfinished.bound_time <= time.end
    return is_own or (time.end <= unfinished.bound_time and (reached is None or reached < time.end))


def _before_the_first(history: SlotHistory) -> SlotState:
    if not history.is_whole:
        return SlotState.UNKNOWN
    return SlotState.FINISHED if history.reads_all else SlotState.MISSING


def _not_reached(time: SlotTime, history: SlotHistory) -> SlotState:
    if history.empty_until is not None and time.end <= history.empty_until:
        return SlotState.FINISHED
    return SlotState.DUE if history.now - time.end < _GRACE else SlotState.MISSING


def _reason(backfills: Sequence[BoundedInterval], failed: BoundedInterval | None) -> str | None:
    """Return why the last export of a slot did not succeed."""
    if failed is not None:
        return f"interval {failed.sequence} failed: its tasks have the error"
    if backfills and backfills[-1].state is IntervalState.ABANDONED:
        return f"interval {backfills[-1].sequence}, which exported it again, was given up: {backfills[-1].reason}"
    return None
