"""A real topic into Iceberg tables by Spark, through an SQL and a REST catalog; read back by pyiceberg and DuckDB."""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from connect_core.api import SinkRecord
from connect_core.dev.java import find_java
from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.integration.ports import free_port
from tests.integration.topics import Topics

pytest.importorskip("pyiceberg", reason="pip install 'connect-core[iceberg]'")

from pyiceberg.catalog import Catalog, load_catalog

from tests.connectors.iceberg.lake import Lake, numbered
from tests.programs import maven_jars

pytestmark = pytest.mark.servers

COUNT, PARTITIONS = 4000, 4
ORDERS = [
    {"n": n, "country": ["de", "fr", "Österreich"][n % 3], "amount": n / 4, "lines": [{"sku": f"ü{n}"}]}
    for n in range(COUNT)
]
POM = Path(__file__).with_name("iceberg_rest.xml")
"""What Apache Iceberg's REST server of its own tests is made of."""


@pytest.fixture(scope="module")
def rest_jars() -> Path:
    """Jars of the REST server."""
    return maven_jars("iceberg-rest-1.10.0", POM)


@pytest.fixture
def rest(rest_jars: Path, folder: Path) -> Iterator[str]:
    """The address of a REST catalog whose warehouse is in the folder."""
    port = free_port()
    environment = {
        "CATALOG_REST_PORT": str(port),
        "CATALOG_WAREHOUSE": f"file://{folder}/warehouse",
        # By default each connection of its pool has a database of its own, in memory: two calls at once, and it fails.
        "CATALOG_URI": f"jdbc:sqlite:{folder}/rest.db?busy_timeout=20000",
    }
    command = [
        str(find_java()),
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{rest_jars}/*",
        "org.apache.iceberg.rest.RESTCatalogServer",
    ]
    with (folder / "rest.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        _wait(f"http://127.0.0.1:{port}/v1/config", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=1).read()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("the REST catalog did not start")


def exported(stack: Stack, folder: Path, name: str, properties: Mapping[str, str], patch: pytest.MonkeyPatch) -> str:
    """Move a topic in two intervals → its name."""
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        patch.setenv(variable, value)
    topics = Topics(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    topic = topics.create(PARTITIONS)
    config = {
        "name": name,
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": "2",
        "topics": topic,
        "iceberg.tables": "db.orders",
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.tables.evolve-schema-enabled": "true",
        "iceberg.tables.default-partition-by": "country",
        "include.metadata": "true",
        "iceberg.control.topic": "control-iceberg",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        **{f"iceberg.catalog.{key}": value for key, value in properties.items()},
    }
    values = [orjson.dumps(one) for one in ORDERS]
    half = COUNT // 2
    with ExitStack() as open_things:
        topics.write(topic, values[:half], PARTITIONS)
        export = open_things.enter_context(ConnectorRuns(name, config, ConnectorType.SINK))
        assert export.run().records == half
        topics.write(topic, values[half:], PARTITIONS)
        assert export.run().records == COUNT - half
        assert export.run().records == 0
    return topic


def check(catalog: Catalog, topic: str) -> None:
    """Compare the table with what was sent: by pyiceberg, and its files by DuckDB."""
    table = catalog.load_table("db.orders")
    rows = table.scan().to_arrow().to_pylist()
    sent = [{key: row[key] for key in ORDERS[0]} for row in sorted(rows, key=lambda row: row["n"])]
    assert sent == ORDERS
    assert {(row["_topic"], row["_partition"]) for row in rows} == {(topic, n) for n in range(PARTITIONS)}
    assert len({(row["_partition"], row["_offset"]) for row in rows}) == COUNT
    assert [int(one.summary["added-records"]) for one in table.snapshots()] == [COUNT // 2, COUNT // 2]
    files = [task.file.file_path.removeprefix("file:").replace("///", "/", 1)
             for task in table.scan(row_filter="country = 'Österreich'").plan_files()]  # fmt: skip
    found = duckdb.execute(f"select count(*), sum(n), count(distinct country) from read_parquet({files!r})").fetchall()
    wanted: list[Any] = [order["n"] for order in ORDERS if order["country"] == "Österreich"]
    assert found == [(len(wanted), sum(wanted), 1)]


def test_a_table_of_an_sql_catalog_holds_what_the_topic_holds(
    stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/warehouse"}
    topic = exported(stack, folder, "iceberg-sql", place, monkeypatch)
    check(load_catalog("iceberg", **place), topic)


def test_a_table_of_a_rest_catalog_holds_what_the_topic_holds(
    stack: Stack, folder: Path, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"type": "rest", "uri": rest}
    topic = exported(stack, folder, "iceberg-rest", place, monkeypatch)
    check(load_catalog("iceberg", **place), topic)


def test_rows_of_a_rest_catalog_are_updated_by_key(folder: Path, rest: str) -> None:
    """Apache Iceberg's own code checks each snapshot: the files removed, sequence numbers and the parent."""
    lake = Lake(folder)
    lake.config = {key: value for key, value in lake.config.items() if not key.startswith("iceberg.catalog.")}
    lake.set({"iceberg.catalog.type": "rest", "iceberg.catalog.uri": rest, "iceberg.tables.default-id-columns": "id"})
    lake.set({"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-partition-by": "country"})
    lake.run(numbered([{"id": n, "country": ["de", "fr"][n % 2], "v": 0} for n in range(100)]))
    lake.run(numbered([{"id": n, "country": "at", "v": 1} for n in range(0, 100, 3)], first=100), sequence=2)
    gone = [SinkRecord("t", 0, key=n, value=None, kafka_offset=200 + n) for n in range(10)]
    marker = lake.run(gone, sequence=3)
    lake.committer(2).publish(lake.key(3, 2), marker)
    table = load_catalog("iceberg", type="rest", uri=rest).load_table("db.orders")
    found = {row["id"]: (row["country"], row["v"]) for row in table.scan().to_arrow().to_pylist()}
    assert found == {n: ("at", 1) if n % 3 == 0 else (["de", "fr"][n % 2], 0) for n in range(10, 100)}
    assert [one.summary.operation.value for one in table.snapshots()] == ["append", "overwrite", "overwrite"]
