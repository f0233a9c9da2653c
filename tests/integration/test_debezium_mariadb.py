"""Debezium's MariaDB connector, unchanged: a snapshot and then the binary log to Kafka, while processes die."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from connect_core.dev.java_runtime import java_runtime
from tests.connectors.jdbc.servers import MariaDb, mariadb_running
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.java_plugins.debezium import debezium
from tests.java_plugins.equipment import silent

pytestmark = [pytest.mark.servers, pytest.mark.matrix, pytest.mark.timeout(600)]

JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with mariadb_running(tmp_path_factory.mktemp("debezium-mariadb"), is_logging_changes=True) as server:
        server.server("shop")
        server.client("CREATE TABLE orders (id int PRIMARY KEY, customer varchar(50) NOT NULL)", "shop")
        yield server


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    more = {
        "plugin.path": str(debezium("mariadb")),
        "java.plugin.libs": str(java_runtime(silent)),
        "java.plugin.heap": "256m",
    }
    with plugin_worker(tmp_path_factory.mktemp("mariadb-worker"), bootstrap, more) as running:
        yield running


def source(database: MariaDb, bootstrap: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(database.port),
        "database.user": "connect",
        "database.password": "connect-secret",
        "database.server.id": "4711",
        "database.ssl.mode": "disable",
        "topic.prefix": "maria",
        "database.include.list": "shop",
        "table.include.list": "shop.orders",
        "schema.history.internal.kafka.bootstrap.servers": bootstrap,
        "schema.history.internal.kafka.topic": "maria-history",
        "key.converter": JSON,
        "value.converter": JSON,
    }


def changes(topics: Topics, topic: str) -> list[tuple[str, int, str | None]]:
    """Return operation, key and value after it, of each change."""
    found = []
    for value in topics.read(topic):
        if value is not None:
            payload = json.loads(value)["payload"]
            row = payload["after"] or payload["before"]
            found.append((payload["op"], row["id"], (payload["after"] or {}).get("customer")))
    return found


def test_a_table_and_its_changes_are_read_once(
    worker: PluginWorker, topics: Topics, database: MariaDb, bootstrap: str
) -> None:
    topic = topics.create(1, "maria.shop.orders")
    database.client("INSERT INTO orders SELECT seq, concat('c', seq) FROM seq_1_to_500", "shop")
    worker.put("maria", source(database, bootstrap))
    wanted: list[tuple[str, int, str | None]] = [("r", n, f"c{n}") for n in range(1, 501)]
    eventually(lambda: changes(topics, topic), lambda found: len(found) >= len(wanted))
    worker.kill_java_hosts()
    database.client("INSERT INTO orders SELECT seq, concat('c', seq) FROM seq_501_to_1000", "shop")
    wanted += [("c", n, f"c{n}") for n in range(501, 1001)]
    eventually(lambda: len(changes(topics, topic)), lambda found: found >= len(wanted))
    worker.kill_java_hosts()
    database.client("UPDATE orders SET customer = 'changed' WHERE id <= 3; DELETE FROM orders WHERE id = 1000", "shop")
    wanted += [("u", n, "changed") for n in (1, 2, 3)] + [("d", 1000, None)]
    eventually(lambda: len(changes(topics, topic)), lambda found: found >= len(wanted))
    # Exactly once, and in the order of the binary log.
    assert changes(topics, topic) == wanted
    worker.delete("maria")
