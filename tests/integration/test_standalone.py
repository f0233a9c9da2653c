"""`connect standalone` as a user runs it: a process, a worker file, connector files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.ports import free_port
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

SOURCE = """\
name=local-file-source
connector.class=FileStreamSource
tasks.max=1
file=test.txt
topic={topic}
"""
TRANSFORMS = """\
transforms=MakeMap, InsertSource
transforms.MakeMap.type=org.apache.kafka.connect.transforms.HoistField$Value
transforms.MakeMap.field=line
transforms.InsertSource.type=org.apache.kafka.connect.transforms.InsertField$Value
transforms.InsertSource.static.field=data_source
transforms.InsertSource.static.value=test-file-source
"""


def write_worker(folder: Path, bootstrap: str) -> Path:
    worker = folder / "worker.properties"
    worker.write_text(
        f"bootstrap.servers={bootstrap}\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "key.converter.schemas.enable=false\nvalue.converter.schemas.enable=false\n"
        f"offset.storage.file.filename={folder}/connect.offsets\n"
        "offset.storage.partitions=1\n"
        f"listeners=http://127.0.0.1:{free_port()}\n"
    )
    return worker


def plain_environment() -> dict[str, str]:
    """Return the variables a process gets when nothing of connect-core is set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CONNECT_")}


@contextmanager
def standalone(folder: Path, *files: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "connect_core.cli.app", "standalone", *map(str, files)]
    environment = plain_environment()
    with (folder / "standalone.log").open("a") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def run_source(folder: Path, topics: Topics, extra: str, lines: Sequence[str]) -> tuple[list[bytes | None], int]:
    topic = topics.create(1)
    connector = folder / "source.properties"
    connector.write_text(SOURCE.format(topic=topic) + extra)
    (folder / "test.txt").write_text("".join(f"{line}\n" for line in lines))
    with standalone(folder, write_worker(folder, topics.bootstrap), connector) as process:
        values = topics.read(topic, len(lines), seconds=240)
        process.send_signal(signal.SIGTERM)
        return values, process.wait(60)


def test_guide_example_with_transforms(folder: Path, topics: Topics) -> None:
    values, status = run_source(folder, topics, TRANSFORMS, ["foo", "hello world"])
    assert values == [
        b'{"line":"foo","data_source":"test-file-source"}',
        b'{"line":"hello world","data_source":"test-file-source"}',
    ]
    assert status == 0


def test_guide_example_without_transforms(folder: Path, topics: Topics) -> None:
    values, status = run_source(folder, topics, "", ["foo", "hello world"])
    assert values == [b'"foo"', b'"hello world"']
    assert status == 0
