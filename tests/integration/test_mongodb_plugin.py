"""MongoDB's own sink, unchanged: a topic into a collection.

Its source is not tested: change events of the server that can be had name no collection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.collection import Collection

from connect_core.dev.java_runtime import java_runtime
from tests.integration.mongo_server import mongo_running
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.published_jars import published_jars
from tests.integration.topics import Topics
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]

PLUGIN = ("org.mongodb.kafka", "mongo-kafka-connect", "2.0.1")
PACKAGE = "com.mongodb.kafka.connect"
ROWS = 2_000
STRINGS = {f"{part}.converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}

Documents = Collection[dict[str, Any]]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mongo_running(tmp_path_factory.mktemp("mongo")) as found:
        yield found


@pytest.fixture
def documents(address: str, request: pytest.FixtureRequest) -> Iterator[Documents]:
    """A collection; a document in it can be read, so the server works."""
    with MongoClient[dict[str, Any]](address, serverSelectionTimeoutMS=10_000) as client:
        found = client["connect"][request.node.name]
        found.insert_one({"_id": "first"})
        assert found.find_one() == {"_id": "first"}
        found.delete_one({"_id": "first"})
        yield found


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    plugins = tmp_path_factory.mktemp("plugins")
    (plugins / "mongodb").symlink_to(published_jars(*PLUGIN))
    more: dict[str, str] = {
        "plugin.path": str(plugins),
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "128m",
    }
    with plugin_worker(tmp_path_factory.mktemp("mongodb"), bootstrap, more) as running:
        yield running


def test_a_topic_becomes_a_collection(worker: PluginWorker, topics: Topics, address: str, documents: Documents) -> None:
    topic = topics.create(2)
    topics.write(topic, [json.dumps({"_id": n, "text": f"row {n}"}).encode() for n in range(ROWS)], 2)
    worker.put(
        "to-mongo",
        {
            "connector.class": f"{PACKAGE}.MongoSinkConnector",
            "tasks.max": "2",
            "topics": topic,
            "connection.uri": address,
            "database": "connect",
            "collection": documents.name,
            "document.id.strategy": f"{PACKAGE}.sink.processor.id.strategy.ProvidedInValueStrategy",
            "writemodel.strategy": f"{PACKAGE}.sink.writemodel.strategy.ReplaceOneDefaultStrategy",
            "consumer.override.auto.offset.reset": "earliest",
            **STRINGS,
        },
    )
    eventually(lambda: documents.count_documents({}), lambda found: found > 0)
    worker.kill_java_hosts()
    topics.write(topic, [json.dumps({"_id": n, "text": f"row {n}"}).encode() for n in range(ROWS, 2 * ROWS)], 2)
    eventually(lambda: documents.count_documents({}), lambda found: found >= 2 * ROWS)
    worker.delete("to-mongo")
    assert sorted((one["_id"], one["text"]) for one in documents.find()) == [(n, f"row {n}") for n in range(2 * ROWS)]
