from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import ExactlyOnceSupport, WorkerLimits
from connect_core.api.data import STRING_SCHEMA
from connect_core.api.offsets import canonical
from connect_core.connectors.file.predecessor import QUIET_SECONDS
from connect_core.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from connect_core.errors import ConfigError, ConnectError
from tests.connectors.contexts import Committed, DriverSide, SourceSide, limits_of

TOPIC = "connect-test"


class Follower:
    """A connector and what its intervals commit: lines, offset and private state."""

    def __init__(self, folder: Path, batches: bool, file: str = "test.txt", **config: str) -> None:
        self.folder, self.batches = folder, batches
        self.config = {"file": file, "topic": TOPIC, **config}
        self.key = canonical({"filename": file})
        self.offsets: dict[str, dict[str, Any]] = {}
        self.states: dict[str, dict[str, str]] = {}
        self.lines: list[str] = []

    @property
    def position(self) -> int | None:
        return self.offsets.get(self.key, {}).get("position")

    def latest(self) -> dict[str, Any]:
        connector = FileStreamSourceConnector()
        connector.initialize(DriverSide(limits_of(self.folder), offset_states=self.states))
        connector.start(self.config)
        return dict(connector.latest(self.offsets) or {})

    def task(self, upper: dict[str, Any] | None) -> FileStreamSourceTask:
        task = FileStreamSourceTask()
        task.initialize(
            SourceSide(limits_of(self.folder), self.config, Committed(self.offsets), upper, offset_states=self.states)
        )
        task.start(self.config)
        return task

    def interval(self) -> list[str]:
        """Run one interval → its lines; nothing when the plan finds nothing to do."""
        upper = self.latest()
        return [] if upper == self.offsets else self.drain(self.task(upper))

    def drain(self, task: FileStreamSourceTask) -> list[str]:
        found: list[str] = []
        while records := self.poll(task):
            found += [value for value, _ in records]
            self.offsets = {**self.offsets, self.key: records[-1][1]}
            self.states = {self.key: dict(task.offset_state({"filename": self.config["file"]}) or {})}
        task.stop()
        self.lines += found
        return found

    def poll(self, task: FileStreamSourceTask) -> list[tuple[str, dict[str, Any]]]:
        if not self.batches:
            return [(record.value, dict(record.source_offset or {})) for record in task.poll() or ()]
        batch = task.poll_batch()
        assert batch is not None
        return [(record.value, dict(record.source_offset)) for record in batch.to_records()]  # type: ignore[attr-defined]


@pytest.fixture(params=["records", "batches"])
def follower(request, tmp_path) -> Follower:
    return Follower(tmp_path, request.param == "batches")


def write(path: Path, text: str) -> None:
    with path.open("a", newline="") as file:
        file.write(text)


def leave(path: Path) -> None:
    """Let nobody have written to a file for longer than a rotated one is followed."""
    then = time.time() - 2 * QUIET_SECONDS
    os.utime(path, (then, then))


def test_source_reads_what_is_there(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\nhello world\n")
    assert follower.interval() == ["foo", "hello world"]
    assert follower.position == 16
    assert follower.interval() == []


def test_source_keeps_an_unfinished_line_back(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\nhello")
    assert follower.interval() == ["foo"]
    assert follower.latest() == follower.offsets
    write(tmp_path / "test.txt", " world\r\nnext\r")
    assert follower.interval() == ["hello world"]
    write(tmp_path / "test.txt", "\nlast\n")
    assert follower.interval() == ["next", "last"]


def test_source_stops_at_a_return_the_bound_has_decided(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\rb")
    assert follower.interval() == ["foo"]
    assert follower.position == 4


def test_source_waits_for_a_missing_file(follower, tmp_path):
    assert follower.latest() == {}
    assert follower.drain(follower.task(None)) == []
    write(tmp_path / "test.txt", "foo\n")
    assert follower.interval() == ["foo"]


def test_source_positions_count_bytes(follower, tmp_path):
    write(tmp_path / "test.txt", "é\n日本\n")
    assert follower.interval() == ["é", "日本"]
    assert follower.position == 10


def test_source_replaces_what_is_no_utf8(follower, tmp_path):
    (tmp_path / "test.txt").write_bytes(b"a\xffb\nfine\n")
    assert follower.interval() == ["a\ufffdb", "fine"]


def test_source_reads_no_further_than_its_bound(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\nbar\n")
    task = follower.task(follower.latest())
    write(tmp_path / "test.txt", "late\n")
    assert follower.drain(task) == ["foo", "bar"]
    assert follower.interval() == ["late"]


def test_source_reads_a_truncated_file_from_its_start(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\nbar\n")
    follower.interval()
    (tmp_path / "test.txt").write_text("new\n")
    assert follower.interval() == ["new"]
    (tmp_path / "test.txt").write_text("")
    assert follower.latest() == follower.offsets


def test_source_notices_new_content_of_the_same_size(follower, tmp_path):
    write(tmp_path / "test.txt", "foo\nbar\n")
    follower.interval()
    (tmp_path / "test.txt").write_text("baz\nqux\n")
    assert follower.interval() == ["baz", "qux"]
    assert follower.interval() == []


def test_source_finishes_a_rotated_file_first(follower, tmp_path):
    write(tmp_path / "test.txt", "one\ntwo\n")
    follower.interval()
    write(tmp_path / "test.txt", "three\nfour\nrest")
    (tmp_path / "test.txt").rename(tmp_path / "test.txt.1")
    write(tmp_path / "test.txt", "five\nsix\n")
    leave(tmp_path / "test.txt.1")
    assert follower.interval() == ["three", "four", "rest", "five", "six"]
    assert follower.interval() == []
    write(tmp_path / "test.txt", "seven\n")
    assert follower.interval() == ["seven"]


def test_late_lines_of_a_second_writer_are_read(follower, tmp_path):
    """Two processes write to one log and open it again one after the other, as web servers' workers do."""
    file, old = tmp_path / "test.txt", tmp_path / "test.txt.1"
    write(file, "a1\n")
    follower.interval()
    with file.open("a") as slow:
        file.rename(old)
        write(file, "b1\n")
        assert follower.interval() == []
        slow.write("a2\n")
    write(file, "b2\n")
    assert follower.interval() == ["a2"]
    leave(old)
    assert follower.interval() == ["b1", "b2"]
    assert follower.interval() == []


def test_late_line_while_the_task_waits_is_read_first(follower, tmp_path):
    file, old = tmp_path / "test.txt", tmp_path / "test.txt.1"
    write(file, "a1\n")
    follower.interval()
    file.rename(old)
    write(file, "b1\n")
    leave(old)
    task = follower.task(follower.latest())
    write(old, "a2\n")
    assert follower.drain(task) == ["a2"]
    leave(old)
    assert follower.interval() == ["b1"]


def test_half_a_line_at_rotation_is_waited_for(follower, tmp_path):
    file, old = tmp_path / "test.txt", tmp_path / "test.txt.1"
    write(file, "a1\n")
    follower.interval()
    write(file, "half of a ")
    file.rename(old)
    write(file, "b1\n")
    assert follower.interval() == []
    write(old, "line\n")
    assert follower.interval() == ["half of a line"]
    leave(old)
    assert follower.interval() == ["b1"]


def test_file_with_a_time_to_come_holds_nothing_up(follower, tmp_path):
    file, old = tmp_path / "test.txt", tmp_path / "test.txt.1"
    write(file, "a1\n")
    follower.interval()
    file.rename(old)
    write(file, "b1\n")
    os.utime(old, (time.time() + 3600,) * 2)
    assert follower.interval() == ["b1"]


def copy_and_cut(file: Path, number: int = 1) -> Path:
    """Rotate as logrotate's copytruncate does, and return the copy."""
    copy = file.with_name(f"{file.name}.{number}")
    copy.write_bytes(file.read_bytes())
    os.truncate(file, 0)
    return copy


def test_lines_unread_at_copytruncate_are_read_from_the_copy(follower, tmp_path, caplog):
    file = tmp_path / "test.txt"
    write(file, "a1\n")
    follower.interval()
    write(file, "a2\na3\n")
    copy = copy_and_cut(file)
    write(tmp_path / "other.txt", "a1\na2\na3\nof another program\n")
    write(file, "b1\n")
    assert follower.interval() == ["a2", "a3"]
    leave(copy)
    assert follower.interval() == ["b1"]
    assert "gaps" not in follower.states[follower.key]
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_copytruncate_under_a_running_task_is_followed(follower, tmp_path):
    file = tmp_path / "test.txt"
    write(file, "a1\n")
    task = follower.task(None)
    assert [value for value, _ in follower.poll(task)] == ["a1"]
    follower.states = {follower.key: dict(task.offset_state({"filename": "test.txt"}) or {})}
    write(file, "a2\n")
    leave(copy_and_cut(file))
    write(file, "b\n")
    assert follower.drain(task) == ["a2", "b"]


def test_copytruncate_after_all_was_read_is_no_gap(follower, tmp_path):
    file = tmp_path / "test.txt"
    write(file, "a1\na2\n")
    follower.interval()
    copy_and_cut(file)
    write(file, "b1\n")
    assert follower.interval() == ["b1"]
    assert "gaps" not in follower.states[follower.key]


def test_cut_without_a_copy_is_counted_and_told(follower, tmp_path, caplog):
    file = tmp_path / "test.txt"
    for number in (1, 2):
        write(file, f"line {number}\nline of {number}\n")
        follower.interval()
        copy_and_cut(file, number).unlink()
        write(file, "n\n")
        assert follower.interval() == ["n"]
        assert follower.states[follower.key]["gaps"] == str(number)
        assert f"is not read ({number} times so far)" in caplog.text


def test_another_file_in_the_same_inode_is_read_from_its_start(follower, tmp_path):
    """A log is rotated and compressed, and the new one is given its inode: as long, or longer, it is another file."""
    file = tmp_path / "test.txt"
    write(file, "one\ntwo\n")
    follower.interval()
    inode = file.stat().st_ino
    for content in ("uno\ndue\n", "eins\nzwei\ndrei\n"):
        file.write_text(content)
        assert file.stat().st_ino == inode
        assert follower.interval() == content.splitlines()


def test_inode_of_the_rotated_file_given_to_another_log(follower, tmp_path):
    file = tmp_path / "test.txt"
    write(file, "one\ntwo\n")
    follower.interval()
    file.rename(tmp_path / "unrelated.log")
    (tmp_path / "unrelated.log").write_text("not a line of this log\n")
    write(file, "three\n")
    assert follower.interval() == ["three"]


def test_source_waits_with_the_rest_of_a_rotated_file(follower, tmp_path):
    write(tmp_path / "test.txt", "one\n")
    follower.interval()
    write(tmp_path / "test.txt", "two\nhalf")
    (tmp_path / "test.txt").rename(tmp_path / "test.txt.1")
    assert follower.interval() == ["two"]
    assert follower.interval() == []
    write(tmp_path / "test.txt.1", " done\n")
    assert follower.interval() == ["half done"]


def test_source_goes_on_in_a_file_saved_anew(follower, tmp_path):
    write(tmp_path / "test.txt", "one\ntwo\n")
    follower.interval()
    write(tmp_path / "copy", "one\ntwo\nthree\n")
    (tmp_path / "copy").replace(tmp_path / "test.txt")
    assert follower.interval() == ["three"]


def test_source_without_state_judges_by_size(follower, tmp_path):
    follower.offsets = {follower.key: {"position": 8}}
    write(tmp_path / "test.txt", "one\n")
    assert follower.interval() == ["one"]


def test_source_follows_a_rotation_without_a_bound(follower, tmp_path):
    write(tmp_path / "test.txt", "one\n")
    task = follower.task(None)
    assert [value for value, _ in follower.poll(task)] == ["one"]
    write(tmp_path / "test.txt", "two\n")
    (tmp_path / "test.txt").rename(tmp_path / "test.txt.1")
    leave(tmp_path / "test.txt.1")
    write(tmp_path / "test.txt", "three\n")
    assert follower.drain(task) == ["two", "three"]
    assert follower.position == 6


def test_source_grows_its_block_for_a_long_line(follower, tmp_path):
    write(tmp_path / "test.txt", "x" * 3_000 + "\nshort\n")
    task = follower.task(follower.latest())
    assert task._tail is not None
    task._tail.block = 16
    assert follower.drain(task) == ["x" * 3_000, "short"]


def test_source_follows_a_link_within_the_roots(follower, tmp_path):
    write(tmp_path / "2026.log", "one\n")
    (tmp_path / "test.txt").symlink_to(tmp_path / "2026.log")
    assert follower.interval() == ["one"]


def test_poll_returns_batch_size_records(tmp_path):
    write(tmp_path / "test.txt", "".join(f"{number}\n" for number in range(5)))
    follower = Follower(tmp_path, False, **{"batch.size": "2"})
    task = follower.task(None)
    sizes = [len(task.poll() or ()) for _ in range(3)]
    task.stop()
    assert sizes == [2, 2, 1]


def test_poll_makes_connects_records(tmp_path):
    write(tmp_path / "test.txt", "foo\n")
    task = Follower(tmp_path, False).task(None)
    (record,) = task.poll() or ()
    task.stop()
    assert (record.topic, record.value_schema, record.value) == (TOPIC, STRING_SCHEMA, "foo")
    assert (record.kafka_partition, record.key_schema, record.key) == (None, None, None)
    assert (record.source_partition, record.source_offset) == ({"filename": "test.txt"}, {"position": 4})


def test_stop_ends_a_waiting_poll(tmp_path):
    task = Follower(tmp_path, False).task(None)
    poller = threading.Thread(target=task.poll)
    poller.start()
    task.stop()
    poller.join(5)
    assert not poller.is_alive()
    assert task.poll() is None


def test_standard_input_is_read_in_standalone(tmp_path):
    read, written = os.pipe()
    task = FileStreamSourceTask()
    task.standard_input = read  # type: ignore[misc]
    task.initialize(SourceSide(limits_of(tmp_path), {}, Committed({})))
    task.start({"topic": TOPIC})
    os.write(written, b"foo\nba")
    assert task.poll_batch() is None
    assert [(one.value, one.source_partition, one.source_offset) for one in task.poll() or ()] == [
        ("foo", {"filename": None}, {"position": None})
    ]
    os.write(written, b"r\n")
    assert [one.value for one in task.poll() or ()] == ["bar"]
    os.close(written)
    assert task.poll() is None
    os.close(read)
    task.stop()


def test_standard_input_elsewhere_fails_the_task_not_the_connector(tmp_path):
    limits = limits_of(tmp_path, False)
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(limits))
    connector.start({"topic": TOPIC})
    assert connector.validate_live({"topic": TOPIC}, limits) == {}
    task = FileStreamSourceTask()
    task.initialize(SourceSide(limits, {}, Committed({})))
    with pytest.raises(ConfigError, match="standalone mode only; name a file"):
        task.start({"topic": TOPIC})


def outside(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe")
    return {
        "/etc/passwd": "outside what file.roots allows",
        "../secret": "outside what file.roots allows",
        "link": "outside what file.roots allows",
        "/proc/self/environ": "outside what file.roots allows",
        "/dev/stdin": "outside what file.roots allows",
        "pipe": "no regular file",
        "folder": "no regular file",
        "a\0b": "no path",
    }


def test_start_refuses_files_it_may_not_read(tmp_path):
    for file, message in outside(tmp_path).items():
        connector = FileStreamSourceConnector()
        connector.initialize(DriverSide(limits_of(tmp_path)))
        with pytest.raises(ConfigError, match=message):
            connector.start({"file": file, "topic": TOPIC})
        errors = connector.validate_live({"file": file, "topic": TOPIC}, limits_of(tmp_path))
        assert message in errors["file"][0]


def test_start_refuses_everything_without_roots():
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(WorkerLimits()))
    with pytest.raises(ConfigError, match=r"file\.roots"):
        connector.start({"file": "a", "topic": TOPIC})


def test_task_configs_are_one(tmp_path):
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    config = {"file": "a", "topic": TOPIC}
    connector.start(config)
    assert connector.task_configs(4) == [config]
    assert connector.task_class() is FileStreamSourceTask


def test_exactly_once_needs_a_file():
    connector = FileStreamSourceConnector()
    assert connector.exactly_once_support({"file": "a", "topic": TOPIC}) is ExactlyOnceSupport.SUPPORTED
    assert connector.exactly_once_support({"topic": TOPIC}) is ExactlyOnceSupport.UNSUPPORTED


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        ({"filename": "a"}, {"other": 1}, "either be null or contain the key 'position'"),
        ({"filename": "a"}, {"position": "1"}, "expected to be a Long value"),
        ({"filename": "a"}, {"position": True}, "expected to be a Long value"),
        ({"filename": "a"}, {"position": -1}, "non-negative"),
        ({"other": "a"}, {"position": 1}, "contain the key 'filename'"),
        (None, {"position": 1}, "Partition objects cannot be null"),
    ],
)
def test_alter_offsets_refuses_bad_ones(partition, offset, message):
    config = {"file": "a", "topic": TOPIC}
    with pytest.raises(ConnectError, match=message):
        FileStreamSourceConnector().alter_offsets(config, {canonical(partition): offset})


def test_alter_offsets_accepts_positions_and_forgetting():
    offsets = {canonical({"filename": "a"}): {"position": 3}, canonical({"other": "b"}): None}
    assert FileStreamSourceConnector().alter_offsets({"file": "a", "topic": TOPIC}, offsets)
    with pytest.raises(ConnectError, match="stdin"):
        FileStreamSourceConnector().alter_offsets({"topic": TOPIC}, offsets)


def test_start_refuses_an_offset_of_another_type(tmp_path):
    follower = Follower(tmp_path, False)
    follower.offsets = {follower.key: {"position": "8"}}
    with pytest.raises(ConnectError, match="incorrect type"):
        follower.task(None)
