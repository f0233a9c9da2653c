from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import PartitionRange, TopicPartition
from connect_core.connectors.filesystem.sink.committer import FileSystemCommitter
from connect_core.errors import ConfigError, ConnectError, RetriableError, StaleEpochError
from tests.connectors.contexts import interval_of
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export, numbered

pytestmark = pytest.mark.slow


def test_partitions_without_records_move_on(export: Export) -> None:
    interval = interval_of(PartitionRange("t", 0, 3, 9))
    staged = export.stage(interval)
    committer = export.committer()
    marker = committer.commit(interval.key, staged)
    committer.publish(interval.key, marker)
    assert marker.positions == {("t", 0): 9}
    assert export.files() == []


def test_commit_and_publish_twice_change_nothing(export: Export) -> None:
    marker = export.run(numbered([{"a": 1}]))
    late = export.interval(numbered([{"a": 1}]), attempt="1-late")
    staged = export.stage(late, numbered([{"a": 2}]))
    committer = export.committer()
    assert committer.commit(late.key, staged) == marker
    committer.publish(late.key, marker)
    committer.publish(late.key, marker)
    assert export.rows() == [{"a": 1}]


@pytest.mark.parametrize("steps", range(5))
def test_recovery_after_a_crash_while_publishing(export: Export, steps: Any) -> None:
    records = [*numbered([{"a": 1}]), *numbered([{"b": 2}], partition=1), *numbered([{"c": 3}], "u")]
    interval = export.interval(records)
    healthy = export.committer()
    dying = CrashingCommitter("copy", healthy.layout, healthy.format)
    dying.left = steps
    marker = dying.commit(interval.key, export.stage(interval, records))
    with pytest.raises(Crash):
        dying.publish(interval.key, marker)
    assert not (steps < 4 and (export.out / "u" / "_SUCCESS").exists())
    committer = export.committer(2)
    found = committer.read_marker(interval.key)
    assert found == marker
    committer.publish(interval.key, found)
    assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": 2}]
    assert export.rows("u") == [{"c": 3}]
    assert (export.out / "t" / "_SUCCESS").exists()
    assert (export.out / "u" / "_SUCCESS").exists()


def test_a_crash_before_the_manifest_leaves_no_data(export: Export) -> None:
    records = numbered([{"a": 1}])
    export.stage(export.interval(records), records)
    assert export.committer(2).read_marker(interval_of().key) is None
    assert export.files() == []
    again = export.interval(records, attempt="2-b")
    committer = export.committer(2)
    key = replace(again.key, epoch=2)
    committer.publish(key, committer.commit(key, export.stage(again, records)))
    assert export.rows() == [{"a": 1}]


def test_files_that_are_on_another_machine_are_not_committed(export: Export, tmp_path: Path) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    parts = export.stage(interval, records)
    (file,) = export.out.rglob("*.parquet")
    file.rename(tmp_path / "elsewhere")
    committer = export.committer()
    with pytest.raises(RetriableError, match=r"for configuration path: .*must have the same folder"):
        committer.commit(interval.key, parts)
    assert committer.read_marker(interval.key) is None


def test_an_older_driver_cannot_commit(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    old = export.committer(1)
    staged = export.stage(interval, records)
    export.committer(2)
    with pytest.raises(StaleEpochError) as raised:
        old.commit(interval.key, staged)
    assert raised.value.epoch == 2
    with pytest.raises(StaleEpochError):
        old.fence(1)
    assert old.read_marker(interval.key) is None


def test_an_older_driver_cannot_publish_over_a_newer_one(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    old = export.committer(1)
    marker = old.commit(interval.key, export.stage(interval, records))
    export.committer(2)
    with pytest.raises(StaleEpochError):
        old.publish(interval.key, marker)
    assert export.files() == []


class SleepingCommitter(FileSystemCommitter):
    """Sleeps before it marks, or takes the mark away, while ``meanwhile`` happens."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)
    asleep = ""

    def _open(self, folder: str) -> None:
        self._sleep("open")
        super()._open(folder)

    def _close(self, folder: str) -> None:
        self._sleep("close")
        super()._close(folder)

    def _sleep(self, where: str) -> None:
        if where == self.asleep:
            self.meanwhile()


def sleeper(export: Export, where: str, meanwhile: Callable[[], object]) -> SleepingCommitter:
    healthy = export.committer()
    found = SleepingCommitter("copy", healthy.layout, healthy.format)
    found.meanwhile, found.asleep = meanwhile, where
    found.fence(1)
    return found


def test_a_driver_that_slept_marks_no_part_of_a_later_interval(export: Export) -> None:
    records, later = numbered([{"a": 1}]), [*numbered([{"a": 2}], "t", 1), *numbered([{"a": 3}], "t", 2)]

    def meanwhile() -> None:
        newer = export.committer(2)
        newer.publish(key, marker)
        interval = export.interval(later, sequence=2)
        dying = CrashingCommitter("copy", newer.layout, newer.format)
        dying.left = 1
        with pytest.raises(Crash):
            dying.publish(interval.key, newer.commit(replace(interval.key, epoch=2), export.stage(interval, later)))

    key = export.interval(records).key
    old = sleeper(export, "close", meanwhile)
    marker = old.commit(key, export.stage(export.interval(records), records))
    with pytest.raises(StaleEpochError):
        old.publish(key, marker)
    assert export.rows() == [{"a": 1}, {"a": 2}]
    assert not (export.out / "t" / "_SUCCESS").exists()


def test_a_driver_that_slept_takes_no_mark_away(export: Export) -> None:
    records = numbered([{"a": 1}])
    key = export.interval(records).key
    old = sleeper(export, "open", lambda: export.committer(2).publish(key, marker))
    marker = old.commit(key, export.stage(export.interval(records), records))
    with pytest.raises(StaleEpochError):
        old.publish(key, marker)
    assert (export.out / "t" / "_SUCCESS").exists()


def test_an_abandoned_interval_never_commits(export: Export) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    aborted = committer.abandon(interval.key, {TopicPartition("t", 0): 0})
    marker = committer.commit(interval.key, export.stage(interval, records))
    assert marker == aborted
    assert marker.aborted
    committer.publish(interval.key, marker)
    assert export.files() == []


def test_abandoning_comes_too_late_after_the_manifest(export: Export) -> None:
    marker = export.run(numbered([{"a": 1}]))
    assert export.committer().abandon(interval_of().key, None) == marker


def test_a_range_exported_again_replaces_its_file(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    export.run(numbered([{"a": 2}]), sequence=2)
    assert export.rows() == [{"a": 2}]


def test_released_topics_are_free(tmp_path: Path) -> None:
    copy, other = Export(tmp_path), Export(tmp_path, "other")
    copy.run(numbered([{"a": 1}]))
    other.run(numbered([{"a": 1}], "u"))
    copy.committer().release()
    other.run(numbered([{"a": 1}]), sequence=2)
    with pytest.raises(ConfigError, match="connector other writes there"):
        copy.run(numbered([{"a": 1}], "u"), sequence=2)


def test_another_connector_may_not_write_the_same_topic(tmp_path: Path) -> None:
    Export(tmp_path).run(numbered([{"a": 1}]))
    other = Export(tmp_path, "other")
    other.run(numbered([{"a": 1}], "u"))
    with pytest.raises(ConfigError, match="connector copy writes there"):
        other.run(numbered([{"a": 1}]), sequence=2)


@pytest.mark.parametrize("damage", ["change", "remove"])
def test_damaged_staged_files_are_not_published(export: Export, damage: str) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    marker = committer.commit(interval.key, export.stage(interval, records))
    (place,) = (export.out / "_connect" / "+tmp").rglob("*.parquet")
    place.write_bytes(b"else") if damage == "change" else place.unlink()
    with pytest.raises(ConnectError, match="the interval's manifest names it"):
        committer.publish(interval.key, marker)
    assert export.files() == []


def test_sweep_removes_finished_staging_only(export: Export) -> None:
    export.run(numbered([{"a": 1}]))
    records = numbered([{"a": 2}])
    unfinished = export.interval(records, 2)
    export.stage(unfinished, records)
    committer = export.committer()
    committer.sweep([])
    assert [place.name for place in (export.out / "_connect" / "+tmp" / "copy").iterdir()] == ["1-2"]
    committer.abandon(unfinished.key, None)
    committer.sweep([unfinished.key])
    assert [place.name for place in (export.out / "_connect" / "+tmp" / "copy").iterdir()] == ["1-2"]
    committer.sweep([])
    assert not list((export.out / "_connect" / "+tmp" / "copy").iterdir())
    committer.close()


def test_a_manifest_is_published_where_it_was_committed(tmp_path: Path) -> None:
    """Settings that were changed in between are those of later intervals."""
    export = Export(tmp_path, **{"topics.dir": "before"})
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    marker = export.committer().commit(interval.key, export.stage(interval, records))
    export.config = {**export.config, "topics.dir": "after", "format": "json"}
    export.committer(2).publish(interval.key, marker)
    found = [place.relative_to(export.out).as_posix() for place in export.out.glob("[!_]*/**/*") if place.is_file()]
    assert sorted(found) == ["before/t/_SUCCESS", f"before/t/partition=0/t+0+{0:020}+{1:020}.parquet"]


def test_a_manifest_of_an_earlier_release_is_published(tmp_path: Path) -> None:
    export = Export(tmp_path)
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    marker = committer.commit(interval.key, export.stage(interval, records))
    assert marker.detail is not None
    for file in marker.detail["files"]:
        assert file.keys() == {"staged", "name", "size", "sha256", "rows", "topic", "home"}
        del file["home"]
    committer.publish(interval.key, marker)
    assert (export.out / "t" / "_SUCCESS").exists()
    assert export.rows() == [{"a": 1}]
