"""Processes of tasks between two intervals: kept, used again, and replaced where something is left behind."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from connect_core.api.flow import Prepared
from connect_core.errors import ConnectError
from connect_core.java_host.host import JavaHost
from connect_core.java_plugins.hosts import IdleHosts, places_of
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.source import JavaSourceTask
from tests.java_plugins.equipment import (
    CONFIG,
    TaskContext,
    flow,
    host_settings,
    loaded,
    next_batch,
    process_of,
    started,
)

pytestmark = pytest.mark.slow


def process_of_an_interval(plugins: JavaPlugins, **config: str) -> int:
    """Run a task for one interval and return the number of its process."""
    task: JavaSourceTask = loaded(plugins, "testing.CountingSource", "source").tasks()
    with started(task, CONFIG | config, flow(), TaskContext()):
        next_batch(task)
        return int(process_of(task).pid)


def test_the_next_interval_of_a_connector_has_the_same_process(plugins: JavaPlugins) -> None:
    first = process_of_an_interval(plugins, name="kept")
    assert process_of_an_interval(plugins, name="kept") == first


@pytest.mark.parametrize("other", [{"name": "another"}, {"java.plugin.heap": "100m"}])
def test_another_connector_or_heap_has_another_process(plugins: JavaPlugins, other: dict[str, str]) -> None:
    first = process_of_an_interval(plugins, name="one")
    assert process_of_an_interval(plugins, **{"name": "one", **other}) != first


def test_it_ends_when_no_interval_comes(plugins: JavaPlugins) -> None:
    task: JavaSourceTask = loaded(plugins, "testing.CountingSource", "source").tasks()
    with started(task, {**CONFIG, "name": "idle"}, flow(), TaskContext()):
        process = process_of(task)
    assert not process.wait(0.5)
    assert process.wait(plugins.idle_seconds + 5)


def test_a_process_in_which_a_plugin_failed_is_not_used_again(plugins: JavaPlugins) -> None:
    task: JavaSourceTask = loaded(plugins, "testing.CountingSource", "source").tasks()
    config = {**CONFIG, "name": "failing", "mode": "throw", "trouble.at": "1"}
    with started(task, config, flow(), TaskContext()):
        process = process_of(task)
        with pytest.raises(ConnectError, match="poll failed"):
            next_batch(task)
    assert process.wait(0)


def test_a_start_that_fails_in_a_used_process_is_tried_in_a_new_one(plugins: JavaPlugins) -> None:
    """The task registers a bean and leaves it registered: in the same process it cannot start again."""
    for _ in range(2):
        task: JavaSourceTask = loaded(plugins, "io.debezium.testing.SnapshotSource", "source").tasks()
        config = {**CONFIG, "name": "beans", "task.class": "io.debezium.testing.SnapshotSource$SnapshotTask"}
        with started(task, config, flow(), TaskContext()):
            assert len(next_batch(task).polled) == 6


def test_no_more_are_kept_than_stated() -> None:
    hosts = IdleHosts(60.0, most=1)
    one, two = (hosts.take(host_settings(), name) for name in ("one", "two"))
    hosts.keep(one)
    hosts.keep(two)
    assert one.process.wait(5)
    assert hosts.take(host_settings(), "two") is two
    two.close()


def test_one_that_was_killed_while_idle_is_replaced() -> None:
    hosts = IdleHosts(60.0)
    first = hosts.take(host_settings(), "one")
    hosts.keep(first)
    first.process.kill()
    second = hosts.take(host_settings(), "one")
    assert second is not first
    assert second.is_alive
    second.close()


def test_only_known_plugins_are_loaded(plugins: JavaPlugins) -> None:
    """Nothing is searched for: a process with one class has no other of the same folder."""
    source = plugins.catalog.find("testing.CountingSource", "source")
    assert source is not None
    host = JavaHost.start(plugins.settings.with_plugins(places_of([source])), "one class")
    try:
        assert host.open("connector", {"connector": source.name, "config": CONFIG})
        with pytest.raises(ConnectError, match=r"testing\.ListingSink"):
            host.open("connector", {"connector": "testing.ListingSink", "config": {}})
    finally:
        host.close()


@pytest.mark.parametrize("gone", [{"class": "testing.Removed"}, {"location": "/removed/since"}])
def test_a_plugin_that_was_removed_is_left_out_and_the_others_are_there(
    plugins: JavaPlugins, caplog: pytest.LogCaptureFixture, gone: dict[str, str]
) -> None:
    """As of a REST server that goes on while a folder of plugin.path is taken away."""
    source = plugins.catalog.find("testing.CountingSource", "source")
    sink = plugins.catalog.find("testing.ListingSink", "sink")
    assert source is not None
    assert sink is not None
    removed = {**places_of([sink])[0], **gone}
    host = JavaHost.start(plugins.settings.with_plugins([*places_of([source]), removed]), "a removed class")
    try:
        assert host.open("connector", {"connector": source.name, "config": CONFIG})
        with pytest.raises(ConnectError, match=re.escape(removed["class"])):
            host.open("connector", {"connector": removed["class"], "config": {}})
    finally:
        host.close()
    assert f"Plugin {removed['class']} is no longer in plugin.path" in caplog.text


def test_records_of_a_long_transaction_are_not_kept(plugins: JavaPlugins) -> None:
    """A task that is not notified of each record: a snapshot of any size fits into its heap."""
    told = Path(plugins.settings.plugin_path[0]).parent / f"told-{time.monotonic_ns()}"
    task: JavaSourceTask = loaded(plugins, "testing.CountingSource", "source").tasks()
    config = {
        **CONFIG,
        "name": "long",
        "limit": "400000",
        "batch": "5000",
        "told": str(told),
        "task.class": "io.debezium.connector.common.BaseSourceTask",
        "java.plugin.heap": "48m",
    }
    try:
        with started(task, config, flow(), TaskContext()):
            batches: list[Prepared] = []
            while sum(len(one.polled) for one in batches) < 400_000:
                batches.append(next_batch(task))
            with pytest.raises(ConnectError, match="Batch 1 is over"):
                batches[0].records[0]
            record = batches[-1].records[len(batches[-1].polled) - 1]
            assert record.value == "row 400000"
            for one in batches:
                assert task.commit_batch(one.polled, None)
            task.commit()
        lines = [line for line in told.read_text().splitlines() if line.startswith("last ")]
        assert len(lines) == len(batches)
        assert lines[-1] == "last 400000"
    finally:
        told.unlink(missing_ok=True)
