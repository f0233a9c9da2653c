"""What becomes of a file that is followed: rotated, copied and cut, saved again, or another in its place."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import pytest

from tests.connectors.file.follower import Follower, leave, write


def test_source_reads_a_truncated_file_from_its_start(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\nbar\n")
    follower.interval()
    (tmp_path / "test.txt").write_text("new\n")
    assert follower.interval() == ["new"]
    (tmp_path / "test.txt").write_text("")
    assert follower.latest() == follower.offsets


def test_source_notices_new_content_of_the_same_size(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "foo\nbar\n")
    follower.interval()
    (tmp_path / "test.txt").write_text("baz\nqux\n")
    assert follower.interval() == ["baz", "qux"]
    assert follower.interval() == []


def test_source_finishes_a_rotated_file_first(follower: Follower, tmp_path: Path) -> None:
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


def test_late_line_while_the_task_waits_is_read_first(follower: Follower, tmp_path: Path) -> None:
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


def test_half_a_line_at_rotation_is_waited_for(follower: Follower, tmp_path: Path) -> None:
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


def test_file_with_a_time_to_come_holds_nothing_up(follower: Follower, tmp_path: Path) -> None:
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


def test_lines_unread_at_copytruncate_are_read_from_the_copy(
    follower: Follower, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_copytruncate_under_a_running_task_is_followed(follower: Follower, tmp_path: Path) -> None:
    file = tmp_path / "test.txt"
    write(file, "a1\n")
    task = follower.task(None)
    assert [value for value, _ in follower.poll(task)] == ["a1"]
    follower.states = {follower.key: dict(task.offset_state({"filename": "test.txt"}) or {})}
    write(file, "a2\n")
    leave(copy_and_cut(file))
    write(file, "b\n")
    assert follower.drain(task) == ["a2", "b"]


def test_copytruncate_after_all_was_read_is_no_gap(follower: Follower, tmp_path: Path) -> None:
    file = tmp_path / "test.txt"
    write(file, "a1\na2\n")
    follower.interval()
    copy_and_cut(file)
    write(file, "b1\n")
    assert follower.interval() == ["b1"]
    assert "gaps" not in follower.states[follower.key]


def test_cut_without_a_copy_is_counted_and_told(
    follower: Follower, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "test.txt"
    for number in (1, 2):
        write(file, f"line {number}\nline of {number}\n")
        follower.interval()
        copy_and_cut(file, number).unlink()
        write(file, "n\n")
        assert follower.interval() == ["n"]
        assert follower.states[follower.key]["gaps"] == str(number)
        assert f"is not read ({number} times so far)" in caplog.text


def test_another_file_in_the_same_inode_is_read_from_its_start(follower: Follower, tmp_path: Path) -> None:
    """A log is rotated and compressed, and the new one is given its inode: as long, or longer, it is another file."""
    file = tmp_path / "test.txt"
    write(file, "one\ntwo\n")
    follower.interval()
    inode = file.stat().st_ino
    for content in ("uno\ndue\n", "eins\nzwei\ndrei\n"):
        file.write_text(content)
        assert file.stat().st_ino == inode
        assert follower.interval() == content.splitlines()


def test_inode_of_the_rotated_file_given_to_another_log(follower: Follower, tmp_path: Path) -> None:
    file = tmp_path / "test.txt"
    write(file, "one\ntwo\n")
    follower.interval()
    file.rename(tmp_path / "unrelated.log")
    (tmp_path / "unrelated.log").write_text("not a line of this log\n")
    write(file, "three\n")
    assert follower.interval() == ["three"]


def test_source_waits_with_the_rest_of_a_rotated_file(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "one\n")
    follower.interval()
    write(tmp_path / "test.txt", "two\nhalf")
    (tmp_path / "test.txt").rename(tmp_path / "test.txt.1")
    assert follower.interval() == ["two"]
    assert follower.interval() == []
    write(tmp_path / "test.txt.1", " done\n")
    assert follower.interval() == ["half done"]


def test_source_goes_on_in_a_file_saved_anew(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "one\ntwo\n")
    follower.interval()
    write(tmp_path / "copy", "one\ntwo\nthree\n")
    (tmp_path / "copy").replace(tmp_path / "test.txt")
    assert follower.interval() == ["three"]


def test_source_without_state_judges_by_size(follower: Follower, tmp_path: Path) -> None:
    follower.offsets = {follower.key: {"position": 8}}
    write(tmp_path / "test.txt", "one\n")
    assert follower.interval() == ["one"]


def test_source_follows_a_rotation_without_a_bound(follower: Follower, tmp_path: Path) -> None:
    write(tmp_path / "test.txt", "one\n")
    task = follower.task(None)
    assert [value for value, _ in follower.poll(task)] == ["one"]
    write(tmp_path / "test.txt", "two\n")
    (tmp_path / "test.txt").rename(tmp_path / "test.txt.1")
    leave(tmp_path / "test.txt.1")
    write(tmp_path / "test.txt", "three\n")
    assert follower.drain(task) == ["two", "three"]
    assert follower.position == 6
