"""Every mode on every database, in both lanes."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from connect_core.api import Struct
from connect_core.api.data import Instant
from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.errors import ConnectError
from connect_core.testing.source_engine import Lane, Position
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower

_SERVERS = pytest.mark.servers
WAYS = pytest.mark.parametrize(
    ("kind", "lane"),
    [
        pytest.param("postgresql", Lane.RECORDS, marks=_SERVERS),
        pytest.param("postgresql", Lane.BATCHES, marks=_SERVERS),
        pytest.param("mariadb", Lane.RECORDS, marks=_SERVERS),
        ("sqlite", Lane.RECORDS),
        pytest.param("duckdb", Lane.RECORDS, marks=_SERVERS),
    ],
    ids=lambda one: one.value if isinstance(one, Lane) else one,
)
"""Columns are read from PostgreSQL only."""
ORDERS = (
    "CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20), price NUMERIC(10,2), "
    "changed TIMESTAMP NOT NULL)"
)


def orders(server: Server, *rows: tuple[int, str | None, float | None, str]) -> None:
    def text(value: Any) -> str:
        return "NULL" if value is None else repr(value)

    values = ", ".join(f"({', '.join(map(text, row))})" for row in rows)
    server.execute(f"INSERT INTO orders (id, name, price, changed) VALUES {values}")


@pytest.fixture
def shop(request: pytest.FixtureRequest, kind: str) -> Server:
    server: Server = request.getfixturevalue(kind)
    column = "DATETIME(6)" if server.kind == "mariadb" else "TIMESTAMP"
    server.execute(ORDERS.replace("TIMESTAMP", column))
    orders(server, (1, "ada", 1.5, "2024-01-01 10:00:00"), (2, "Zoë ✓", None, "2024-01-01 10:00:00.123456"))
    return server


@WAYS
def test_incrementing_reads_new_rows_once(shop: Server, lane: Lane) -> None:
    source = follower(shop, lane, mode="incrementing", incrementing_column_name="id")
    assert source.rows("id", "name", "price") == [(1, "ada", Decimal("1.50")), (2, "Zoë ✓", None)]
    assert source.is_idle()
    orders(shop, (5, None, 2, "2024-01-01 11:00:00"))
    assert source.rows("id") == [5]
    assert source.rows() == []
    assert (source.offset("orders") or {})["incrementing"] == 5


@WAYS
def test_records_carry_key_schema_and_topic(shop: Server, lane: Lane) -> None:
    source = follower(shop, lane, mode="incrementing", incrementing_column_name="id")
    record = source.interval()[0]
    assert record.topic == "test-orders"
    assert isinstance(record.key, Struct)
    assert record.key_schema is not None
    assert record.value_schema is not None
    assert record.source_partition is not None
    assert (record.key_schema.name, record.key.values) == ("orders.Key", [1])
    assert (record.value_schema.name, record.value_schema.version) == ("orders", 1)
    assert record.source_partition["protocol"] == "1"
    assert record.value["changed"] == Instant.of(datetime(2024, 1, 1, 10))


@WAYS
def test_timestamp_finds_changed_rows(shop: Server, lane: Lane) -> None:
    source = follower(shop, lane, mode="timestamp", timestamp_column_name="changed")
    assert source.rows("id") == [1, 2]
    shop.execute("UPDATE orders SET name = 'eve', changed = '2024-01-02 00:00:00' WHERE id = 1")
    assert source.rows("id", "name") == [(1, "eve")]
    assert source.is_idle()


@WAYS
def test_timestamp_goes_on_inside_equal_timestamps(shop: Server, lane: Lane) -> None:
    orders(shop, *((number, "tie", None, "2024-01-03 00:00:00") for number in range(10, 40)))
    source = follower(shop, lane, mode="timestamp", timestamp_column_name="changed", batch_max_rows="7")
    polls = source.engine.read(lane=Lane.RECORDS)
    source.commit(polls[:2])
    assert [record.value["id"] for record in source.records] == [1, 2, *range(10, 22)]
    rest = source.rows("id")
    assert sorted([record.value["id"] for record in source.records]) == [1, 2, *range(10, 40)]
    assert len(rest) == 32 - 14


@WAYS
def test_timestamp_and_incrementing_order_by_both(shop: Server, lane: Lane) -> None:
    orders(shop, (3, "c", None, "2023-12-31 00:00:00"), (4, "d", None, "2024-01-01 10:00:00.123456"))
    source = follower(
        shop,
        lane,
        mode="timestamp+incrementing",
        timestamp_column_name="changed",
        incrementing_column_name="id",
    )
    assert source.rows("id") == [3, 1, 2, 4]
    offset = source.offset("orders") or {}
    assert offset["incrementing"] == 4
    assert offset["timestamp"] == 1_704_103_200_123
    assert offset["timestamp_nanos"] == 123_456_000


@WAYS
def test_bulk_reads_everything_again_when_due(shop: Server, lane: Lane) -> None:
    waiting = follower(shop, lane, mode="bulk", poll_interval_ms="3600000")
    assert waiting.rows("id") == [1, 2]
    assert waiting.is_idle()
    again = follower(shop, lane, mode="bulk", poll_interval_ms="0")
    assert again.rows("id") + again.rows("id") == [1, 2, 1, 2]
    assert again.offset("orders") == {"bulk": 2}


@WAYS
def test_bulk_goes_on_behind_the_last_key(shop: Server, lane: Lane) -> None:
    orders(shop, *((number, None, None, "2024-01-01 00:00:00") for number in range(3, 10)))
    source = follower(shop, lane, mode="bulk", poll_interval_ms="3600000", batch_max_rows="4")
    source.commit(source.engine.read(lane=Lane.RECORDS)[:1])
    assert source.rows("id") == [5, 6, 7, 8, 9]
    assert source.offset("orders") == {"bulk": 1}


@WAYS
def test_query_is_read_by_a_mode(shop: Server, lane: Lane) -> None:
    query = "SELECT o.id, o.name, o.price * 2 AS twice FROM orders o WHERE o.id <> 99 -- all but one"
    source = follower(shop, lane, mode="incrementing", incrementing_column_name="id", query=query)
    assert [(row["id"], row["name"], float(row["twice"] or 0)) for row in source.rows()] == [
        (1, "ada", 3.0),
        (2, "Zoë ✓", 0.0),
    ]
    assert source.records[0].topic == "test-"
    assert source.records[0].source_partition == {"query": "query"}
    orders(shop, (7, "new", 1, "2024-01-05 00:00:00"))
    assert source.rows("id") == [7]


@WAYS
def test_offsets_of_a_connect_cluster_are_gone_on_from(shop: Server, lane: Lane) -> None:
    source = follower(shop, lane, mode="timestamp", timestamp_column_name="changed")
    source.interval()
    key = next(iter(source.position.offsets))
    source.position = Position({key: {"timestamp": 1_704_103_200_000, "timestamp_nanos": 0}})
    assert source.rows("id") == [2]


@WAYS
def test_timestamp_initial_leaves_out_what_is_older(shop: Server, lane: Lane) -> None:
    initial = str(1_704_103_200_000)
    source = follower(shop, lane, mode="timestamp", timestamp_column_name="changed", timestamp_initial=initial)
    assert source.rows("id") == [2]


@WAYS
def test_timestamp_delay_holds_new_rows_back(shop: Server, lane: Lane) -> None:
    now = datetime.now().isoformat(" ")
    orders(shop, (8, "now", None, now))
    source = follower(shop, mode="timestamp", timestamp_column_name="changed", timestamp_delay_interval_ms="36000000")
    assert source.rows("id") == [1, 2]


@WAYS
def test_tables_without_key_keep_equal_timestamps_together(
    request: pytest.FixtureRequest, kind: Any, lane: Lane
) -> None:
    server = request.getfixturevalue(kind)
    column = "DATETIME(6)" if server.kind == "mariadb" else "TIMESTAMP"
    server.execute(f"CREATE TABLE plain (n INTEGER, changed {column} NOT NULL)")
    rows = ", ".join(f"({number}, '2024-01-01 00:00:0{number // 5}')" for number in range(20))
    server.execute(f"INSERT INTO plain VALUES {rows}")
    source = follower(server, lane, mode="timestamp", timestamp_column_name="changed", batch_max_rows="3")
    polls = source.engine.read(lane=Lane.RECORDS)
    assert all(len(poll.records) % 5 == 0 for poll in polls)
    source.commit(polls[:1])
    source.interval()
    assert sorted(record.value["n"] for record in source.records) == list(range(20))
    assert source.records[0].key is None


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"mode": "incrementing", "incrementing_column_name": "nr"}, "no column nr in table"),
        ({"mode": "incrementing", "incrementing_column_name": "name"}, "not an integer"),
        ({"mode": "timestamp", "timestamp_column_name": "price"}, "not a timestamp"),
    ],
)
def test_columns_that_do_not_fit_are_named(sqlite: Server, config: dict[str, str], said: str) -> None:
    sqlite.execute(ORDERS)
    with pytest.raises(ConnectError, match=said):
        follower(sqlite, **config).interval()


def test_nullable_columns_are_refused_unless_allowed(sqlite: Server) -> None:
    sqlite.execute(
        "CREATE TABLE loose (id INTEGER, changed TIMESTAMP)", "INSERT INTO loose VALUES (1, NULL), (2, '2024-01-01')"
    )
    config = {"mode": "timestamp", "timestamp_column_name": "changed"}
    with pytest.raises(ConnectError, match=r"validate\.non\.null"):
        follower(sqlite, **config).interval()
    assert follower(sqlite, **config, validate_non_null="false").rows("id") == [2]


@pytest.mark.servers
def test_the_column_that_numbers_itself_is_found(postgresql: Server, mariadb: Server, sqlite: Server) -> None:
    postgresql.execute("CREATE TABLE numbered (nr BIGSERIAL PRIMARY KEY, n INTEGER)")
    mariadb.execute("CREATE TABLE numbered (nr BIGINT AUTO_INCREMENT PRIMARY KEY, n INTEGER)")
    sqlite.execute("CREATE TABLE numbered (nr INTEGER PRIMARY KEY NOT NULL, n INTEGER)")
    for server in (postgresql, mariadb, sqlite):
        server.execute("INSERT INTO numbered (n) VALUES (7), (8)")
        source = follower(server, mode="incrementing")
        assert source.rows("nr", "n") == [(1, 7), (2, 8)]


def test_exactly_once_is_promised_where_readings_can_go_on() -> None:
    connector = JdbcSourceConnector()
    base = {"connection.url": "jdbc:postgresql://localhost/db", "topic.prefix": "t"}
    promised = connector.exactly_once_support({**base, "mode": "incrementing"})
    assert promised is not None
    assert promised.value == "SUPPORTED"
    assert connector.exactly_once_support({**base, "mode": "bulk"}) is None
