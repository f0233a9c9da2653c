"""Kafka → JDBC sink → PostgreSQL through the production loop, and through a process that is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import psycopg
import pytest
import sqlalchemy as sa

from connect_core.dev.stack import Stack
from tests.benchmarks.jdbc_exporting import JdbcExport, sink_config
from tests.integration.test_standalone import standalone, write_worker
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

SCHEMA = {
    "type": "struct",
    "name": "order",
    "optional": False,
    "fields": [
        {"field": "id", "type": "int64", "optional": False},
        {"field": "label", "type": "string", "optional": True},
    ],
}


@pytest.fixture(scope="module")
def address(stack: Stack) -> sa.URL:
    """The target: the stack's PostgreSQL, found healthy by its own client."""
    return sa.make_url(stack.environment()["CONNECT_DATABASE_URL"])


@pytest.fixture
def client(address: sa.URL) -> Iterator[psycopg.Connection]:
    url = address.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            assert connection.execute("SELECT 40 + 2").fetchone() == (42,)
            connection.execute("DROP SCHEMA IF EXISTS jdbc_it CASCADE")
            connection.execute("CREATE SCHEMA jdbc_it")
            connection.execute("SET search_path TO jdbc_it")
            yield connection
    except psycopg.OperationalError as error:
        pytest.fail(f"service broken: PostgreSQL does not answer its own client: {error}")


def order(id: int, with_schema: bool) -> bytes:
    payload = {"id": id, "label": f"order {id}"}
    return orjson.dumps({"schema": SCHEMA, "payload": payload} if with_schema else payload)


@pytest.mark.parametrize("with_schema", [True, False], ids=["json-with-schema", "json"])
def test_topic_becomes_a_table(
    stack: Stack, address: sa.URL, client: psycopg.Connection, topics: Topics, with_schema: bool
) -> None:
    topic = topics.create(4)
    name = f"jdbc-{topic}"
    client.execute(f'CREATE TABLE "{topic}" (id bigint PRIMARY KEY, label text)')
    config = sink_config(name, topic, address, with_schema, {"tasks.max": "2"})
    topics.write(topic, [order(id, with_schema) for id in range(500)])
    os.environ.update(stack.environment())
    with JdbcExport(name, config) as export:
        assert export.run().records == 500
        topics.write(topic, [order(id, with_schema) for id in range(250, 750)])
        assert export.run().records == 500
    found = client.execute(f'SELECT id, label FROM "{topic}" ORDER BY id').fetchall()
    assert found == [(id, f"order {id}") for id in range(750)]
    positions = client.execute("SELECT SUM(kafka_offset) FROM connect_offsets WHERE connector = %s", (name,))
    assert positions.fetchone() == (1000,)


def test_a_killed_worker_loses_and_doubles_nothing(
    folder: Path, address: sa.URL, client: psycopg.Connection, topics: Topics
) -> None:
    topic, count = topics.create(4), 8_000
    topics.write(topic, [order(id, True) for id in range(count)])
    settings = {"insert.mode": "insert", "pk.mode": "none", "interval.max.records": "400"}
    file = folder / "sink.properties"
    file.write_text(properties(sink_config("killed", topic, address, True, settings)))
    worker = write_worker(folder, topics.bootstrap)
    for kill_at in (1, count // 3):
        with standalone(folder, worker, file) as process:
            await_rows(client, topic, kill_at)
            process.send_signal(signal.SIGKILL)
            process.wait(30)
    with standalone(folder, worker, file):
        await_rows(client, topic, count)
    found = client.execute(f'SELECT id FROM "{topic}" ORDER BY id').fetchall()
    assert found == [(id,) for id in range(count)]


def properties(config: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in config.items())


def await_rows(client: psycopg.Connection, table: str, count: int, seconds: float = 150) -> None:
    """Wait until the table has so many rows."""
    end, found = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        exists = client.execute("SELECT to_regclass(%s)", (f'"{table}"',)).fetchone()
        if exists and exists[0]:
            row = client.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()
            found = row[0] if row else 0
        if found >= count:
            return
        time.sleep(0.1)
    pytest.fail(f"after {seconds:g} s {table} has {found} rows, not {count}")
