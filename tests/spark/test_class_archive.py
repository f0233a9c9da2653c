"""The archive of Spark's classes: written by a real JVM, used by the next one, never trusted from somebody else."""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from connect_core.dev.java import find_java
from connect_core.spark.class_archive import archive_options, class_archive, write_archive_later

_START = """
import sys
from connect_core.spark.session import local_session
session = local_session("test", sys.argv[1] + " -Xlog:class+load:file=" + sys.argv[2])
print("rows", session.range(0, 3, 1, 1).count())
session.stop()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a cache"
    monkeypatch.setenv("CONNECT_CACHE", str(folder))
    return folder


def start_spark(folder: Path, options: str) -> list[str]:
    """Start Spark in a process of its own, and return the lines of its log of classes."""
    log = folder / "classes.log"
    command = [sys.executable, "-c", _START, options, str(log)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "rows 3" in done.stdout
    assert "warning" not in done.stdout + done.stderr
    return log.read_text().splitlines()


def of_spark(lines: list[str]) -> tuple[int, int]:
    """Return how many of Spark's classes were loaded, and how many of them from an archive."""
    found = [line for line in lines if " org.apache.spark." in line]
    return len(found), sum("shared objects file" in line for line in found)


def start_java(folder: Path, options: str) -> int:
    """Start a program of Java's own → how many of its classes came from this archive, not from Java's."""
    log = folder / "classes.log"
    java = find_java()
    command = [str(java), *shlex.split(options), f"-Xlog:class+load:file={log}", "--list-modules"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert "java.base@" in done.stdout
    assert "warning" not in done.stdout + done.stderr
    return log.read_text().count("shared objects file (top)")


@pytest.mark.slow
def test_java_takes_classes_from_an_archive_and_passes_a_damaged_one_over(tmp_path: Path, cache: Path) -> None:
    """What ``test_classes_come_from_the_archive`` shows of Spark, of a program that starts in no time."""
    cache.mkdir()
    file = class_archive()
    assert start_java(tmp_path, archive_options(file)) == 0
    assert start_java(tmp_path, f"-XX:ArchiveClassesAtExit='{file}' -Xlog:cds*=off") == 0
    file.chmod(0o600)
    assert start_java(tmp_path, archive_options(file)) > 5
    file.write_bytes(b"nothing" * 1000)
    assert start_java(tmp_path, archive_options(file)) == 0


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_classes_come_from_the_archive(tmp_path: Path) -> None:
    count, archived = of_spark(start_spark(tmp_path, archive_options(class_archive())))
    assert count > 1000
    assert archived == 0
    subprocess.run([sys.executable, "-m", "connect_core.spark.class_archive_writing"], check=True, timeout=500)
    file = class_archive()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == [file.name]
    count, archived = of_spark(start_spark(tmp_path, archive_options(file)))
    assert archived > 0.5 * count  # Classes made at run time, as of lambdas, are in no archive.
    # A file that is damaged is passed over by the JVM.
    file.write_bytes(b"nothing" * 1000)
    assert of_spark(start_spark(tmp_path, archive_options(file)))[1] == 0


def test_an_archive_that_others_may_have_written_is_not_used(cache: Path) -> None:
    file = class_archive()
    assert archive_options(file) == ""
    cache.mkdir()
    file.write_bytes(b"archive")
    file.chmod(0o600)
    assert str(file) in archive_options(file)
    file.chmod(0o622)
    assert archive_options(file) == ""
    file.unlink()
    file.symlink_to(__file__)
    assert archive_options(file) == ""


def test_an_empty_file_is_neither_used_nor_written_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    class_archive().touch(mode=0o600)
    assert archive_options(class_archive()) == ""
    monkeypatch.setattr(subprocess, "Popen", None)
    write_archive_later(threading.Event(), 0).join(10)


def test_no_archive_is_written_once_the_worker_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    stopping = threading.Event()
    thread = write_archive_later(stopping, 600)
    assert thread.is_alive()
    stopping.set()
    thread.join(10)
    assert not thread.is_alive()


def test_writing_ends_with_the_worker_and_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the real one does, the process starts another one, which writes the draft."""
    writes = (
        "import os, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], sys.argv[2] % os.getpid()])"
    )
    draft = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"
    cache.mkdir()
    real, processes = subprocess.Popen, list[subprocess.Popen[bytes]]()

    def writing(*_: object, **options: Any) -> subprocess.Popen[bytes]:
        place = class_archive().with_suffix(".%d.part")
        processes.append(real([sys.executable, "-c", writes, draft, str(place)], **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", writing)
    stopping = threading.Event()
    thread = write_archive_later(stopping, 0)
    deadline = time.monotonic() + 30
    while not list(cache.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (writer,) = psutil.Process(processes[0].pid).children()
    stopping.set()
    thread.join(30)
    assert not thread.is_alive()
    writer.wait(10)
    assert list(cache.iterdir()) == []
