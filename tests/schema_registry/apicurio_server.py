"""A real Apicurio Registry, started as the embedded stack starts it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connect_core.dev.home import Home
from connect_core.dev.registry import REGISTRY
from tests.integration.ports import free_port

__all__ = ["apicurio_running"]

_SECONDS = 240.0


@contextmanager
def apicurio_running(folder: Path) -> Iterator[str]:
    """Run it for the block, with its data in ``folder`` → the address of its API in Confluent's form."""
    home = Home(folder, folder)
    port = home.folder("registry") / "port"
    if not port.exists():
        port.write_text(f"{free_port()}\n")
    launch = REGISTRY.launch(home, dict(os.environ))
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(launch.command, stdout=log, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + _SECONDS
        while not REGISTRY.is_healthy(home, {}):
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            assert time.monotonic() < end, (folder / "log").read_text()[-3000:]
            time.sleep(0.2)
        yield REGISTRY.exports(home)["CONNECT_SCHEMA_REGISTRY_URL"]
    finally:
        process.terminate()
        process.wait(60)
