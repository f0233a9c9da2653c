"""A service whose children must all live, over real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from connect_core.dev.child_processes import ChildProcesses
from connect_core.dev.processes import ProcessId
from connect_core.dev.services import SERVICES

_PARENT = """
import subprocess, sys
def child(title):
    code = "import time; time.sleep(600)"
    return subprocess.Popen([title, "-c", code], executable=sys.executable)
kept = [child("rower: 1"), child("rower: 2"), child("guest")]
print("ready", flush=True)
for line in sys.stdin:
    kept.append(child(line.strip()))
    print("ready", flush=True)
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        text=True,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _leader(process: subprocess.Popen[str]) -> ProcessId:
    found = ProcessId.of(process.pid)
    assert found is not None
    return found


def _children(process: subprocess.Popen[str], title: str) -> list[psutil.Process]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        children = psutil.Process(process.pid).children()
        alive = [one for one in children if ProcessId.of(one.pid) is not None]
        found = [one for one in alive if " ".join(one.cmdline()).startswith(title)]
        if found:
            return found
    raise AssertionError(f"no child is called {title}")


def _kill(child: psutil.Process) -> None:
    child.kill()
    while ProcessId.of(child.pid) is not None:
        time.sleep(0.01)


def test_member_that_dies_is_missed_once(parent: subprocess.Popen[str]) -> None:
    child_title, leader = ChildProcesses("rower"), _leader(parent)
    _children(parent, "rower: 2")
    assert not child_title.has_lost(leader, 0.0)
    _kill(_children(parent, "rower: 1")[0])
    assert child_title.has_lost(leader, 2.0)
    assert not child_title.has_lost(leader, 4.0)


def test_others_may_die_and_members_may_join(parent: subprocess.Popen[str]) -> None:
    child_title, leader = ChildProcesses("rower"), _leader(parent)
    assert not child_title.has_lost(leader, 0.0)
    _kill(_children(parent, "guest")[0])
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write("rower: 3\n")
    parent.stdin.flush()
    parent.stdout.readline()
    joined = _children(parent, "rower: 3")[0]
    assert not child_title.has_lost(leader, 2.0)
    _kill(joined)
    assert child_title.has_lost(leader, 4.0)


def test_another_leader_begins_with_a_crew_of_its_own(parent: subprocess.Popen[str]) -> None:
    child_title = ChildProcesses("rower")
    _children(parent, "rower: 2")
    assert not child_title.has_lost(_leader(parent), 0.0)
    this = ProcessId.of(os.getpid())
    assert this is not None
    assert not child_title.has_lost(this, 2.0)


def test_executor_workers_are_the_schedulers_crew() -> None:
    assert {name: one.child_title for name, one in SERVICES.items() if one.child_title} == {
        "airflow-scheduler": "airflow worker -- LocalExecutor"
    }
