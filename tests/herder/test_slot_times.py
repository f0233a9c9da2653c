"""Which time slots a schedule has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from connect_core.herder.slot_times import SlotTime, slot_times

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def ends(schedule: str, since: datetime, until: datetime, *runs: datetime) -> list[datetime]:
    """Return the ends of the slots, which lie end to end."""
    found = slot_times(schedule, since, until, sorted(runs))
    assert all(one.end == following.start for one, following in pairwise(found))
    return [one.end for one in found]


def test_hours_of_a_cron_expression() -> None:
    found = slot_times("@hourly", NOON - 2 * HOUR, NOON)
    assert found == [SlotTime(NOON - 2 * HOUR, NOON - HOUR), SlotTime(NOON - HOUR, NOON)]


def test_only_slots_that_have_ended_within_the_period() -> None:
    minute = timedelta(minutes=1)
    assert ends("0 * * * *", NOON - HOUR - minute, NOON + minute) == [NOON - HOUR, NOON]
    assert ends("0 * * * *", NOON, NOON + HOUR - timedelta(microseconds=1)) == []


def test_cron_expressions_are_in_utc_whatever_clocks_do() -> None:
    """In the night of 2026-03-29 a day of Berlin has 23 hours, one of UTC has 24."""
    assert len(ends("0 * * * *", datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 3, 30, tzinfo=UTC))) == 24
    days = ends("30 1 * * *", datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC))
    assert [(day.day, day.hour, day.minute) for day in days] == [(28, 1, 30), (29, 1, 30), (30, 1, 30)]


def test_uneven_cron_expression() -> None:
    monday = datetime(2026, 3, 30, 9, tzinfo=UTC)
    (slot,) = slot_times("0 9 * * 1-5", monday - timedelta(days=2), monday)
    assert slot == SlotTime(datetime(2026, 3, 27, 9, tzinfo=UTC), monday)


def test_durations_are_counted_from_run_to_run() -> None:
    """Airflow begins a duration when it starts a DAG, and again after an outage: at any minute."""
    first, after_outage = NOON - timedelta(hours=5, minutes=50), NOON - timedelta(hours=2, minutes=3)
    found = ends("PT1H", NOON - 7 * HOUR, NOON, first, after_outage)
    counted = [first - HOUR, first, first + HOUR, first + 2 * HOUR, first + 3 * HOUR]
    assert found == [*counted, after_outage, after_outage + HOUR, after_outage + 2 * HOUR]


def test_durations_before_between_and_after_distant_runs() -> None:
    day = timedelta(days=1)
    assert ends("3600", NOON - 2 * HOUR, NOON, NOON - 9 * day) == [NOON - HOUR, NOON]
    assert ends("3600", NOON - 2 * HOUR, NOON, NOON + 9 * day) == [NOON - HOUR, NOON]
    assert ends("3600", NOON - 2 * HOUR, NOON, NOON - 9 * day, NOON + 9 * day) == [NOON - HOUR, NOON]


def test_a_duration_without_a_run_has_no_slots_yet() -> None:
    assert ends("PT1H", NOON - 7 * HOUR, NOON) == []


def test_runs_by_assets_are_the_slots() -> None:
    runs = NOON - 4 * HOUR, NOON - 3 * HOUR, NOON - timedelta(minutes=10), NOON + HOUR
    assert ends("asset:orders", NOON - 3.5 * HOUR, NOON, *runs) == list(runs[1:3])


@pytest.mark.parametrize("schedule", ["* * * * *", "PT1M", "1"])
def test_the_newest_of_many(schedule: str) -> None:
    found = slot_times(schedule, NOON - timedelta(days=31), NOON, [NOON - timedelta(days=20)], most=10)
    assert len(found) == 10
    assert found[-1].end == NOON
