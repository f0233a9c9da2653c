"""Debezium's own connectors, unchanged: PostgreSQL's changes to Kafka, and a topic to a table, while processes die."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from connect_core.dev.java_runtime import java_runtime
from tests.connectors.jdbc.clusters import Cluster, cluster
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.java_plugins.debezium import debezium
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]

JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("debezium-postgres")) as server:
        server.execute("ALTER SYSTEM SET wal_level = 'logical'")
        server.stop()
        server.start()
        server.execute("CREATE TABLE orders (id int PRIMARY KEY, customer text NOT NULL)")
        yield server


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    more = {
        "plugin.path": f"{debezium('postgres')},{debezium('jdbc')}",
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "256m",
    }
    with plugin_worker(tmp_path_factory.mktemp("debezium"), bootstrap, more) as running:
        yield running


def source(database: Cluster, prefix: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(database.port),
        "database.user": "postgres",
        "database.password": "unused",
        "database.dbname": "postgres",
        "topic.prefix": prefix,
        "table.include.list": "public.orders",
        "plugin.name": "pgoutput",
        "slot.name": prefix,
        "publication.name": prefix,
        "value.converter": JSON,
        "value.converter.schemas.enable": "true",
        "key.converter": JSON,
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    }


def sink(database: Cluster, topic: str, table: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "topics": topic,
        "value.converter": JSON,
        "key.converter": JSON,
        "connection.url": f"jdbc:postgresql://127.0.0.1:{database.port}/postgres",
        "connection.username": "postgres",
        "connection.password": "unused",
        "insert.mode": "upsert",
        "delete.enabled": "true",
        "primary.key.mode": "record_key",
        "schema.evolution": "basic",
        "collection.name.format": table,
        "consumer.override.auto.offset.reset": "earliest",
    }


def rows(database: Cluster, table: str) -> list[Any]:
    with database.client() as client:
        known = client.execute("SELECT to_regclass(%s)", [table]).fetchone()
        return client.execute(f"SELECT id, customer FROM {table} ORDER BY id").fetchall() if known and known[0] else []


def test_a_table_is_copied_by_debezium_through_kafka(worker: PluginWorker, topics: Topics, database: Cluster) -> None:
    database.execute("INSERT INTO orders SELECT i, 'c' || i FROM generate_series(1, 1000) i")
    topic = topics.create(1, "copied.public.orders")
    worker.put("copied", source(database, "copied"))
    worker.put("copier", sink(database, topic, "orders_copy"))
    eventually(lambda: rows(database, "orders_copy"), lambda found: len(found) == 1000)
    worker.kill_java_hosts()
    database.execute(
        "INSERT INTO orders SELECT i, 'c' || i FROM generate_series(1001, 2000) i",
        "UPDATE orders SET customer = 'changed' WHERE id % 10 = 0",
    )
    eventually(lambda: len(rows(database, "orders_copy")), lambda found: found == 2000)
    worker.kill_java_hosts()
    database.execute("DELETE FROM orders WHERE id % 7 = 0")
    eventually(lambda: rows(database, "orders_copy"), lambda found: found == rows(database, "orders"))
    payloads = [json.loads(value)["payload"] for value in topics.read(topic) if value]
    versions = [(one["id"], one["customer"]) for one in payloads if one is not None]
    # Exactly once: each version of a row is there once, and so is each deletion.
    assert (len(versions), len(set(versions))) == (2000 + 200, 2000 + 200)
    assert payloads.count(None) == 2000 // 7
    worker.delete("copied")
    worker.delete("copier")
