"""Time slots of a schedule: the times whose records one scheduled run exports, from a time on and before another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, zip_longest

from croniter import croniter  # type: ignore[import-untyped]

from connect_core.configs.schedules import cron_of, duration_of

__all__ = ["MOST_SLOTS", "SlotTime", "slot_times"]

MOST_SLOTS = 1000
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SlotTime:
    """The time of a slot: from ``start`` on and before ``end``, when its run starts."""

    start: datetime
    end: datetime


def slot_times(
    schedule: str, since: datetime, until: datetime, runs: Sequence[datetime] = (), most: int = MOST_SLOTS
) -> list[SlotTime]:
    """Return the slots that end after ``since`` and by ``until``, the oldest first; the newest ``most`` of them.

    ``runs``: bounds of scheduled runs, sorted, with the ones before and after that time. Airflow counts a duration
    from one run to the next, so only runs define its slots; so they do for assets. A cron expression is in UTC, as
    the DAGs are.
    """
    text = " ".join(schedule.split())
    cron, duration = cron_of(text), duration_of(text)
    if cron is not None:
        ends = _by_cron(cron, since, until, most)
    elif duration is not None:
        ends = _by_duration(duration, max(since, until - duration * most), until, runs)
    else:
        ends = [moment for moment in runs if moment <= until]
    found = [SlotTime(start, end) for start, end in pairwise(ends) if since < end <= until]
    return found[-most:]


def _by_cron(cron: str, since: datetime, until: datetime, most: int) -> list[datetime]:
    """Return the times up to ``until``, with one at or before ``since``."""
    # A step earlier than the second after it is at or before it.
    times = croniter(cron, until.replace(microsecond=0) + timedelta(seconds=1))
    found: list[datetime] = []
    while len(found) <= most:
        moment: datetime = times.get_prev(datetime)
        found.append(moment)
        if moment <= since:
            break
    return found[::-1]


def _by_duration(duration: timedelta, low: datetime, until: datetime, runs: Sequence[datetime]) -> list[datetime]:
    """Return the times up to ``until``, with one at or before ``low``: back from the first run, on from each run."""
    if not runs:
        return []
    found = _grid(runs[0], duration, low, min(runs[0] - _INSTANT, until))
    for run, following in zip_longest(runs, runs[1:]):
        high = until if following is None else min(following - _INSTANT, until)
        found += _grid(run, duration, max(run, low), high)
    return found


def _grid(anchor: datetime, step: timedelta, low: datetime, high: datetime) -> list[datetime]:
    """Return the times that lie a number of steps from ``anchor``, up to ``high``, with one at or before ``low``."""
    numbers = range((low - anchor) // step, (high - anchor) // step + 1)
    return [anchor + step * number for number in numbers]
