"""Folders by time are marked once the interval that ends by their time is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connect_core.api import PartitionRange, SinkRecord
from connect_core.api.backfill import Backfill
from connect_core.api.sink import IntervalContext
from connect_core.connectors.control_store import LocalControlStore
from connect_core.connectors.filesystem.partitioners import TimeBasedPartitioner
from connect_core.connectors.filesystem.partitioners.hourly import HourlyPartitioner
from connect_core.connectors.filesystem.sink import finished
from tests.connectors.contexts import interval_of
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export

TIMED = {"timestamp.extractor": "Record", "format": "json"}
DAY = datetime(2026, 3, 1, tzinfo=UTC)


def millis(hours: float) -> int:
    return int((DAY.timestamp() + hours * 3600) * 1000)


class TimedExport(Export):
    """An export whose intervals end by a time."""

    last = 0

    def timed(
        self, sequence: int, bound: float | None, hours: Sequence[float]
    ) -> tuple[IntervalContext, list[SinkRecord]]:
        """Return an interval that ends by an hour, with records of some."""
        start, self.last = self.last, self.last + len(hours)
        records = [
            SinkRecord("t", 0, value={"at": hour}, kafka_offset=start + place, timestamp=millis(hour))
            for place, hour in enumerate(hours)
        ]
        interval = interval_of(PartitionRange("t", 0, start, self.last, "id-t"), sequence=sequence)
        return replace(interval, bound_time=None if bound is None else millis(bound)), records

    def export(self, sequence: int, bound: float | None, *hours: float) -> None:
        """Carry out an interval."""
        interval, records = self.timed(sequence, bound, hours)
        committer = self.committer()
        marker = committer.commit(interval.key, self.stage(interval, records))
        committer.publish(interval.key, marker)

    def marked(self) -> list[str]:
        """Return the folders that are marked, below the topic's."""
        home = self.out / "t"
        return sorted(str(place.parent.relative_to(home)) for place in home.rglob("_SUCCESS") if place.parent != home)

    def count(self, folder: str) -> int:
        return len(list((self.out / "t" / folder).glob("*.json")))


def hour(number: int) -> str:
    return f"year=2026/month=03/day=01/hour={number:02d}"


def test_hour_is_marked_by_the_interval_that_ends_by_it(tmp_path: Path) -> None:
    export = TimedExport(tmp_path, partitioner="hourly", **TIMED)
    export.export(1, 1, 0.1, 0.9)
    assert export.marked() == [hour(0)]
    export.export(2, 2, 1.5, 0.95)
    assert export.marked() == [hour(0), hour(1)]
    assert export.count(hour(0)) == 2, "a late record is in an additional file"


def test_hour_that_is_not_over_is_marked_later_without_files_of_its_own(tmp_path: Path) -> None:
    export = TimedExport(tmp_path, partitioner="hourly", timezone="+00:30", **TIMED)
    export.export(1, 1, 0.1, 0.9)
    assert export.marked() == [hour(0)], "it ends at half past midnight UTC"
    export.committer().abandon(interval_of(sequence=2).key, None)
    export.export(3, 2, 1.9)
    assert export.marked() == [hour(0), hour(1)]


def test_hour_that_is_open_stays_so_behind_any_number_of_backfills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "_LOOK_BACK", 3)
    export = TimedExport(tmp_path, partitioner="hourly", **TIMED)
    export.export(1, 0.5, 0.1)
    for sequence in range(2, 7):
        export.last = 0
        interval, records = export.timed(sequence, 0.5, [0.1])
        committer, backfill = export.committer(), Backfill(millis(0), millis(0.5), 1, is_last=True)
        committer.publish(interval.key, committer.replace(interval.key, export.stage(interval, records), backfill))
    assert export.marked() == []
    export.export(7, 2, 1.5)
    assert export.marked() == [hour(0), hour(1)]


def test_folders_left_open_are_known_without_listing_all_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = TimedExport(tmp_path, partitioner="hourly", **TIMED)
    export.export(1, 0.5, 0.1)
    listed: list[Path] = []

    def names(store: LocalControlStore, folder: Path) -> list[str]:
        listed.append(folder)
        return sorted(place.name for place in folder.iterdir()) if folder.is_dir() else []

    monkeypatch.setattr(LocalControlStore, "names", names)
    export.export(2, 2, 1.5)
    assert export.marked() == [hour(0), hour(1)]
    assert {folder.name for folder in listed} <= {"epochs"}, "the others grow with each interval"


def test_day_is_marked_at_its_end(tmp_path: Path) -> None:
    export = TimedExport(tmp_path, partitioner="daily", **TIMED)
    export.export(1, 23, 1, 22)
    assert export.marked() == []
    export.export(2, 25, 24.5)
    assert export.marked() == ["year=2026/month=03/day=01"]


def test_interval_that_ends_by_no_time_finishes_no_hour_and_unmarks_one_it_adds_to(tmp_path: Path) -> None:
    export = TimedExport(tmp_path, partitioner="hourly", **TIMED)
    export.export(1, None, 0.1)
    assert export.marked() == []
    assert (export.out / "t" / "_SUCCESS").exists()
    export.export(2, 2, 0.2, 1)
    assert export.marked() == [hour(0), hour(1)]
    export.export(3, None, 0.3)
    assert export.marked() == [hour(1)]


@pytest.mark.parametrize("steps", range(5))
def test_hour_is_unmarked_while_late_files_come(tmp_path: Path, steps: int) -> None:
    export = TimedExport(tmp_path, partitioner="hourly", **TIMED)
    export.export(1, 1, 0.1)
    interval, records = export.timed(2, 2, [1.1, 0.5])
    healthy = export.committer()
    dying = CrashingCommitter("copy", healthy.layout, healthy.format)
    dying.left = steps
    marker = dying.commit(interval.key, export.stage(interval, records))
    with pytest.raises(Crash):
        dying.publish(interval.key, marker)
    whole = {hour(0): 2, hour(1): 1}
    assert all(export.count(folder) == whole[folder] for folder in export.marked()), "a mark says that all is there"
    export.committer(2).publish(interval.key, marker)
    assert export.marked() == [hour(0), hour(1)]


@pytest.mark.parametrize(
    ("settings", "folder", "end"),
    [
        ({"timezone": "Asia/Kathmandu"}, "year=2026/month=03/day=01/hour=05", 0.25),
        ({"timezone": "America/St_Johns"}, "year=2026/month=02/day=28/hour=20", 0.5),
    ],
)
def test_hours_of_a_zone_end_where_they_do_there(settings: dict[str, str], folder: str, end: float) -> None:
    partitioner = HourlyPartitioner()
    partitioner.configure({**settings, "timestamp.extractor": "Record"})
    assert partitioner._folder(millis(0)) == folder
    assert partitioner.end_of(folder) == millis(end)
    assert partitioner.end_of("year=1999") is None


def test_folder_of_several_durations_ends_with_the_last() -> None:
    partitioner = TimeBasedPartitioner()
    day = {"path.format": "YYYY-MM-dd", "partition.duration.ms": "600000"}
    partitioner.configure(day)
    assert partitioner.end_of(partitioner._folder(millis(3))) == millis(24)
    partitioner.configure({**day, "path.format": "'all'"})
    assert partitioner.end_of(partitioner._folder(millis(3))) is None


def test_hour_that_is_there_twice_or_not_is_never_finished_too_early() -> None:
    partitioner = HourlyPartitioner()
    partitioner.configure({"timezone": "Europe/Berlin"})
    for change in (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
        first = int(change.timestamp() * 1000) - 2 * 3_600_000
        for minute in range(0, 6 * 60, 10):
            at = first + minute * 60_000
            end = partitioner.end_of(partitioner._folder(at))
            assert end is not None
            assert at < end <= at + 2 * 3_600_000
