"""Instants and Python's own dates."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Instant


@given(st.datetimes(timezones=st.just(UTC)))
def test_datetime_survives_to_the_millisecond(value: datetime) -> None:
    assert Instant.of(value).to_datetime() == value - timedelta(microseconds=value.microsecond % 1000)


def test_instant_of_days_times_and_zones() -> None:
    assert Instant.of(date(1970, 1, 2)) == Instant(86_400_000)
    assert Instant.of(time(1, 0)) == Instant(3_600_000)
    assert Instant.of(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == Instant(0)


def test_instants_are_ordered_hashable_and_pickle() -> None:
    assert sorted([Instant(2), Instant(-1)]) == [Instant(-1), Instant(2)]
    assert {Instant(1): "a"}[pickle.loads(pickle.dumps(Instant(1)))] == "a"


def test_instant_may_be_beyond_python() -> None:
    with pytest.raises(OverflowError):
        Instant(1 << 62).to_datetime()
