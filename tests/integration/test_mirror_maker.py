"""MirrorMaker 2's source, unchanged, while its processes die."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from connect_core.dev.jars import maven_jars
from connect_core.dev.java_runtime import java_runtime
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
MIRROR = [f"org.apache.kafka:{name}:4.3.1" for name in ("connect-mirror", "connect-mirror-client")]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    plugins = tmp_path_factory.mktemp("plugins")
    # A folder of plugin.path is one plugin, with all its jars.
    shutil.copytree(maven_jars("connect-mirror-4.3.1", MIRROR, silent), plugins / "mirror")
    more = {
        "plugin.path": str(plugins),
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "256m",
    }
    with plugin_worker(tmp_path_factory.mktemp("kafka-plugins"), bootstrap, more) as running:
        yield running


def test_a_topic_is_mirrored(worker: PluginWorker, topics: Topics, bootstrap: str) -> None:
    topic = topics.create(2)
    topics.write(topic, [b"%d" % number for number in range(1000)], 2)
    worker.put(
        "mirror",
        {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "source.cluster.alias": "near",
            "target.cluster.alias": "far",
            "source.cluster.bootstrap.servers": bootstrap,
            "target.cluster.bootstrap.servers": bootstrap,
            "topics": topic,
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "sync.topic.acls.enabled": "false",
            "source.consumer.isolation.level": "read_committed",
            "key.converter": BYTES,
            "value.converter": BYTES,
        },
    )
    copy = f"near.{topic}"

    def copied() -> list[int]:
        return sorted(int(value or b"-1") for value in topics.read(copy)) if topics.exists(copy) else []

    eventually(copied, lambda found: len(found) >= 1000)
    worker.kill_java_hosts()
    topics.write(topic, [b"%d" % number for number in range(1000, 2000)], 2)
    eventually(copied, lambda found: len(found) >= 2000)
    assert copied() == list(range(2000))
    worker.delete("mirror")
