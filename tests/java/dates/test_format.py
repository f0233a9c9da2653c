"""Java's SimpleDateFormat; every row was seen on JDK 17."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Instant
from connect_core.errors import IllegalArgumentError
from connect_core.java.dates.format import SimpleDateFormat

NOON = 1_483_425_001_864
JULIAN = -99_999_999_999_999


@pytest.mark.parametrize(
    ("pattern", "recent", "old"),
    [
        ("''yyyy''", "'2017'", "'1200'"),
        ("'a''b'yyyy", "a'b2017", "a'b1200"),
        ("''''yyyy", "''2017", "''1200"),
        ("GGGG G z zzzz", "AD AD UTC Coordinated Universal Time", "BC BC UTC Coordinated Universal Time"),
        ("EEEEE MMMMM LLL", "Tuesday January Jan", "Thursday February Feb"),
        ("yyy yyyyyyyy y yy", "2017 00002017 2017 17", "1200 00001200 1200 00"),
        ("YY", "17", "-99"),
        ("a K h k H", "AM 6 6 6 6", "PM 2 2 14 14"),
        ("X XX XXX Z", "Z Z Z +0000", "Z Z Z +0000"),
        ("", "", ""),
    ],
)
def test_format_writes_as_java(pattern: str, recent: str, old: str) -> None:
    shape = SimpleDateFormat(pattern)
    assert (shape.format(Instant(NOON)), shape.format(Instant(JULIAN))) == (recent, old)


@pytest.mark.parametrize(
    ("pattern", "text", "millis"),
    [
        ("yyyy-MM-dd", "2020-13-02", 1_609_545_600_000),
        ("yyyy-MM-dd", "2020-02-30trailing", 1_583_020_800_000),
        ("yyyy-MM-dd", "0001-01-01", -62_135_769_600_000),
        ("yyyyMMdd", "15 80824", -61_604_582_400_000),
        ("yyyy", "12345", 327_403_382_400_000),
        ("ss.SSS", "1.5", 1_005),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSSSS", "2017-01-03T06:30:01.864123", 1_483_425_865_123),
        ("yyyy-MM-dd HH:mm:ss Z", "2017-01-03 06:30:01 -0530", 1_483_444_801_000),
        ("yyyy-MM-dd HH:mm z", "2017-07-03 00:00 PST", 1_499_068_800_000),
        ("EEE MMM dd HH:mm:ss zzz yyyy", "tue JAN 03 06:30:01 GMT 2017", 1_483_425_001_000),
        ("k", "1970010215091136E/", -3_921_373_929_600_000),
        ("yyyy MM F E", "2017 01 2 Tue", 1_484_006_400_000),
    ],
)
def test_parse_reads_as_java(pattern: str, text: str, millis: int) -> None:
    assert SimpleDateFormat(pattern).parse(text) == Instant(millis)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("yyyy-MM-dd", "not a date"), ("yyyy-MM-dd", ""), ("E", " Thu"), ("yyyyMMdd", "20170"), ("X", "+1")],
)
def test_parse_refuses(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern).parse(text) is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("yyyy'", "Unterminated quote"),
        ("b", "Illegal pattern character 'b'"),
        ("XXXX", "invalid ISO 8601 format: length=4"),
    ],
)
def test_bad_pattern_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(IllegalArgumentError) as caught:
        SimpleDateFormat(pattern)
    assert str(caught.value) == message


@given(
    st.integers(-62_000_000_000_000, 253_402_300_799_999),
    st.sampled_from(["yyyy-MM-dd HH:mm:ss.SSS", "yyyyDDDHHmmssSSS"]),
)
def test_written_dates_read_back(millis: int, pattern: str) -> None:
    shape = SimpleDateFormat(pattern)
    year = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)).year
    if year != 1582:
        assert shape.parse(shape.format(Instant(millis))) == Instant(millis)


def test_two_digit_years_lie_within_80_years_past_and_20_ahead() -> None:
    year = datetime.now(UTC).year
    for near in (year - 79, year, year + 19):
        parsed = SimpleDateFormat("yy").parse(f"{near % 100:02}")
        assert parsed == SimpleDateFormat("yyyy").parse(str(near))
