"""Clocks of a time zone and points in time, beside Python's own zones, far past and future included."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from connect_core.connectors.jdbc.source.driver_values import in_zone
from connect_core.connectors.jdbc.wall_clock import from_wall_clock, to_wall_clock

EPOCH = datetime(1970, 1, 1)
MOMENTS = st.lists(st.none() | st.datetimes(datetime(1800, 1, 1), datetime(9990, 1, 1)), min_size=1, max_size=5)
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])


def micros(moments: list[datetime | None]) -> pa.Array:
    return pa.array(
        [None if one is None else (one - EPOCH) // timedelta(microseconds=1) for one in moments], pa.int64()
    )


@settings(max_examples=50, deadline=None)
@given(moments=MOMENTS, zone=ZONES.map(ZoneInfo))
def test_clocks_are_read_as_python_reads_them(moments: list[datetime | None], zone: ZoneInfo) -> None:
    wanted = [None if one is None else in_zone(one, zone).replace(tzinfo=None) for one in moments]
    assert from_wall_clock(micros(moments), zone).to_pylist() == micros(wanted).to_pylist()


@settings(max_examples=50, deadline=None)
@given(moments=MOMENTS, zone=ZONES.map(ZoneInfo))
def test_clocks_show_what_python_shows(moments: list[datetime | None], zone: ZoneInfo) -> None:
    shown = [None if one is None else one.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) for one in moments]
    assert to_wall_clock(micros(moments), zone).to_pylist() == micros(shown).to_pylist()
