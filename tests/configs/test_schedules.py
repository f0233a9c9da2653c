"""What the setting ``schedule`` says without a scheduler."""

from datetime import UTC, datetime, timedelta

import pytest

from connect_core.configs.schedules import cron_of, duration_of, time_before


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("PT5M", 300), ("P1DT2H", 93600), ("90", 90), ("0", None), ("P", None), ("PT", None), ("0 * * * *", None)],
)
def test_durations(text: str, seconds: int | None) -> None:
    assert duration_of(text) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("@hourly", "0 * * * *"), ("@quarterly", "0 0 1 */3 *"), ("15 3 * * 1-5", "15 3 * * 1-5")],
)
def test_cron_expressions(text: str, expected: str) -> None:
    assert cron_of(text) == expected


@pytest.mark.parametrize("text", ["@once", "@continuous", "none", "asset:a", "61 * * * *", "PT1H"])
def test_schedules_without_one(text: str) -> None:
    assert cron_of(text) is None


def test_time_before() -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    assert time_before("0 * * * *", moment) == moment - timedelta(hours=1)
    assert time_before("0 0 1 */3 *", moment) == datetime(2026, 1, 1, tzinfo=UTC)
