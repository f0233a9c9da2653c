"""A database that is away for a minute while rows go from it and into it: in `make matrix` (CONNECT_MATRIX=1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from connect_core.dev.stack import Stack
from tests.connectors.jdbc.servers import Server, postgresql_server, postgresql_stack
from tests.faults.proxy import Network, Proxy, Watch
from tests.full_run import IS_FULL_RUN
from tests.integration.deployment import eventually
from tests.integration.test_jdbc_round_trip import running_standalone
from tests.integration.topics import Topics

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

AWAY_SECONDS = 60.0
ROWS = 20_000
MORE = 1_000


class Database:
    """A PostgreSQL of its own, which connectors reach through a proxy."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._proxy = Proxy(lambda: stack.service("postgres").port, Watch)
        url = stack.environment()["CONNECT_DATABASE_URL"]
        self.source, self.target = (postgresql_server(url, schema) for schema in ("away_from", "away_to"))

    def config(self, server: Server) -> dict[str, str]:
        """Return how a connector reaches one of its schemas."""
        port = f":{self._stack.service('postgres').port}/"
        address = server.config["connection.url"].replace(port, f":{self._proxy.port}/")
        return {**server.config, "connection.url": address}

    def insert(self, count: int) -> None:
        """Insert rows, past the proxy."""
        self.source.execute(f"INSERT INTO orders (label) SELECT 'order ' || i FROM generate_series(1, {count}) AS i")

    def copied(self) -> int:
        """Return how many rows the target has."""
        if self.target.rows("SELECT to_regclass('copies') IS NULL") == [(True,)]:
            return 0
        return int(self.target.rows("SELECT count(*) FROM copies")[0][0])

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let there be no server while the block runs."""
        self._stack.service("postgres").stop()
        yield
        self._stack.service("postgres").start()

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Let no byte pass while the block runs, and end the connections that waited."""
        with self._proxy.network(Network.CUT):
            yield
            self._proxy.reset()


def configs(database: Database, name: str, topic: str) -> list[dict[str, str]]:
    """Return source and sink; rows are inserted, not upserted, so that one that came twice is seen."""
    common = {
        "tasks.max": "2",
        "connection.backoff.ms": "100",
        "interval.max.records": "1000",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
    }
    source = {
        "name": f"{name}-source",
        "connector.class": "JdbcSource",
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "changed",
        "incrementing.column.name": "id",
        "table.include.list": "orders",
        "topic.prefix": topic.removesuffix("orders"),
        "poll.interval.ms": "200",
    }
    sink = {
        "name": f"{name}-sink",
        "connector.class": "JdbcSink",
        "topics": topic,
        "table.name.format": "copies",
        "auto.create": "true",
    }
    return [
        {**database.config(database.source), **common, **source},
        {**database.config(database.target), **common, **sink},
    ]


def failures(folder: Path, names: list[str]) -> list[str]:
    """Return the connectors that REST shows as failed."""
    address = (folder / "worker.properties").read_text().partition("listeners=")[2].split()[0]
    statuses = [httpx.get(f"{address}/connectors/{name}/status", timeout=60).json() for name in names]
    parts = [part for status in statuses for part in (status["connector"], *status["tasks"])]
    return [part.get("trace", "") for part in parts if part["state"] == "FAILED"]


if IS_FULL_RUN:

    @pytest.fixture(scope="module")
    def away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
        with postgresql_stack(tmp_path_factory.mktemp("away")) as stack:
            yield stack

    @pytest.mark.parametrize("leave", [Database.stopped, Database.cut_off])
    def test_rows_go_on_after_a_minute_without_the_database(
        leave: Callable[[Database], AbstractContextManager[None]], away: Stack, folder: Path, topics: Topics
    ) -> None:
        database = Database(away)
        database.source.execute(
            "CREATE TABLE orders (id bigserial PRIMARY KEY, label text, changed timestamptz NOT NULL DEFAULT now())",
            "CREATE INDEX ON orders (changed)",
        )
        database.insert(ROWS)
        topic = topics.create(2, f"{folder.name}-orders")
        given = configs(database, folder.name, topic)
        names = [config["name"] for config in given]
        with running_standalone(folder, topics, given):
            eventually(database.copied, lambda count: count > 0)
            with leave(database):
                time.sleep(AWAY_SECONDS)
            assert database.copied() < ROWS, "the database was to be away in mid-run"
            database.insert(MORE)
            eventually(database.copied, lambda count: count >= ROWS + MORE, 240)
            # What is shown as failed meanwhile starts again by itself.
            eventually(lambda: failures(folder, names), lambda found: found == [])
        query = "SELECT id, label FROM {} ORDER BY id"
        assert database.target.rows(query.format("copies")) == database.source.rows(query.format("orders"))
