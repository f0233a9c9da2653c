"""Readings of the setting ``schedule`` that need no scheduler: durations, and times by a cron expression in UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from croniter import CroniterBadDateError, croniter  # type: ignore[import-untyped]

__all__ = ["CRON_PRESETS", "cron_of", "duration_of", "has_times", "time_before"]

CRON_PRESETS: Mapping[str, str] = MappingProxyType(
    {
        "@hourly": "0 * * * *",
        "@daily": "0 0 * * *",
        "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *",
        "@quarterly": "0 0 1 */3 *",
        "@yearly": "0 0 1 1 *",
    }
)
"""Airflow's names of cron expressions."""

_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?", re.IGNORECASE
)


def duration_of(text: str) -> timedelta | None:
    """Return a duration such as ``PT5M``, or of seconds; ``None`` if it is none, or has no length."""
    if text.isdigit():
        return timedelta(seconds=int(text)) or None
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    return timedelta(**{unit: int(number) for unit, number in match.groupdict().items() if number}) or None


def cron_of(text: str) -> str | None:
    """Return the cron expression of a schedule; ``None`` if it has none."""
    expression = CRON_PRESETS.get(text, text)
    return expression if not expression.startswith("@") and croniter.is_valid(expression) else None


def has_times(text: str) -> bool:
    """Return whether a schedule ever starts a run: no cron expression of 30 February, no duration of 0 s."""
    text = " ".join(text.split())
    if text.startswith(("@", "asset:")):
        return True
    now, cron = datetime.now(UTC), cron_of(text)
    try:
        if cron is not None:
            croniter(cron, now).get_next(datetime)
            return True
        duration = duration_of(text)
        return duration is not None and now + duration > now
    except (CroniterBadDateError, OverflowError):
        return False


def time_before(cron: str, moment: datetime) -> datetime:
    """Return the last time of a cron expression before a moment, by the clock of the moment's zone."""
    before: datetime = croniter(cron, moment).get_prev(datetime)
    return before
