"""Lines of a file, or of the standard input, as the file source reads them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.connectors.file import source_task
from connect_core.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from connect_core.errors import ConfigError, ConnectError
from tests.connectors.contexts import Committed, DriverSide, SourceSide, limits_of
from tests.connectors.file.follower import TOPIC, Follower, leave, write


def test_source_reads_what_is_there(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\nhello world\n")
    assert follower.interval() == ["foo", "hello world"]
    assert follower.position == 16
    assert follower.interval() == []


def test_source_keeps_an_unfinished_line_back(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\nhello")
    assert follower.interval() == ["foo"]
    assert follower.latest() == follower.offsets
    write(tmp_path / "test.txt", " world\r\nnext\r")
    assert follower.interval() == ["hello world"]
    write(tmp_path / "test.txt", "\nlast\n")
    assert follower.interval() == ["next", "last"]


def test_source_stops_at_a_return_the_bound_has_decided(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\rb")
    assert follower.interval() == ["foo"]
    assert follower.position == 4


def test_source_waits_for_a_missing_file(follower: Follower, tmp_path: Path) -> None:
    assert follower.latest() == {}
    assert follower.drain(follower.task(None)) == []
    write(tmp_path / "test.txt", "foo\n")
    assert follower.interval() == ["foo"]


def test_source_positions_count_bytes(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "é\n日本\n")
    assert follower.interval() == ["é", "日本"]
    assert follower.position == 10


def test_source_replaces_what_is_no_utf8(follower: Follower, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_bytes(b"a\xffb\nfine\n")
    assert follower.interval() == ["a\ufffdb", "fine"]


def test_source_reads_no_further_than_its_bound(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\nbar\n")
    task = follower.task(follower.latest())
    write(tmp_path / "test.txt", "late\n")
    assert follower.drain(task) == ["foo", "bar"]
    assert follower.interval() == ["late"]


def test_source_grows_its_block_for_a_long_line(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "x" * 3_000 + "\nshort\n")
    task = follower.task(follower.latest())
    assert task._tail is not None
    task._tail.block = 16
    assert follower.drain(task) == ["x" * 3_000, "short"]


def test_source_follows_a_link_within_the_roots(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "2026.log", "one\n")
    (tmp_path / "test.txt").symlink_to(tmp_path / "2026.log")
    assert follower.interval() == ["one"]


def test_late_lines_of_a_second_writer_are_read(follower: Follower, tmp_path: Path) -> None:
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


def test_poll_returns_batch_size_records(tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "".join(f"{number}\n" for number in range(5)))
    follower = Follower(tmp_path, False, **{"batch.size": "2"})
    task = follower.task(None)
    sizes = [len(task.poll() or ()) for _ in range(3)]
    task.stop()
    assert sizes == [2, 2, 1]


def test_poll_makes_connects_records(tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\n")
    task = Follower(tmp_path, False).task(None)
    (record,) = task.poll() or ()
    task.stop()
    assert (record.topic, record.value_schema, record.value) == (TOPIC, STRING_SCHEMA, "foo")
    assert (record.kafka_partition, record.key_schema, record.key) == (None, None, None)
    assert (record.source_partition, record.source_offset) == ({"filename": "test.txt"}, {"position": 4})


def test_stop_ends_a_waiting_poll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_task, "_WAIT_SECONDS", 60.0)
    task = Follower(tmp_path, False).task(None)
    poller = threading.Thread(target=task.poll)
    poller.start()
    task.stop()
    poller.join(5)
    assert not poller.is_alive()
    assert task.poll() is None


def test_standard_input_is_read_in_standalone(tmp_path: Path) -> None:
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


def test_standard_input_elsewhere_fails_the_task_not_the_connector(tmp_path: Path) -> None:
    limits = limits_of(tmp_path, False)
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(limits))
    connector.start({"topic": TOPIC})
    assert connector.validate_live({"topic": TOPIC}, limits) == {}
    task = FileStreamSourceTask()
    task.initialize(SourceSide(limits, {}, Committed({})))
    with pytest.raises(ConfigError, match="standalone mode only; name a file"):
        task.start({"topic": TOPIC})


def test_start_refuses_an_offset_of_another_type(tmp_path: Path) -> None:
    follower = Follower(tmp_path, False)
    follower.offsets = {follower.key: {"position": "8"}}
    with pytest.raises(ConnectError, match="incorrect type"):
        follower.task(None)
