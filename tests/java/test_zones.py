"""Time zones by the names that settings have."""

from datetime import datetime, timedelta

import pytest

from connect_core.java.zones import zone_of


@pytest.mark.parametrize(
    ("name", "minutes"),
    [("UTC", 0), ("Z", 0), ("Europe/Berlin", 60), ("+02:00", 120), ("GMT-3", -180), ("UTC+0530", 330)],
)
def test_shift_in_winter(name: str, minutes: int) -> None:
    assert datetime(2026, 1, 1, tzinfo=zone_of(name)).utcoffset() == timedelta(minutes=minutes)


@pytest.mark.parametrize("name", ["", "Mars/Base", "+99:00", "../etc/passwd"])
def test_no_such_zone(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        zone_of(name)
