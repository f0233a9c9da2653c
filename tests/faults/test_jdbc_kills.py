"""A table copied through Kafka into another while drivers, workers and servers are killed: both end up equal."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import psycopg
import pytest

from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import connectors
from connect_core.store.connectors import NewConfig
from tests.faults.world import World

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

_BETWEEN_SECONDS = 1.0
_TIMEOUT_SECONDS = 240.0


def create_connectors(world: World) -> None:
    """Create the source of table ``orders`` and the sink into ``copies``; both reach their database by the proxy."""
    url = urlsplit(world.environment["CONNECT_DATABASE_URL"])
    common = {
        "connection.url": f"jdbc:postgresql://127.0.0.1:{world.database_proxy.port}{url.path}?currentSchema=shop",
        "connection.user": url.username or "",
        "connection.password": url.password or "",
        "connection.backoff.ms": "100",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
        "interval.max.records": "500",
    }
    source = {
        "connector.class": "JdbcSource",
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "changed",
        "incrementing.column.name": "id",
        "table.include.list": "orders",
        "topic.prefix": "kills-",
        "poll.interval.ms": "200",
    }
    # Rows are inserted, not upserted, so that one that came twice is seen.
    sink = {"connector.class": "JdbcSink", "topics": "kills-orders", "table.name.format": "copies", "tasks.max": "2"}
    world.topics.create(2, "kills-orders")
    for name, kind, config in (
        ("kills-source", ConnectorType.SOURCE, source),
        ("kills-sink", ConnectorType.SINK, sink),
    ):
        new: Mapping[str, str] = {"name": name, **common, **config, "auto.create": "true"}
        with world.database.write() as connection:
            connectors.create(connection, name, NewConfig(kind, dict(new)), TargetState.STARTED)


def kill_drivers(world: World) -> None:
    """SIGKILL both drivers."""
    for driver in world.drivers:
        driver.signal(signal.SIGKILL)
        driver.process.wait()


def kill_workers(world: World) -> None:
    """SIGKILL Spark's Python processes that run tasks."""
    for worker in world.python_workers():
        worker.kill()


def kill_database(world: World) -> None:
    """SIGKILL PostgreSQL: source, target and metadata at once."""
    world.stack.service("postgres").kill()
    world.stack.service("postgres").await_healthy(90)


def kill_broker(world: World) -> None:
    """SIGKILL Kafka."""
    world.stack.service("kafka").kill()
    world.stack.service("kafka").await_healthy(90)


def lose_replies(world: World) -> None:
    """Lose the replies to COMMIT, of the target's transactions among others."""
    world.database_proxy.lose_replies(4)
    end = time.monotonic() + 60
    while world.database_proxy.is_armed and time.monotonic() < end:
        time.sleep(0.1)


KILLS: list[Callable[[World], None]] = [kill_drivers, lose_replies, kill_workers, kill_database, kill_broker]


def test_target_equals_source_whatever_is_killed(world: World) -> None:
    with world.superuser() as client:
        client.execute("CREATE SCHEMA shop AUTHORIZATION connect")
    write(
        world, "CREATE TABLE orders (id bigserial PRIMARY KEY, label text, changed timestamptz NOT NULL DEFAULT now())"
    )
    lost = world.database_proxy.lost
    create_connectors(world)
    insert(world, 1000)
    world.heal("kills-source", "kills-sink")
    await_rows(world, 100)
    for kill in KILLS:
        insert(world, 1500)
        time.sleep(world.random.uniform(0.0, _BETWEEN_SECONDS))
        kill(world)
        world.heal("kills-source", "kills-sink")
    insert(world, 500)
    await_rows(world, 1000 + 1500 * len(KILLS) + 500)
    world.end_drivers()
    assert select(world, "SELECT id, label FROM copies ORDER BY id") == select(
        world, "SELECT id, label FROM orders ORDER BY id"
    )
    assert world.database_proxy.lost > lost


def write(world: World, statement: str) -> None:
    with client_of(world) as client:
        client.execute(statement)


def insert(world: World, count: int) -> None:
    write(world, f"INSERT INTO orders (label) SELECT 'order ' || i FROM generate_series(1, {count}) AS i")


def select(world: World, query: str) -> list[tuple[object, ...]]:
    with client_of(world) as client:
        return client.execute(query).fetchall()


def client_of(world: World) -> psycopg.Connection:
    """Return a connection past the proxy."""
    url = world.environment["CONNECT_DATABASE_URL"].replace("+psycopg", "")
    return psycopg.connect(url, autocommit=True, options="-c search_path=shop")


def await_rows(world: World, count: int) -> None:
    """Wait until the target has so many rows, with drivers that run."""
    end, found = time.monotonic() + _TIMEOUT_SECONDS, 0
    while time.monotonic() < end:
        world.heal("kills-source", "kills-sink")
        if select(world, "SELECT to_regclass('copies') IS NOT NULL") == [(True,)]:
            found = int(str(select(world, "SELECT count(*) FROM copies")[0][0]))
        if found >= count:
            return
        time.sleep(0.3)
    log = (world.folder / "drivers.log").read_text()[-3000:]
    pytest.fail(f"after {_TIMEOUT_SECONDS:.0f} s the target has {found} rows, not {count}:\n{log}")
