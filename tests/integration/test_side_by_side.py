"""Restarts and pauses as Apache Kafka Connect's ``connect_distributed_test.py`` has them, on a standalone worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.plugin_worker import PluginWorker, eventually, parts_of
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


def states(worker: PluginWorker, name: str) -> list[str]:
    return [part["state"] for part in parts_of(worker.status(name))]


def post(worker: PluginWorker, path: str) -> int:
    return int(worker.client.post(path).status_code)


@pytest.mark.parametrize("path", ["restart", "restart?includeTasks=true&onlyFailed=true"])
def test_restart_failed_connector(worker: PluginWorker, topics: Topics, path: str) -> None:
    topic, trouble = topics.create(1), worker.folder / "trouble"
    trouble.write_text("connector")
    worker.put("troubled", {"connector.class": "TroubledSource", "topic": topic, "stream": topic, "count": "3"})
    worker.await_failure("troubled", "the connector is in trouble")
    trouble.unlink()
    assert post(worker, f"/connectors/troubled/{path}") in (202, 204)
    assert len(topics.read(topic, 3, 300)) == 3
    eventually(lambda: states(worker, "troubled"), lambda found: found == ["RUNNING", "RUNNING"])
    worker.delete("troubled")


@pytest.mark.parametrize("path", ["tasks/0/restart", "restart?includeTasks=true&onlyFailed=true"])
def test_restart_failed_task(worker: PluginWorker, topics: Topics, path: str) -> None:
    topic, trouble = topics.create(1), worker.folder / "trouble"
    trouble.write_text("task")
    worker.put("troubled", {"connector.class": "TroubledSource", "topic": topic, "stream": topic, "count": "3"})
    worker.await_failure("troubled", "the task is in trouble")
    # The worker restarts a failed task by itself after a second: until the attempt fails again it shows as RUNNING.
    eventually(lambda: states(worker, "troubled"), lambda found: found == ["RUNNING", "FAILED"])
    trouble.unlink()
    assert post(worker, f"/connectors/troubled/{path}") in (202, 204)
    assert len(topics.read(topic, 3, 300)) == 3
    eventually(lambda: states(worker, "troubled"), lambda found: found == ["RUNNING", "RUNNING"])
    worker.delete("troubled")


def test_pause_and_resume_sink(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "paused.txt"
    topics.write(topic, [b'"one"'], 1)
    worker.put("pausing", {"connector.class": "FlushingSink", "topics": topic, "file": str(file)})
    eventually(lambda: lines_of(file), lambda lines: len(lines) == 1)
    assert worker.client.put("/connectors/pausing/pause").status_code == 202
    eventually(lambda: states(worker, "pausing"), lambda found: found == ["PAUSED", "PAUSED"])
    topics.write(topic, [b'"two"'], 1)
    with pytest.raises(AssertionError, match="still"):
        eventually(lambda: lines_of(file), lambda lines: len(lines) > 1, 5)
    assert worker.client.put("/connectors/pausing/resume").status_code == 202
    eventually(lambda: lines_of(file), lambda lines: lines == ['"one"', '"two"'])
    worker.delete("pausing")


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
