"""`connect standalone` as a user runs it: a process, a worker file, connector files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from connect_core.standalone.stopping import STOP_SECONDS
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


@pytest.mark.matrix
def test_guide_example_without_transforms(folder: Path, topics: Topics) -> None:
    values, status = run_source(folder, topics, "", ["foo", "hello world"])
    assert values == [b'"foo"', b'"hello world"']
    assert status == 0


def test_passwords_and_database_are_its_owners_only(folder: Path, topics: Topics) -> None:
    values, status = run_source(folder, topics, "my.password=canary-4711\n", ["foo"])
    assert (values, status) == ([b'"foo"'], 0)
    kept = sorted(folder.glob("connect.offsets.db*"))
    assert {"connect.offsets.db", "connect.offsets.db.key"} <= {file.name for file in kept}
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in kept} == {file.name: "0o600" for file in kept}
    assert [file.name for file in kept if b"canary-4711" in file.read_bytes()] == []


def started_source(folder: Path, topics: Topics) -> tuple[Path, Path]:
    """Return the files of a worker with one source, which has a line to read."""
    connector = folder / "source.properties"
    connector.write_text(SOURCE.format(topic=topics.create(1)))
    (folder / "test.txt").write_text("foo\n")
    return write_worker(folder, topics.bootstrap), connector


def await_log(folder: Path, text: str) -> None:
    end = time.monotonic() + 240
    while text not in (folder / "standalone.log").read_text():
        assert time.monotonic() < end, (folder / "standalone.log").read_text()[-3000:]
        time.sleep(0.1)


def java_of(process: subprocess.Popen[str]) -> psutil.Process:
    """Return the worker's JVM, once it runs."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        for child in psutil.Process(process.pid).children(recursive=True):
            if child.name() == "java":
                return child
        time.sleep(0.1)
    raise AssertionError("no JVM was started")


def test_a_stop_while_spark_starts_waits_for_nothing(folder: Path, topics: Topics) -> None:
    with standalone(folder, *started_source(folder, topics)) as process:
        await_log(folder, "starting Spark in this process")
        java = java_of(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0
        java.wait(10)
    log = (folder / "standalone.log").read_text()
    assert "Spark was still starting: it ends with the worker" in log
    assert "Traceback" not in log
    assert "py4j" not in log


@pytest.mark.matrix
def test_a_stop_is_bounded_where_spark_hangs(folder: Path, topics: Topics) -> None:
    worker, connector = started_source(folder, topics)
    with standalone(folder, worker, connector) as process:
        await_log(folder, "starting Spark in this process")
        topic = connector.read_text().split("topic=")[1].strip()
        assert topics.read(topic, 1, seconds=240) == [b'"foo"']
        java = java_of(process)
        java.suspend()
        with (folder / "test.txt").open("a") as file:
            file.write("bar\n")
        process.send_signal(signal.SIGTERM)
        # A second more, for the machine to notice.
        assert process.wait(STOP_SECONDS + 1) in (0, 1)
        java.wait(10)
    assert "Traceback" not in (folder / "standalone.log").read_text()


def test_a_second_signal_ends_the_worker_at_once(folder: Path, topics: Topics) -> None:
    worker, connector = started_source(folder, topics)
    with standalone(folder, worker, connector) as process:
        topic = connector.read_text().split("topic=")[1].strip()
        assert topics.read(topic, 1, seconds=240) == [b'"foo"']
        java_of(process).suspend()
        process.send_signal(signal.SIGTERM)
        await_log(folder, "Kafka Connect stopping")
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, 1)
