"""Bad input: one clear error that names key, value and remedy; nothing half-done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_standalone import plain_environment, write_worker
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

MATRIX = pytest.mark.matrix
"""One process or another, the message is that of the configuration's tests."""
FILE_SINK = {"name": "s", "connector.class": "FileStreamSink", "topics": "t", "file": "out.txt"}


def start(folder: Path, worker: Path, config: dict[str, str]) -> tuple[int, str]:
    """Run `connect standalone` with one connector that it must refuse."""
    connector = folder / "connector.properties"
    connector.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    command = [sys.executable, "-m", "connect_core.cli.app", "standalone", str(worker), str(connector)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=plain_environment())
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            {"connector.class": "NoSuchConnector"},
            ["NoSuchConnector", "available connectors are"],
            id="class",
            marks=MATRIX,
        ),
        pytest.param({"file": "/etc/out.txt"}, ["file", "/etc/out.txt", "file.roots"], id="outside file.roots"),
        pytest.param({"tasks.max": "0"}, ["tasks.max", "0", "at least 1"], id="no tasks", marks=MATRIX),
        pytest.param({"topics": ""}, ["Must configure one of topics or topics.regex"], id="no topics", marks=MATRIX),
        pytest.param(
            {"topics.regex": "t.*"}, ["topics and topics.regex are mutually exclusive"], id="both", marks=MATRIX
        ),
    ],
)
def test_connector_is_refused(folder: Path, topics: Topics, change: dict[str, str], expected: list[str]) -> None:
    status, output = start(folder, write_worker(folder, topics.bootstrap), {**FILE_SINK, **change})
    assert status == 1
    for text in expected:
        assert text in output
    assert "Traceback" not in output
    assert not (folder / "out.txt").exists()


@pytest.mark.matrix
def test_missing_broker_is_named(folder: Path) -> None:
    worker = write_worker(folder, "127.0.0.1:1")
    status, output = start(folder, worker, FILE_SINK)
    assert status == 1
    assert "127.0.0.1:1" in output
    assert "Traceback" not in output


@pytest.mark.matrix
def test_unusable_database_is_named(folder: Path, topics: Topics) -> None:
    worker = write_worker(folder, topics.bootstrap)
    url = "postgresql+psycopg://nobody:secret@127.0.0.1:1/none"
    with worker.open("a") as settings:
        settings.write(f"database.url={url}\n")
    status, output = start(folder, worker, FILE_SINK)
    assert status == 1
    assert "127.0.0.1:1" in output
    assert "secret" not in output
