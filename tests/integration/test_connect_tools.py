"""Connect's own verifiable connectors, unchanged, as a contract: numbered messages counted while processes die."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connect_core.dev.jars import KAFKA_VERSION, maven_jars
from connect_core.dev.java_runtime import java_runtime
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]

TOOLS = "org.apache.kafka.connect.tools"
JSON = {
    f"{part}.converter{more}": value
    for part in ("key", "value")
    for more, value in (("", "org.apache.kafka.connect.json.JsonConverter"), (".schemas.enable", "false"))
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    modules = [f"org.apache.kafka:{name}:{KAFKA_VERSION}" for name in ("connect-test-plugins", "kafka-server-common")]
    plugins = tmp_path_factory.mktemp("plugins")
    # A folder of plugin.path with two jars would be two plugins; one in it with both is one.
    (plugins / "tools").symlink_to(maven_jars(f"connect-tools-{KAFKA_VERSION}", modules, silent))
    settings = {
        "plugin.path": str(plugins),
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "128m",
    }
    with plugin_worker(tmp_path_factory.mktemp("tools"), bootstrap, settings) as running:
        yield running


def reached(offsets: list[dict[str, dict[str, int]]]) -> int:
    """Return the position of a sink in a topic of one partition."""
    return max((one["offset"]["kafka_offset"] for one in offsets), default=0)


def test_messages_are_numbered_without_a_gap(worker: PluginWorker, topics: Topics) -> None:
    topic = topics.create(1)
    worker.put(
        "verifiable",
        {
            "connector.class": f"{TOOLS}.VerifiableSourceConnector",
            "topic": topic,
            "id": "1",
            "throughput": "200",
            **JSON,
        },
    )

    def count() -> int:
        return len(topics.read(topic))

    first = eventually(count, lambda found: found >= 200)
    worker.kill_java_hosts()
    eventually(count, lambda found: found >= first + 200)
    worker.delete("verifiable")
    values = [int(value or b"-1") for value in topics.read(topic)]
    # Its offset is the number of the last message: none is missing and none is repeated, though its process was killed.
    assert values == list(range(len(values)))
    worker.put(
        "verified",
        {
            "connector.class": f"{TOOLS}.VerifiableSinkConnector",
            "topics": topic,
            "id": "1",
            "consumer.override.auto.offset.reset": "earliest",
            **JSON,
        },
    )
    eventually(lambda: worker.offsets("verified"), lambda found: reached(found) >= len(values))
    worker.delete("verified")
