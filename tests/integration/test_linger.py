"""When a run ends: with the data, or after it has waited for more (``run.linger.ms``)."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer

from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.runs import RunOutcome, RunRequest
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.run.runner import ThreadRunner
from tests.docs.example_run import worker_of
from tests.integration.deployment import eventually

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

NAME = "lingering"


@pytest.fixture
def topic(bootstrap: str) -> str:
    name = f"lingering-{uuid.uuid4().hex[:8]}"
    write(bootstrap, name, "one")
    return name


@contextmanager
def sink(bootstrap: str, folder: Path, topic: str, **settings: str) -> Iterator[ConnectorWorker]:
    config = {
        "connector.class": "FileStreamSink",
        "topics": topic,
        "file": str(folder / "out.txt"),
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        **{key.replace("_", "."): value for key, value in settings.items()},
    }
    with worker_of(folder, bootstrap, NAME, config) as worker:
        yield worker


def write(bootstrap: str, topic: str, line: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, line.encode())
    assert producer.flush(30) == 0


def begun(worker: ConnectorWorker, stopping: threading.Event, *, continuous: bool = True) -> Future[RunOutcome]:
    """Begin a run in a thread."""
    request = RunRequest(NAME, "run", continuous=continuous)
    threads = ThreadPoolExecutor(1)
    run = threads.submit(work_off, request, Driver(worker, stopping), ThreadRunner())
    threads.shutdown(wait=False)
    return run


def test_run_waits_for_more_data_as_long_as_it_was_asked_to(bootstrap: str, topic: str, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    with sink(bootstrap, tmp_path, topic, run_linger_ms="6000") as worker:
        run = begun(worker, threading.Event())
        eventually(lambda: out.exists() and "one" in out.read_text(), bool, 60)
        write(bootstrap, topic, "two")
        eventually(lambda: "two" in out.read_text(), bool, 30)
        moved = time.monotonic()
        outcome = run.result(60)
        assert (outcome.intervals, outcome.records) == (2, 2)
        assert time.monotonic() - moved > 4, "it waits from the last data on"

        # As long as runs may begin intervals, at most; and the end of the process waits for nothing.
        write(bootstrap, topic, "three")
        stopping = threading.Event()
        run = begun(worker, stopping)
        eventually(lambda: "three" in out.read_text(), bool, 30)
        stopping.set()
        assert run.result(4).intervals == 1


@pytest.mark.parametrize("settings", [{}, {"run_linger_ms": "60000", "run_max_ms": "1"}])
def test_run_ends_with_the_data_unless_asked_to_wait(
    bootstrap: str, topic: str, tmp_path: Path, settings: dict[str, str]
) -> None:
    with sink(bootstrap, tmp_path, topic, **settings) as worker:
        began = time.monotonic()
        assert begun(worker, threading.Event()).result(60).intervals == 1
        assert begun(worker, threading.Event()).result(60).intervals == 0
        assert time.monotonic() - began < 50


def test_run_at_a_set_time_waits_for_nothing(bootstrap: str, topic: str, tmp_path: Path) -> None:
    with sink(bootstrap, tmp_path, topic, run_linger_ms="60000") as worker:
        began = time.monotonic()
        assert begun(worker, threading.Event(), continuous=False).result(60).intervals == 1
        assert time.monotonic() - began < 50
