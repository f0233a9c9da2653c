"""Plugins of others from a Maven repository, unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from connect_core.dev.java_runtime import java_runtime
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.published_jars import published_jars
from tests.integration.topics import Topics
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(400)]

TRANSFORMS = ("com.github.jcustenborder.kafka.connect", "kafka-connect-transform-common", "0.1.0.14")
SIMULATOR = ("com.github.jcustenborder.kafka.connect", "kafka-connect-simulator", "0.1.118")
PACKAGE = "com.github.jcustenborder.kafka.connect.transform.common"
ROWS = 200


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    plugins = tmp_path_factory.mktemp("plugins")
    # A folder of plugin.path is one plugin, with all its jars.
    (plugins / "transforms").symlink_to(published_jars(*TRANSFORMS))
    (plugins / "simulator").symlink_to(published_jars(*SIMULATOR))
    more = {
        "plugin.path": str(plugins),
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "128m",
        # The simulator's Guice is older than Java's modules; in Connect, KAFKA_OPTS would say it.
        "java.plugin.options": "--add-opens=java.base/java.lang=ALL-UNNAMED",
    }
    with plugin_worker(tmp_path_factory.mktemp("published"), bootstrap, more) as running:
        yield running


def test_transforms_rename_the_fields_of_a_native_source(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    worker.put(
        "renamed",
        {
            "connector.class": "GuideSource",
            "topic": topic,
            "stream": "s",
            "count": str(ROWS),
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "transforms": "hoist,rename,case",
            "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.hoist.field": "line",
            "transforms.rename.type": f"{PACKAGE}.PatternRename$Value",
            "transforms.rename.field.pattern": "^line$",
            "transforms.rename.field.replacement": "row_text",
            "transforms.case.type": f"{PACKAGE}.ChangeCase$Value",
            "transforms.case.from": "LOWER_UNDERSCORE",
            "transforms.case.to": "UPPER_CAMEL",
        },
    )
    values = eventually(lambda: topics.read(topic) if topics.exists(topic) else [], lambda found: len(found) >= ROWS)
    assert [json.loads(value) for value in values] == [{"RowText": f"row {n}"} for n in range(1, ROWS + 1)]
    worker.delete("renamed")


def test_a_source_that_makes_people_up(worker: PluginWorker, topics: Topics) -> None:
    """A plugin of 2017, for Kafka 0.10, whose libraries are older than the runtime's; its processes are killed."""
    topic = topics.create(1)
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    worker.put(
        "people",
        {
            "connector.class": "com.github.jcustenborder.kafka.connect.simulator.SimulatorSourceConnector",
            "topic": topic,
            "key.schema.fields": "email",
            "value.schema.fields": "firstName,lastName,email,age",
            "rate.limit": "500",
            "batch.size": "100",
            **{f"{part}.converter": json_converter for part in ("key", "value")},
            **{f"{part}.converter.schemas.enable": "false" for part in ("key", "value")},
        },
    )

    def count() -> int:
        return len(topics.read(topic))

    first = eventually(count, lambda found: found >= ROWS)
    worker.kill_java_hosts()
    eventually(count, lambda found: found >= first + ROWS)
    worker.delete("people")
    for value in topics.read(topic):
        assert set(json.loads(value or b"")) == {"firstName", "lastName", "email", "age"}
