from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import (
    Batch,
    CommitMarker,
    IntervalContext,
    IntervalKey,
    PartitionRange,
    SinkRecord,
    Staged,
    TopicPartition,
)
from connect_core.connectors.file.appender import FileAppender
from connect_core.connectors.file.sink import FileStreamSinkConnector, FileStreamSinkTask
from connect_core.errors import ConfigError, ConnectError, RetriableError, StaleEpochError
from tests.connectors.contexts import DriverSide, SinkSide, interval_of, limits_of

A0 = PartitionRange("a", 0, 0, 3, "id-a")
A1 = PartitionRange("a", 1, 5, 7, "id-a")
B0 = PartitionRange("b", 0, 0, 2, "id-b")
CONFIG = {"file": "out.txt"}


def records(part: PartitionRange, **changes: Any) -> list[SinkRecord]:
    return [
        replace(
            SinkRecord(part.topic, part.partition, value=f"{part.topic}{part.partition}@{offset}", kafka_offset=offset),
            **changes,
        )
        for offset in range(part.start, part.end)
    ]


def started(folder: Path, interval: IntervalContext) -> FileStreamSinkTask:
    task = FileStreamSinkTask()
    task.initialize(SinkSide(limits_of(folder), CONFIG, interval))
    task.start(CONFIG)
    return task


def staged(folder: Path, interval: IntervalContext, batches: bool = False) -> Sequence[Staged]:
    """Run one task over its ranges, whose records come in pieces."""
    task = started(folder, interval)
    for part in interval.ranges:
        for record in records(part):
            if batches:
                assert task.put_batch(Batch.from_records([record]))
            else:
                task.put([record])
    found = task.stage({part.topic_partition: part.end for part in interval.ranges})
    task.stop()
    return found


def committer(folder: Path, connector: str = "copy", epoch: int | None = 1) -> FileAppender:
    made = FileStreamSinkConnector()
    made.initialize(DriverSide(limits_of(folder), connector))
    made.start(CONFIG)
    found = made.committer(CONFIG)
    assert isinstance(found, FileAppender)
    if epoch is not None:
        found.fence(epoch)
    return found


def run(folder: Path, *ranges: PartitionRange, sequence: int = 1) -> CommitMarker:
    interval = interval_of(*ranges, sequence=sequence)
    keeper = committer(folder)
    marker = keeper.commit(interval.key, staged(folder, interval))
    keeper.publish(interval.key, marker)
    return marker


@pytest.mark.parametrize("batches", [False, True])
def test_lines_stand_in_order_of_topic_partition_offset(tmp_path: Path, batches: bool) -> None:
    interval = interval_of(B0, A1, A0)
    keeper = committer(tmp_path)
    assert keeper.read_marker(interval.key) is None
    marker = keeper.commit(interval.key, staged(tmp_path, interval, batches))
    keeper.publish(interval.key, marker)
    assert (tmp_path / "out.txt").read_text() == "a0@0\na0@1\na0@2\na1@5\na1@6\nb0@0\nb0@1\n"
    assert marker.positions == {("a", 0): 3, ("a", 1): 7, ("b", 0): 2}
    assert marker.detail is not None
    assert marker.detail["topic_ids"] == {"a": "id-a", "b": "id-b"}
    assert keeper.read_marker(interval.key) == marker


def test_a_batch_may_hold_several_partitions(tmp_path: Path) -> None:
    task = started(tmp_path, interval_of(A0, A1, B0))
    routed = [replace(record, topic="elsewhere") for record in records(A0)]
    assert task.put_batch(Batch.from_records([*routed, *records(A1), *records(B0)]))
    found = task.stage({part.topic_partition: part.end for part in (A0, A1, B0)})
    keeper = committer(tmp_path)
    key = interval_of().key
    keeper.publish(key, keeper.commit(key, found))
    assert (tmp_path / "out.txt").read_text().split()[:3] == ["a0@0", "a0@1", "a0@2"]
    assert len((tmp_path / "out.txt").read_text().split()) == 7


def test_intervals_append_to_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("before\n")
    run(tmp_path, A0)
    marker = run(tmp_path, A1, sequence=2)
    assert (tmp_path / "out.txt").read_text() == "before\na0@0\na0@1\na0@2\na1@5\na1@6\n"
    assert marker.detail is not None
    assert (marker.detail["start_length"], marker.detail["end_length"]) == (22, 32)


def test_partitions_without_records_move_on(tmp_path: Path) -> None:
    task = started(tmp_path, interval_of(A0))
    found = task.stage({TopicPartition("a", 0): 3})
    keeper = committer(tmp_path)
    key = interval_of().key
    marker = keeper.commit(key, found)
    keeper.publish(key, marker)
    assert marker.positions == {("a", 0): 3}
    assert not (tmp_path / "out.txt").exists()


def test_commit_and_publish_twice_change_nothing(tmp_path: Path) -> None:
    marker = run(tmp_path, A0)
    run(tmp_path, A1, sequence=2)
    content = (tmp_path / "out.txt").read_bytes()
    late = interval_of(A0, attempt="1-late")
    keeper = committer(tmp_path)
    assert keeper.commit(late.key, staged(tmp_path, late)) == marker
    keeper.publish(late.key, marker)
    assert (tmp_path / "out.txt").read_bytes() == content


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


class Crash(Exception):
    pass


class CrashingAppender(FileAppender):
    """Dies in the middle of its work: at the n-th look at the epoch."""

    looks = 0
    dies_at = 0

    def _check_epoch(self) -> None:
        self.looks += 1
        if self.looks == self.dies_at:
            raise Crash
        super()._check_epoch()


@pytest.mark.parametrize("dies_at", [1, 2, 3, 4])
@pytest.mark.parametrize("torn", [0, 7])
def test_recovery_after_a_crash_while_appending(tmp_path: Path, dies_at: int, torn: int) -> None:
    (tmp_path / "out.txt").write_text("before\n")
    interval = interval_of(A0, A1, B0)
    dying = CrashingAppender("copy", "out.txt", limits_of(tmp_path))
    dying.dies_at = dies_at
    dying.fence(1)
    marker = dying.commit(interval.key, staged(tmp_path, interval))
    with pytest.raises(Crash):
        dying.publish(interval.key, marker)
    with (tmp_path / "out.txt").open("ab") as file:
        file.write(b"#" * torn)
    keeper = committer(tmp_path, epoch=2)
    found = keeper.read_marker(interval.key)
    assert found == marker
    keeper.publish(interval.key, found)
    assert (tmp_path / "out.txt").read_text() == "before\na0@0\na0@1\na0@2\na1@5\na1@6\nb0@0\nb0@1\n"


def test_a_crash_before_the_manifest_leaves_the_file(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("before\n")
    interval = interval_of(A0)
    staged(tmp_path, interval)
    keeper = committer(tmp_path, epoch=2)
    assert keeper.read_marker(interval.key) is None
    again = interval_of(A0, epoch=2, attempt="2-b")
    keeper.publish(again.key, keeper.commit(again.key, staged(tmp_path, again)))
    assert (tmp_path / "out.txt").read_text() == "before\na0@0\na0@1\na0@2\n"


def test_a_sleeping_driver_changes_nothing_when_it_wakes(tmp_path: Path) -> None:
    old = committer(tmp_path, epoch=1)
    interval = interval_of(A0)
    marker = old.commit(interval.key, staged(tmp_path, interval))
    new = committer(tmp_path, epoch=2)
    found = new.read_marker(interval.key)
    assert found is not None
    new.publish(interval.key, found)
    newer = interval_of(A1, sequence=2, epoch=2)
    new.publish(newer.key, new.commit(newer.key, staged(tmp_path, newer)))
    content = (tmp_path / "out.txt").read_bytes()
    old.publish(interval.key, marker)
    with pytest.raises(StaleEpochError) as raised:
        old.commit(interval_of(sequence=3).key, ())
    assert raised.value.epoch == 2
    with pytest.raises(StaleEpochError):
        old.fence(1)
    assert (tmp_path / "out.txt").read_bytes() == content


def test_an_abandoned_interval_never_commits(tmp_path: Path) -> None:
    keeper = committer(tmp_path)
    interval = interval_of(A0)
    found = staged(tmp_path, interval)
    aborted = keeper.abandon(interval.key, {TopicPartition("a", 0): 0})
    assert (aborted.aborted, aborted.positions) == (True, {("a", 0): 0})
    marker = keeper.commit(interval.key, found)
    assert marker.aborted
    keeper.publish(interval.key, marker)
    assert not (tmp_path / "out.txt").exists()
    assert keeper.abandon(interval.key, None) == aborted


def test_abandoning_comes_too_late_after_the_manifest(tmp_path: Path) -> None:
    marker = run(tmp_path, A0)
    assert committer(tmp_path).abandon(interval_of().key, {}) == marker


def test_a_recreated_connector_has_intervals_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, A0)
    assert committer(tmp_path).read_marker(IntervalKey("copy", 2, 1, 2)) is None


def test_a_second_connector_is_refused(tmp_path: Path) -> None:
    committer(tmp_path)
    other = committer(tmp_path, "other", epoch=None)
    with pytest.raises(ConfigError, match=r"connector copy writes there.*owner\.json"):
        other.fence(1)


def test_a_released_file_is_free_and_its_epochs_stay(tmp_path: Path) -> None:
    keeper = committer(tmp_path, epoch=7)
    interval = interval_of(A0)
    key = replace(interval.key, epoch=7)
    keeper.publish(key, keeper.commit(key, staged(tmp_path, interval)))
    keeper.release()
    other = committer(tmp_path, "other", epoch=None)
    with pytest.raises(StaleEpochError) as newer:
        other.fence(1)
    assert newer.value.epoch == 7
    other.fence(8)
    assert other.read_marker(replace(key, connector="other")) is None
    keeper.release()
    assert committer(tmp_path, "other", epoch=9)
    with pytest.raises(StaleEpochError):
        keeper.commit(replace(key, sequence=9), ())


def test_changed_staged_lines_are_not_published(tmp_path: Path) -> None:
    interval = interval_of(A0)
    keeper = committer(tmp_path)
    marker = keeper.commit(interval.key, staged(tmp_path, interval))
    (place,) = (tmp_path / ".connect-out.txt" / "staged").rglob("*.lines")
    place.write_text("a0@0\na0@1\na0@X\n")
    with pytest.raises(ConnectError, match="is not what was staged"):
        keeper.publish(interval.key, marker)
    place.unlink()
    with pytest.raises(ConnectError, match="is missing"):
        keeper.publish(interval.key, marker)
    assert not (tmp_path / "out.txt").exists()


def test_lines_that_are_on_another_machine_are_not_committed(tmp_path: Path) -> None:
    interval = interval_of(A0)
    parts = staged(tmp_path, interval)
    (lines,) = tmp_path.rglob("*.lines")
    lines.rename(tmp_path / "elsewhere")
    keeper = committer(tmp_path)
    with pytest.raises(RetriableError, match=r"for configuration file: .*must have the same folder"):
        keeper.commit(interval.key, parts)
    assert keeper.read_marker(interval.key) is None


def test_a_file_cut_before_publishing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("before\n")
    interval = interval_of(A0)
    keeper = committer(tmp_path)
    marker = keeper.commit(interval.key, staged(tmp_path, interval))
    (tmp_path / "out.txt").write_text("")
    with pytest.raises(ConnectError, match="truncate -s 7"):
        keeper.publish(interval.key, marker)
    assert (tmp_path / "out.txt").read_text() == ""


def test_sweep_keeps_what_may_still_be_asked_for(tmp_path: Path) -> None:
    run(tmp_path, A0)
    keeper = committer(tmp_path)
    unpublished, unfinished, kept = (interval_of(A1, sequence=number, attempt="1-a") for number in (2, 3, 4))
    keeper.commit(unpublished.key, staged(tmp_path, unpublished))
    staged(tmp_path, unfinished)
    staged(tmp_path, kept)
    keeper.abandon(kept.key, None)
    keeper.sweep([kept.key])
    assert names(tmp_path / ".connect-out.txt" / "staged" / "copy") == ["1-2", "1-3", "1-4"]
    keeper.sweep([])
    assert names(tmp_path / ".connect-out.txt" / "staged" / "copy") == ["1-2", "1-3"]
    keeper.close()


def test_without_a_file_lines_go_to_the_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connector = FileStreamSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    connector.start({})
    assert connector.committer({}) is None
    task = FileStreamSinkTask()
    task.initialize(SinkSide(limits_of(tmp_path), {}, interval_of(A0)))
    task.start({})
    assert not task.put_batch(Batch.from_records(records(A0)))
    task.put(records(A0))
    task.flush({})
    assert capsys.readouterr().out == "a0@0\na0@1\na0@2\n"


def test_standard_output_elsewhere_fails_the_tasks_not_the_connector(tmp_path: Path) -> None:
    limits = limits_of(tmp_path, standalone=False)
    connector = FileStreamSinkConnector()
    connector.initialize(DriverSide(limits))
    connector.start({})
    assert connector.validate_live({}, limits) == {}
    task = FileStreamSinkTask()
    task.initialize(SinkSide(limits, {}, interval_of(A0)))
    with pytest.raises(ConfigError, match="standalone mode only; name a file"):
        task.start({})


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("/etc/passwd", "allows"),
        ("../out", "allows"),
        (".", "not a regular file"),
    ],
)
def test_start_refuses_files_it_may_not_write(tmp_path: Path, file: str, message: str) -> None:
    connector = FileStreamSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path, standalone=False)))
    with pytest.raises(ConfigError, match=message):
        connector.start({"file": file})
    assert message in connector.validate_live({"file": file}, limits_of(tmp_path, standalone=False))["file"][0]


def test_missing_folder_fails_the_tasks_not_the_connector(tmp_path: Path) -> None:
    limits, config = limits_of(tmp_path), {"file": "later/out.txt"}
    connector = FileStreamSinkConnector()
    connector.initialize(DriverSide(limits))
    connector.start(config)
    assert connector.validate_live(config, limits) == {}
    keeper = connector.committer(config)
    assert isinstance(keeper, FileAppender)
    assert keeper.fence(1) is None
    task = FileStreamSinkTask()
    task.initialize(SinkSide(limits, config, interval_of(A0)))
    with pytest.raises(ConfigError, match="create it"):
        task.start(config)
    assert names(tmp_path) == []


def test_file_whose_folder_came_late_is_claimed_by_the_first_commit(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    keeper = FileAppender("copy", str(folder / "out.txt"), limits_of(tmp_path))
    keeper.fence(3)
    folder.mkdir()
    keeper.commit(interval_of(A0, epoch=3).key, [])
    assert (folder / ".connect-out.txt" / "owner.json").exists()
    with pytest.raises(StaleEpochError):
        FileAppender("copy", str(folder / "out.txt"), limits_of(tmp_path)).fence(2)


def test_tasks_share_one_configuration(tmp_path: Path) -> None:
    connector = FileStreamSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    connector.start(CONFIG)
    assert connector.task_configs(2) == [CONFIG, CONFIG]
    assert connector.alter_offsets(CONFIG, {})


def test_long_names_have_a_control_folder(tmp_path: Path) -> None:
    appender = FileAppender("copy", "x" * 255, limits_of(tmp_path))
    appender.fence(1)
    assert [len(name) < 255 for name in names(tmp_path)] == [True]
