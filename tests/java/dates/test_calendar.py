"""Days of the Julian and Gregorian calendars."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from connect_core.java.dates.calendar import from_civil, to_civil


@given(st.integers(-10_000_000, 10_000_000))
def test_days_survive_the_calendar(day: int) -> None:
    assert from_civil(*to_civil(day)) == day


@given(st.dates(min_value=date(1582, 10, 15)))
def test_gregorian_days_are_pythons(day: date) -> None:
    number = (day - date(1970, 1, 1)).days
    assert to_civil(number) == (day.year, day.month, day.day)


def test_calendar_changes_in_october_1582() -> None:
    assert to_civil(-141_428) == (1582, 10, 4)
    assert to_civil(-141_427) == (1582, 10, 15)


def test_months_and_days_carry_over() -> None:
    assert from_civil(2020, 13, 2) == from_civil(2021, 1, 2)
    assert from_civil(2020, 2, 30) == from_civil(2020, 3, 1)
