"""A PostgreSQL table through topics with a registry into Parquet, Iceberg and another table, changed on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.connectors.jdbc.clusters import Cluster, cluster
from tests.full_run import smoke_and_matrix
from tests.integration.plugin_worker import PluginWorker, eventually, plugin_worker
from tests.integration.topics import Topics
from tests.schema_registry.apicurio_server import apicurio_running

pytest.importorskip("pyiceberg", reason="pip install 'connect-core[iceberg]'")

from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

CONVERTERS = {
    "avro": {"value.converter": "io.confluent.connect.avro.AvroConverter"},
    "json": {
        "value.converter": "io.confluent.connect.json.JsonSchemaConverter",
        # Otherwise a new property is not a compatible change: an older message might have had it with any type.
        "value.converter.object.additional.properties": "false",
    },
    "protobuf": {
        "value.converter": "io.confluent.connect.protobuf.ProtobufConverter",
        # Otherwise a null is the same as a zero or an empty text.
        "value.converter.optional.for.nullables": "true",
    },
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apicurio_running(tmp_path_factory.mktemp("registry")) as url:
        assert SchemaRegistryClient({"url": url}).get_subjects() == [], "service broken: the registry is not empty"
        yield url


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("registry-postgres")) as server:
        yield server


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    with plugin_worker(tmp_path_factory.mktemp("registry-worker"), bootstrap) as running:
        yield running


def rows(database: Cluster, table: str) -> list[Any]:
    with database.client() as client:
        known = client.execute("SELECT to_regclass(%s)", [table]).fetchone()
        found = client.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() if known and known[0] else []
        return [tuple(row) for row in found]


def parquet(folder: Path, names: list[str]) -> list[Any]:
    """Return what all files have of some columns, older files a null for columns they lack."""
    # What is below ``_connect`` is not yet part of the export, and may be moved at any time.
    files = sorted(file for file in folder.rglob("*.parquet") if "_connect" not in file.parts)
    if not files:
        return []
    schemas = [ds.dataset([file]).schema for file in files]
    table = ds.dataset(files, schema=pa.unify_schemas(schemas)).to_table()
    columns = [table.column(name).to_pylist() if name in table.column_names else [None] * len(table) for name in names]
    return sorted(zip(*columns, strict=True))


def iceberg(catalog: dict[str, str], table: str, names: list[str]) -> list[Any]:
    """Return what an Iceberg table has of some columns."""
    try:
        found = load_catalog("iceberg", **catalog).load_table(table).scan().to_arrow()
    except NoSuchTableError:
        return []
    columns = [found.column(name).to_pylist() if name in found.column_names else [None] * len(found) for name in names]
    return sorted(zip(*columns, strict=True))


def deserializer(kind: str, url: str) -> Callable[[bytes, Any], Any] | None:
    """Return Confluent's own deserialiser, where it needs no generated class."""
    client = SchemaRegistryClient({"url": url})
    read: Callable[[bytes, Any], Any] | None = None
    if kind == "avro":
        read = AvroDeserializer(client)
    if kind == "json":
        read = JSONDeserializer(None, schema_registry_client=client)
    return read


@pytest.mark.parametrize("kind", smoke_and_matrix(("avro",), CONVERTERS))
def test_a_table_is_the_same_at_each_end(
    kind: str, worker: PluginWorker, registry: str, database: Cluster, topics: Topics
) -> None:
    table, copy = f"orders_{kind}", f"copies_{kind}"
    names = ["id", "customer", "amount", "paid", "changed"]
    database.execute(
        f"CREATE TABLE {table} (id bigint PRIMARY KEY, customer text NOT NULL, amount double precision, paid boolean,"
        " changed timestamptz NOT NULL DEFAULT '2024-02-29 12:00:00.123Z')",
        f"INSERT INTO {table} SELECT i, 'c' || i, i / 4.0, i % 2 = 0 FROM generate_series(1, 500) i",
    )
    converter = {**CONVERTERS[kind], "value.converter.schema.registry.url": registry}
    login = {
        "connection.url": f"jdbc:postgresql://127.0.0.1:{database.port}/postgres",
        "connection.user": "postgres",
        "connection.password": "unused",
    }
    topic = topics.create(2, f"{kind}-{table}")
    source = {
        "connector.class": "JdbcSource",
        **login,
        **converter,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": table,
        "topic.prefix": f"{kind}-",
    }
    worker.put(f"source-{kind}", source)
    files = worker.folder / f"files-{kind}"
    export = {"connector.class": "FileSystemSink", "topics": topic, "path": str(files), **converter}
    worker.put(f"files-{kind}", export)
    lake = worker.folder / f"lake-{kind}"
    lake.mkdir()
    catalog = {"type": "sql", "uri": f"sqlite:///{lake}/catalog.db", "warehouse": f"file://{lake}/warehouse"}
    worker.put(
        f"lake-{kind}",
        {
            "connector.class": "IcebergSink",
            "topics": topic,
            **converter,
            "iceberg.tables": "db.orders",
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.tables.evolve-schema-enabled": "true",
            **{f"iceberg.catalog.{key}": value for key, value in catalog.items()},
        },
    )
    upsert = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id", "auto.create": "true"}
    worker.put(
        f"copies-{kind}",
        {
            "connector.class": "JdbcSink",
            "topics": topic,
            **login,
            **converter,
            **upsert,
            "auto.evolve": "true",
            "table.name.format": copy,
        },
    )
    eventually(lambda: sorted(rows(database, copy)), lambda found: len(found) == 500)
    database.execute(
        f"ALTER TABLE {table} ADD COLUMN note text",
        f"INSERT INTO {table} SELECT i, 'c' || i, NULL, NULL, '2024-03-01Z', 'n' || i FROM generate_series(501, 700) i",
    )
    names.append("note")
    wanted = rows(database, table)
    assert len(wanted) == 700

    def copied() -> list[Any]:
        with database.client() as client:
            known = client.execute(
                "SELECT count(*) FROM information_schema.columns WHERE table_name = %s AND column_name = 'note'", [copy]
            ).fetchone()
            if not known or not known[0]:
                return []
            order = "id, customer, amount, paid, changed, note"
            return [tuple(row) for row in client.execute(f"SELECT {order} FROM {copy} ORDER BY id").fetchall()]

    with database.client() as client:
        shown = client.execute(
            f"SELECT id, customer, amount, paid, changed AT TIME ZONE 'UTC', note FROM {table} ORDER BY id"
        ).fetchall()
    copies = eventually(copied, lambda found: len(found) == 700)
    assert copies == [tuple(row) for row in shown]
    exported = eventually(lambda: parquet(files, ["id", "customer", "amount", "paid"]), lambda found: len(found) == 700)
    assert exported == [row[:4] for row in wanted]
    notes = parquet(files, ["id", "note"])
    assert notes == [(row[0], row[5]) for row in wanted]
    in_lake = eventually(
        lambda: iceberg(catalog, "db.orders", ["id", "customer", "amount", "paid", "note"]),
        lambda found: len(found) == 700,
    )
    assert in_lake == [(*row[:4], row[5]) for row in wanted]
    values = [value for value in topics.read(topic, 700) if value is not None]
    read = deserializer(kind, registry)
    if read is not None:
        context = SerializationContext(topic, MessageField.VALUE)
        theirs = sorted((read(value, context) for value in values), key=lambda one: one["id"])
        assert [(one["id"], one["customer"], one.get("amount")) for one in theirs] == [row[:3] for row in wanted]
    assert len({value[1:5] for value in values}) == 2, "the table's change is a second schema"
    for name in (f"source-{kind}", f"files-{kind}", f"lake-{kind}", f"copies-{kind}"):
        worker.delete(name)
