"""Kafka → JDBC sink → PostgreSQL through the production loop; test_jdbc_kills.py kills what it can."""

from __future__ import annotations

import os
from collections.abc import Iterator

import orjson
import psycopg
import pytest
import sqlalchemy as sa

from connect_core.dev.stack import Stack
from tests.benchmarks.connector_runs import ConnectorRuns, upsert_config
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
    config = upsert_config(name, topic, address, with_schema, {"tasks.max": "2"})
    topics.write(topic, [order(id, with_schema) for id in range(500)])
    os.environ.update(stack.environment())
    with ConnectorRuns(name, config) as export:
        assert export.run().records == 500
        topics.write(topic, [order(id, with_schema) for id in range(250, 750)])
        assert export.run().records == 500
    found = client.execute(f'SELECT id, label FROM "{topic}" ORDER BY id').fetchall()
    assert found == [(id, f"order {id}") for id in range(750)]
    positions = client.execute("SELECT SUM(kafka_offset) FROM connect_offsets WHERE connector = %s", (name,))
    assert positions.fetchone() == (1000,)
