"""Connect's Java plugins, unchanged, in Spark tasks of a standalone worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from connect_core.dev.jars import maven_jars
from connect_core.dev.java_runtime import java_runtime
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.java_plugins.equipment import silent, test_plugin

pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]

TIMEOUT = 180.0
STRINGS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}
FILE = "org.apache.kafka.connect.file.FileStream{}Connector"


def worker_settings() -> dict[str, str]:
    """Return the settings of a worker with these Java plugins."""
    files = maven_jars("connect-file-4.3.1", ["org.apache.kafka:connect-file:4.3.1"], silent)
    return {
        "plugin.path": f"{test_plugin()},{files}",
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "128m",
        "java.plugins.preferred": "org.apache.kafka.connect.file.*",
    }


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    with plugin_worker(tmp_path_factory.mktemp("java"), bootstrap, worker_settings()) as running:
        yield running


def rows(first: int, last: int) -> list[bytes]:
    return [b"row %d" % number for number in range(first, last + 1)]


def source(topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "testing.CountingSource", "topic": topic, "task": "0", **STRINGS, **more}


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_a_source_goes_on_where_its_offsets_are(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    worker.put("counting", source(topic, limit="20"))
    assert topics.read(topic, 20, TIMEOUT) == rows(1, 20)
    eventually(
        lambda: worker.offsets("counting"),
        lambda found: found == [{"partition": {"task": "0"}, "offset": {"at": 20}}],
    )
    worker.put("counting", source(topic, limit="30"))
    assert topics.read(topic, 30, TIMEOUT) == rows(1, 30)
    worker.delete("counting")


def test_several_tasks_read_their_own_shares(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    worker.put("shared", {**source(topic, limit="5"), "tasks.max": "3"})
    assert sorted(one or b"" for one in topics.read(topic, 15, TIMEOUT)) == sorted(rows(1, 5) * 3)
    worker.delete("shared")


def test_commits_are_told_with_the_places_of_records(worker: PluginWorker, topics: Topics) -> None:
    topic, told = topics.create(1), worker.folder / "told.txt"
    worker.put("telling", source(topic, limit="4", told=str(told)))
    lines = eventually(lambda: lines_of(told), lambda lines: "commit" in lines)
    assert [line for line in lines if line.startswith("record")] == [f"record {n + 1} at {n}" for n in range(4)]
    worker.delete("telling")


def test_transactions_end_where_the_plugin_says(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    worker.put("bounded", source(topic, limit="20", batch="20", **{"transaction.boundary": "connector"}))
    kept = [row for number, row in enumerate(rows(1, 20), 1) if not 5 < number % 10 <= 9]
    assert topics.read(topic, len(kept), TIMEOUT) == kept
    worker.delete("bounded")


def test_own_transforms_and_those_of_connect_form_one_chain(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    chain = {
        "transforms": "shout,hoist",
        "transforms.shout.type": "testing.Shout",
        "transforms.shout.dropped": "row 2",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
    }
    worker.put("mixed", {**source(topic, limit="3"), **chain, "value.converter": "JsonConverter"})
    assert topics.read(topic, 2, TIMEOUT) == [
        b'{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"line"}],"optional":false},'
        b'"payload":{"line":"ROW %d"}}' % number
        for number in (1, 3)
    ]
    worker.delete("mixed")


def test_a_java_transform_in_a_python_source(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    guide = {"connector.class": "GuideSource", "topic": topic, "stream": "s", "count": "3", **STRINGS}
    shout = {"transforms": "shout", "transforms.shout.type": "testing.Shout", "transforms.shout.refused": "row 2"}
    worker.put("guide", {**guide, **shout, "errors.tolerance": "all"})
    assert topics.read(topic, 2, TIMEOUT) == [b"ROW 1", b"ROW 3"], worker.explain("guide")
    worker.delete("guide")


def test_a_java_converter_in_a_python_source(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    guide = {"connector.class": "GuideSource", "topic": topic, "stream": "s", "count": "2", **STRINGS}
    worker.put("reversed", {**guide, "value.converter": "testing.ReversingConverter"})
    assert topics.read(topic, 2, TIMEOUT) == [b"1 wor", b"2 wor"]
    worker.delete("reversed")


def test_connect_file_copies_a_file_through_kafka(worker: PluginWorker, topics: Topics) -> None:
    topic, file, copy = topics.create(1), worker.folder / "in.txt", worker.folder / "out.txt"
    file.write_text("one\ntwo\n")
    worker.put("file-source", {"connector.class": FILE.format("Source"), "file": str(file), "topic": topic, **STRINGS})
    worker.put("file-sink", {"connector.class": FILE.format("Sink"), "file": str(copy), "topics": topic, **STRINGS})
    eventually(lambda: lines_of(copy), lambda lines: lines == ["one", "two"])
    with file.open("a") as more:
        more.write("three\n")
    eventually(lambda: lines_of(copy), lambda lines: lines == ["one", "two", "three"])
    worker.delete("file-source")
    worker.delete("file-sink")


def test_dead_letters_of_a_java_sink(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "errant.txt"
    topics.write(topic, rows(0, 5), 1)
    dead = f"dead-{topic}"
    sink = {"connector.class": "testing.ListingSink", "topics": topic, "file": str(file), "mode": "errant", **STRINGS}
    errors = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    worker.put("errant", {**sink, **errors})
    eventually(
        lambda: worker.offsets("errant"), lambda found: [one["offset"] for one in found] == [{"kafka_offset": 6}]
    )
    assert topics.read(dead, 3) == rows(1, 5)[::2]
    assert [line.partition(" null ")[2] for line in lines_of(file) if "@" in line] == ["row 0", "row 2", "row 4"]
    worker.delete("errant")


def test_a_sink_goes_on_from_the_offsets_it_keeps(worker: PluginWorker, topics: Topics) -> None:
    topic, file = topics.create(1), worker.folder / "rewound.txt"
    topics.write(topic, rows(0, 5), 1)
    sink = {"connector.class": "testing.ListingSink", "topics": topic, "file": str(file), "mode": "rewind", **STRINGS}
    worker.put("rewinding", sink)
    eventually(lambda: worker.offsets("rewinding"), bool)
    assert [line.partition(" null ")[2] for line in lines_of(file) if "@" in line] == ["row 3", "row 4", "row 5"]
    worker.delete("rewinding")


@pytest.mark.parametrize(
    ("mode", "text"),
    [("throw", "poll failed with [hidden]"), ("error", "java.lang.NoClassDefFoundError: some/Missing")],
)
def test_a_failure_is_one_clear_trace(worker: PluginWorker, topics: Topics, mode: str, text: str) -> None:
    topic = topics.create(1)
    worker.put(f"failing-{mode}", source(topic, mode=mode, secret="hunter2"))
    trace = worker.await_failure(f"failing-{mode}", text)
    assert "at testing.CountingSource$CountingTask.poll(CountingSource.java" in trace
    assert "hunter2" not in trace
    worker.delete(f"failing-{mode}")


@pytest.mark.matrix
def test_no_process_is_left_of_an_idle_connector(worker: PluginWorker) -> None:
    eventually(worker.java_hosts, lambda found: found == [], 90)


def test_rest_shows_the_plugins(worker: PluginWorker) -> None:
    listed: list[Mapping[str, Any]] = worker.client.get("/connector-plugins?connectorsOnly=false").json()
    mine = {one["class"]: (one["type"], one["version"]) for one in listed if one["class"].startswith("testing.")}
    assert mine["testing.CountingSource"] == ("source", "1.2.3")
    assert mine["testing.Shout"] == ("transformation", "undefined")
    settings = worker.client.get("/connector-plugins/CountingSource/config").json()
    assert [one["name"] for one in settings][:4] == ["topic", "limit", "secret", "mode"]
    config = {"connector.class": "testing.CountingSource", "name": "x", "limit": "-1", "topic": "t"}
    answer = worker.client.put("/connector-plugins/CountingSource/config/validate", json=config).json()
    wrong = {one["value"]["name"]: one["value"]["errors"] for one in answer["configs"] if one["value"]["errors"]}
    assert list(wrong) == ["limit"]
    assert "Value must be at least 0" in wrong["limit"][0]
