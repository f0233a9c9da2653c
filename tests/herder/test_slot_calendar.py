"""The calendar of an hourly export, from the metadata database and Kafka."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from connect_core.api.records import TopicPartition
from connect_core.errors import BadRequestError, NotFoundError, RetriableError
from connect_core.herder import connectors, lifecycle
from connect_core.herder.context import Herder
from connect_core.herder.slot_calendar import SlotCalendar, SlotPeriod, get_calendar
from connect_core.herder.topic_ends import TopicEnds
from connect_core.interval.values import PartitionEnds
from connect_core.store import requests
from connect_core.store.requests import Asked
from tests.herder.exports import world_of
from tests.herder.harness import Harness
from tests.herder.hours import FULL, HOUR, HOURLY, HourlyExport

pytestmark = pytest.mark.slow

PART = TopicPartition("t", 0)
NOW = FULL + timedelta(minutes=20)


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> HourlyExport:
    """An export of three hours, up to the one before the last full hour."""
    made = HourlyExport(world_of(harness, tmp_path)).create()
    for hours in (3, 2, 1):
        made.live(FULL - hours * HOUR)
    return made


def calendar(export: HourlyExport, herder: Herder | None = None, hours: int = 4) -> SlotCalendar:
    return get_calendar(herder or export.harness.herder, export.name, SlotPeriod(FULL - hours * HOUR), NOW)


def states(found: SlotCalendar) -> list[str]:
    return [slot.state.value for slot in found.slots]


@dataclass
class Log:
    """A partition of Kafka as it is asked: the times of its records, by offset."""

    times: list[datetime]
    is_silent: bool = False

    def partition_ends(
        self, topics: Collection[str], regex: str | None = None
    ) -> Mapping[TopicPartition, PartitionEnds]:
        return {PART: PartitionEnds("id-t", 0, len(self.times), len(self.times))}

    def first_offsets(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        if self.is_silent:
            raise RetriableError("the brokers do not respond")
        found = [at for at, moment in enumerate(self.times) if moment.timestamp() * 1000 >= millis]
        return {part: next(iter(found), -1) for part in partitions}


def test_seven_days_by_default(export: HourlyExport) -> None:
    found = get_calendar(export.harness.herder, export.name, now=NOW)
    assert len(found.slots) == 7 * 24
    assert (found.slots[-1].end, found.reached, found.reason) == (FULL, FULL - HOUR, None)
    assert states(found)[-3:] == ["finished", "finished", "missing"]
    assert set(states(found)[:-1]) == {"finished"}


def test_unfinished_backfilled_and_refused(export: HourlyExport) -> None:
    export.backfill(FULL - 3 * HOUR)
    export.backfill(FULL - 4 * HOUR, refusal="names differ")
    export.live(FULL, late=2)
    found = calendar(export)
    assert states(found) == ["finished", "finished", "finished", "late"]
    assert [slot.exported_again_at is not None for slot in found.slots] == [False, True, False, False]
    assert "names differ" in (found.slots[0].reason or "")
    export.begin(FULL, 5, FULL - HOUR)
    assert states(calendar(export))[-1] == "running"


def test_periods(export: HourlyExport) -> None:
    herder, name = export.harness.herder, export.name
    with pytest.raises(BadRequestError, match="31 days"):
        get_calendar(herder, name, SlotPeriod(NOW - timedelta(days=32), NOW))
    with pytest.raises(BadRequestError, match="is not before"):
        get_calendar(herder, name, SlotPeriod(NOW, NOW))
    with pytest.raises(NotFoundError):
        get_calendar(herder, "nobody")
    ahead = get_calendar(herder, name, SlotPeriod(NOW - HOUR, NOW + 9 * HOUR), NOW)
    assert [slot.end for slot in ahead.slots] == [FULL]


def test_connectors_without_slots(export: HourlyExport) -> None:
    plain = HourlyExport(export.harness, "plain", {**HOURLY, "interval.bound": "latest"}).create()
    found = calendar(plain)
    assert (found.slots, found.reason) == ([], "Only a sink with interval.bound=data_interval_end has time slots")


def test_durations_and_assets_have_the_slots_of_their_runs(export: HourlyExport) -> None:
    for schedule in ("PT1H", "asset:orders"):
        made = HourlyExport(export.harness, schedule, {**HOURLY, "schedule": schedule}).create()
        assert calendar(made).slots == []
        assert calendar(made).reason is not None
        for hours in (3.5, 2.5):
            made.live(FULL - hours * HOUR)
        found = calendar(made)
        ends = {"PT1H": [3.5, 2.5, 1.5, 0.5], "asset:orders": [2.5]}[schedule]
        assert [slot.end for slot in found.slots] == [FULL - hours * HOUR for hours in ends]
        assert (found.obstacle is None) is (schedule == "PT1H")


def test_the_connectors_time_zone(export: HourlyExport) -> None:
    for given, shown in (("+05:30", "+05:30"), ("America/New_York", "America/New_York")):
        made = HourlyExport(export.harness, given, {**HOURLY, "timezone": given}).create()
        found = calendar(made)
        assert found.timezone == shown
        assert all(datetime.fromisoformat(slot.local_start) == slot.start for slot in found.slots)
    assert calendar(export).timezone == "UTC"
    assert calendar(export).slots[0].local_start.endswith("+00:00")


def test_hours_without_a_record_are_not_missing(export: HourlyExport) -> None:
    early = [FULL - 9 * HOUR] * export.position

    def seen(*times: datetime, is_silent: bool = False) -> str:
        ends = TopicEnds(Log([*early, *times], is_silent))
        return states(calendar(export, replace(export.harness.herder, ends=ends)))[-1]

    assert seen() == "finished"
    assert seen(FULL + timedelta(minutes=3)) == "finished"
    assert seen(FULL - timedelta(minutes=3), FULL + timedelta(minutes=3)) == "missing"
    assert seen(FULL - timedelta(minutes=3)) == "missing"
    assert seen(FULL + timedelta(minutes=3), is_silent=True) == "missing"


def test_before_the_first_interval(harness: Harness, tmp_path: Path) -> None:
    latest = {**HOURLY, "consumer.override.auto.offset.reset": "latest"}
    made = HourlyExport(world_of(harness, tmp_path), config=latest).create()
    made.live(FULL - HOUR)
    made.live(FULL)
    assert states(calendar(made)) == ["missing", "missing", "finished", "finished"]
    assert all(slot.can_export_again for slot in calendar(made).slots)


def test_another_life_of_the_name(export: HourlyExport) -> None:
    connectors.delete(export.harness.herder, export.name)
    export.create()
    assert set(states(calendar(export))) == {"missing"}
    export.live(FULL)
    assert states(calendar(export)) == ["unknown", "unknown", "unknown", "finished"]


def test_obstacles(export: HourlyExport) -> None:
    herder = export.harness.herder
    assert calendar(export).obstacle is None
    lifecycle.pause(herder, export.name)
    assert calendar(export).obstacle == "Connector hourly is paused: resume it first"
    lifecycle.resume(herder, export.name)
    with herder.database.write() as connection:
        times = {"first": FULL.isoformat(), "last": FULL.isoformat()}
        number = requests.add(connection, Asked("backfill", export.name, times, "jo"))
    assert "Airflow has not been told yet" in (calendar(export).obstacle or "")
    with herder.database.write() as connection:
        requests.finish(connection, number, "Airflow refuses")
    found = calendar(export)
    assert found.obstacle is None
    assert found.request is not None
    assert (found.request.first, found.request.actor, found.request.error) == (FULL, "jo", "Airflow refuses")
    export.begin(FULL, 5)
    assert calendar(export).obstacle == "Interval 4 of the live export is not finished: a backfill waits for its end"
    assert states(calendar(export))[-1] == "running"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00"])
def test_times_at_the_ends_of_the_calendar_are_answered(export: HourlyExport, text: str) -> None:
    period = SlotPeriod(until=datetime.fromisoformat(text))
    with pytest.raises(BadRequestError):
        get_calendar(export.harness.herder, export.name, period, NOW)
