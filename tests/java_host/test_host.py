"""The life of a host: how it starts, what it says, and that it never outlives who needs it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from connect_core.errors import ConfigError, ConnectError
from connect_core.java_host.errors import HostEndedError, HostTimeoutError
from connect_core.java_host.host import JavaHost
from connect_core.java_host.settings import heap_bytes
from tests.java_plugins.equipment import host_settings

pytestmark = pytest.mark.slow

_OWNER = """
import sys, time
from connect_core.java_host.host import JavaHost
from tests.java_plugins.equipment import host_settings
host = JavaHost.start(host_settings(), "owned")
spec = {"name": "c", "connector": "testing.CountingSource", "task": "testing.CountingSource$CountingTask",
        "config": {"name": "c", "topic": "t", "task": "0", "mode": sys.argv[1], "trouble.at": "1"}, "offsets": [],
        "flow": {"stages": []}, "limits": {"records": 10, "bytes": 1000, "lingerMillis": 10}}
lane = host.open("source", spec)
print(host.process.pid, flush=True)
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


@pytest.mark.parametrize("mode", ["", "hang", "hang-start", "hang-stop", "child"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_host_ends_with_its_worker(mode: str, end: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _OWNER, mode], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.send_signal(end)
        owner.wait(10)
        assert within(5, lambda: is_gone(pid))


def test_what_a_plugin_starts_ends_with_its_host() -> None:
    host = JavaHost.start(host_settings(), "parent")
    config = {"name": "c", "topic": "t", "task": "0", "mode": "child", "trouble.at": "1"}
    spec = {"name": "c", "connector": "testing.CountingSource", "task": "testing.CountingSource$CountingTask"}
    limits = {"records": 10, "bytes": 1000, "lingerMillis": 10}
    lane = host.open("source", {**spec, "config": config, "offsets": [], "flow": {"stages": []}, "limits": limits})
    lane.call("source.started")
    process = psutil.Process(host.process.pid)
    assert within(5, lambda: bool(process.children()))
    (child,) = process.children()
    host.close()
    assert within(5, lambda: is_gone(child.pid))


def test_a_killed_host_is_told_by_every_call() -> None:
    host = JavaHost.start(host_settings(), "killed")
    os.kill(host.process.pid, signal.SIGKILL)
    with pytest.raises(HostEndedError, match="The Java process of killed ended"):
        host.call("host.threads")
    with pytest.raises(HostEndedError):
        host.open("catalog", {})
    host.close()


def test_a_stopped_host_does_not_hold_up_its_end() -> None:
    host = JavaHost.start(host_settings(), "stopped")
    os.kill(host.process.pid, signal.SIGSTOP)
    # The signal takes a moment to arrive.
    assert within(5, lambda: psutil.Process(host.process.pid).status() == psutil.STATUS_STOPPED)
    with pytest.raises(HostTimeoutError, match="did not respond"):
        host.call("host.threads", seconds=0.5)
    host.close(seconds=1.0)
    assert is_gone(host.process.pid)


def test_nothing_of_the_worker_is_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONNECT_DATABASE_URL", "postgresql://user:secret@db/connect")
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    host = JavaHost.start(host_settings(), "clean")
    process = psutil.Process(host.process.pid)
    environment, command = process.environ(), " ".join(process.cmdline())
    host.close()
    assert "secret" not in " ".join(environment.values())
    assert environment["AWS_REGION"] == "eu-central-1"
    assert "secret" not in command


def test_log_lines_come_to_loggers_of_their_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="org.apache.kafka")
    host = JavaHost.start(host_settings(), "logging")
    host.close()
    host.log.last_lines()
    said = {record.name: record.getMessage() for record in caplog.records}
    assert "logging: Unable to load modern Subject" in said["org.apache.kafka.common.internals.CompositeStrategy"]


def test_levels_can_be_changed(host: JavaHost) -> None:
    host.call("host.levels", {"levels": {"root": logging.ERROR}})
    host.call("host.levels", {"levels": {"root": logging.INFO}})


def test_where_threads_are_can_be_asked(host: JavaHost) -> None:
    lane = host.open("catalog", {})
    # The thread answers first and waits for work a moment later.
    assert within(5, lambda: f"lane {lane.target} WAITING" in host.threads())
    lane.close()


def test_missing_jars_are_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="connect java fetch"):
        JavaHost.start(replace(host_settings(), libs=tmp_path), "none")


def test_a_start_that_fails_says_what_java_said() -> None:
    settings = replace(host_settings(), options=("-XX:NoSuchOption",))
    with pytest.raises(HostEndedError) as raised:
        JavaHost.start(settings, "wrong")
    assert "NoSuchOption" in "".join(getattr(raised.value, "__notes__", ()))


@pytest.mark.parametrize(("text", "count"), [("512m", 512 << 20), ("2G", 2 << 30), ("1024", 1024)])
def test_heap_is_read_as_java_reads_it(text: str, count: int) -> None:
    assert heap_bytes("java.plugin.heap", text) == count


@pytest.mark.parametrize("text", ["", "x", "0m", "1t", "-1m"])
def test_a_bad_heap_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"java\.plugin\.heap"):
        heap_bytes("java.plugin.heap", text)
