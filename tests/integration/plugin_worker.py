"""A standalone worker with connectors of an installed distribution, and its REST API."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from connect_core.configs import load_worker
from connect_core.settings import WorkerMode
from connect_core.store import Database
from connect_core.store.record_errors import SkippedLine, history
from tests.integration import acme_connectors
from tests.integration.distribution import install
from tests.integration.test_standalone import plain_environment, write_worker

CLASSES = {
    f"acme.{name}Connector": name
    for name in (
        *("GuideSource", "AcknowledgingSource", "PairsSource", "HangingSource", "RaisingSource"),
        "TroubledSource",
        *("FlushingSink", "OwnOffsetsSink", "PickySink"),
    )
}
"""Entry point → class."""


@dataclass(frozen=True, slots=True)
class PluginWorker:
    """A running worker: ``folder`` is its file root."""

    folder: Path
    file: Path
    client: httpx.Client
    pid: int

    def java_hosts(self) -> list[psutil.Process]:
        """Return the Java processes of its plugins; those of other tests that run beside are not its own."""
        return [one for one in psutil.Process(self.pid).children(recursive=True) if is_java_host(one)]

    def kill_java_hosts(self) -> None:
        """Kill its Java processes."""
        for one in self.java_hosts():
            with suppress(psutil.NoSuchProcess):
                one.kill()

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector or give it another configuration."""
        answer = self.client.put(f"/connectors/{name}/config", json={"name": name, "tasks.max": "1", **config})
        assert answer.status_code in (200, 201), answer.text

    def restart(self, name: str) -> None:
        """Restart a connector with its failed tasks; refused while nothing has failed."""
        self.client.post(f"/connectors/{name}/restart", params={"includeTasks": "true", "onlyFailed": "true"})

    def delete(self, name: str) -> None:
        """Delete a connector."""
        assert self.client.delete(f"/connectors/{name}").status_code == 204

    def status(self, name: str) -> dict[str, Any]:
        """Return a connector's status."""
        answer = self.client.get(f"/connectors/{name}/status")
        return dict(answer.json()) if answer.status_code == 200 else {}

    def offsets(self, name: str) -> list[Any]:
        """Return the offsets of a connector as REST shows them."""
        return list(self.client.get(f"/connectors/{name}/offsets").json()["offsets"])

    def skipped(self, name: str) -> list[SkippedLine]:
        """Return the summary of skipped records."""
        database = Database(load_worker(self.file, {}, WorkerMode.STANDALONE).database_url)
        try:
            with database.read() as connection:
                return history(connection, name)
        finally:
            database.close()

    def explain(self, name: str) -> str:
        """Return what a failed test needs: status, skipped records, each Java process's threads, the log's end."""
        for one in self.java_hosts():
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGQUIT)
        time.sleep(1)
        log = (self.folder / "standalone.log").read_text()[-12_000:]
        return f"{log}\n{self.skipped(name)}\n{self.status(name)}"

    def await_failure(self, name: str, text: str, seconds: float = 180) -> str:
        """Wait until the connector or its task has failed with such a text → the whole trace."""

        def trace() -> str:
            return "".join(part.get("trace", "") for part in parts_of(self.status(name)) if part["state"] == "FAILED")

        return str(eventually(trace, lambda found: text in found, seconds))


def is_java_host(process: psutil.Process) -> bool:
    try:
        return "connectcore.Host" in process.cmdline()
    except psutil.Error:
        return False


def parts_of(status: dict[str, Any]) -> list[dict[str, Any]]:
    return [status["connector"], *status["tasks"]] if status else []


def eventually(read: Callable[[], Any], is_good: Callable[[Any], bool], seconds: float = 180) -> Any:
    """Read until the value is good and return it; fail with the last one."""
    end = time.monotonic() + seconds
    while not is_good(value := read()):
        assert time.monotonic() < end, f"after {seconds} s still {value!r}"
        time.sleep(0.2)
    return value


@contextmanager
def plugin_worker(folder: Path, bootstrap: str, more: Mapping[str, str] | None = None) -> Iterator[PluginWorker]:
    """Run a worker that sees the installed connectors, with ``more`` settings, until the block ends."""
    path = install(folder / "installed", Path(acme_connectors.__file__), CLASSES)
    file = write_worker(folder, bootstrap)
    listener = file.read_text().partition("listeners=")[2].strip()
    with file.open("a") as settings:
        settings.writelines(f"{key}={value}\n" for key, value in (more or {}).items())
    command = [sys.executable, "-m", "connect_core.cli.app", "standalone", str(file)]
    environment = plain_environment()
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path), environment.get("PYTHONPATH")]))
    # As a shell, or the process that started it, may have left it: a standalone worker has its own Spark all the same.
    environment["SPARK_CONNECT_MODE_ENABLED"] = "1"
    log = folder / "standalone.log"
    with log.open("a") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        with httpx.Client(base_url=listener, timeout=180) as client:
            eventually(lambda: answers(client) or process.poll() is not None, bool)
            assert process.poll() is None, log.read_text()[-3000:]
            yield PluginWorker(folder, file, client, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(90)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/").status_code == 200
    except httpx.TransportError:
        return False
