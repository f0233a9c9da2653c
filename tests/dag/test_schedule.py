"""A connector's schedule as Airflow's."""

from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import Asset, AssetAll, AssetAny

from connect_core.dag.schedule import parse_schedule
from connect_core.errors import ConfigError


@pytest.mark.parametrize("text", ["@continuous", "@daily", "*/5 * * * *", "0 3 * * MON-FRI"])
def test_schedule_of_preset_or_cron_is_kept(text: str) -> None:
    assert parse_schedule(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT5M", timedelta(minutes=5)),
        ("P1DT2H3S", timedelta(days=1, hours=2, seconds=3)),
        ("300", timedelta(minutes=5)),
    ],
)
def test_schedule_of_duration_is_a_timedelta(text: str, expected: timedelta) -> None:
    assert parse_schedule(text) == expected


@pytest.mark.parametrize("text", ["", "none", "@none"])
def test_schedule_none_runs_by_hand_only(text: str) -> None:
    assert parse_schedule(text) is None


def test_schedule_of_assets_waits_for_all_or_any() -> None:
    one, other = Asset(uri="kafka://cluster/a"), Asset(uri="kafka://cluster/b")
    assert parse_schedule("asset:kafka://cluster/a") == one
    for text, kind in (
        ("asset:kafka://cluster/a  kafka://cluster/b", AssetAll),
        ("asset:kafka://cluster/a | kafka://cluster/b", AssetAny),
    ):
        found: Any = parse_schedule(text)
        # Airflow 3.1 compares them by identity.
        assert (type(found), tuple(found.objects)) == (kind, (one, other))


def test_schedule_of_asset_name_refers_to_it() -> None:
    assert parse_schedule("asset:orders") == Asset.ref(name="orders")


@pytest.mark.parametrize("text", ["junk", "99 * * * *", "PT", "P", "0", "asset:", "asset:airflow://x", "@yesterday"])
def test_schedule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="schedule"):
        parse_schedule(text)
