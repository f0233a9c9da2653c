"""A standalone worker in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.integration.ports import free_port

_START_SECONDS = 120.0
_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Worker:
    """Where its API is, and the folder its connectors may use."""

    api: str
    folder: Path

    @property
    def page(self) -> str:
        return f"{self.api}/ui/"


@contextmanager
def running_worker(folder: Path, bootstrap: str) -> Iterator[Worker]:
    port = free_port()
    settings = folder / "worker.properties"
    settings.write_text(
        f"bootstrap.servers={bootstrap}\n"
        "key.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.storage.StringConverter\n"
        f"offset.storage.file.filename={folder}/connect.offsets\n"
        "offset.storage.partitions=1\n"
        f"listeners=http://127.0.0.1:{port}\n"
        f"file.roots={folder}\n"
    )
    command = [sys.executable, "-m", "connect_core.cli.app", "standalone", str(settings)]
    with (folder / "standalone.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        worker = Worker(f"http://127.0.0.1:{port}", folder)
        _wait(worker, process)
        yield worker
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(worker: Worker, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"{worker.api}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    log = (worker.folder / "standalone.log").read_text()
    raise AssertionError(f"the standalone worker did not start:\n{log[-3000:]}")
