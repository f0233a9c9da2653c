import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.processes import MARKER, ProcessId, end, marked, read_pid_file, write_pid_file

_SLEEP = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"]
_STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)",
]


def _start(command: list[str], home: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, MARKER: str(home)})
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    child = _start(_SLEEP, tmp_path)
    yield child
    child.kill()
    child.communicate()


def test_process_id_needs_the_same_start(sleeper: subprocess.Popen[bytes]) -> None:
    found = ProcessId.of(sleeper.pid)
    assert found is not None
    assert found.is_alive()
    assert not ProcessId(sleeper.pid, "1").is_alive()


def test_process_id_of_a_zombie_is_none(sleeper: subprocess.Popen[bytes]) -> None:
    found = ProcessId.of(sleeper.pid)
    assert found is not None
    end([found], signal.SIGKILL, 5.0)
    assert ProcessId.of(sleeper.pid) is None


def test_pid_file_of_a_reused_pid_names_nobody(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    write_pid_file(file, os.getpid())
    assert read_pid_file(file) == ProcessId.of(os.getpid())
    file.write_text(f"{os.getpid()} 12345\n")
    assert read_pid_file(file) is None


@pytest.mark.parametrize("text", ["", "12", "a b c"])
def test_pid_file_that_is_torn_names_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid").write_text(text)
    assert read_pid_file(tmp_path / "pid") is None


def test_end_spares_a_process_that_took_the_pid(sleeper: subprocess.Popen[bytes]) -> None:
    end([ProcessId(sleeper.pid, "1")], signal.SIGKILL, 0.1)
    assert sleeper.poll() is None


def test_end_kills_what_ignores_the_signal(tmp_path: Path) -> None:
    child = _start(_STUBBORN, tmp_path)
    found = ProcessId.of(child.pid)
    assert found is not None
    end([found], signal.SIGTERM, 0.3)
    assert child.wait(5) == -signal.SIGKILL
    child.communicate()


def test_marked_finds_one_stack_only(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert {process.pid for process in marked(tmp_path)} == {sleeper.pid}
    assert marked(tmp_path / "other") == set()
