"""What the source's statements read, whatever columns and queries are called."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import Follower, follower

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
)


@pytest.fixture
def database(request: pytest.FixtureRequest, kind: str) -> Server:
    found: Server = request.getfixturevalue(kind)
    return found


def all_of(source: Follower, column: str) -> list[object]:
    """Run intervals that end after the first poll, as a killed one does, until nothing is left."""
    while polls := [poll for poll in source.engine.read(source.position, source.lane) if poll.records][:1]:
        source.commit(polls)
    return [record.value[column] for record in source.records]


@WAYS
@pytest.mark.parametrize(
    "mode",
    [
        {"mode": "incrementing", "incrementing.column.name": "c1"},
        {"mode": "timestamp", "timestamp.column.name": "c3"},
        {"mode": "timestamp+incrementing", "timestamp.column.name": "c3,c0", "incrementing.column.name": "c1"},
        {"mode": "bulk"},
    ],
    ids=lambda mode: mode["mode"],
)
def test_columns_may_have_the_names_of_labels(database: Server, lane: Lane, mode: dict[str, str]) -> None:
    type = "DATETIME" if database.kind in ("mariadb", "sqlite") else "TIMESTAMP"
    database.execute(
        f"CREATE TABLE t (c1 INTEGER NOT NULL PRIMARY KEY, c2 INTEGER, c3 {type} NOT NULL, c0 {type})",
        "INSERT INTO t (c1, c2, c3) VALUES (1, 9, '2024-01-01 00:00:01'), (2, 5, '2024-01-01 00:00:02'), "
        "(3, 7, '2024-01-01 00:00:03'), (4, 1, '2024-01-01 00:00:04')",
    )
    waiting = {"poll.interval.ms": "100000", "batch.max.rows": "1", **mode}
    assert all_of(follower(database, lane, **waiting), "c1") == [1, 2, 3, 4]


@WAYS
def test_query_with_columns_named_as_labels_is_read_in_its_order(database: Server, lane: Lane) -> None:
    database.execute("CREATE TABLE t (c1 INTEGER, c2 INTEGER)", "INSERT INTO t VALUES (1, 9), (2, 5), (3, 7), (4, 1)")
    mode = {"mode": "incrementing", "incrementing.column.name": "c1", "batch.max.rows": "1"}
    assert all_of(follower(database, lane, **mode, query="SELECT c1, c2 FROM t"), "c1") == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (r"path = 'C:\temp'", r"C:\temp"),
        (r"path LIKE '50\%' ESCAPE '\'", "50%"),
        (r"path = 'a\:b'", r"a\:b"),
        (r"path = 'a\\b'", r"a\\b"),
        ("path = '12:30:45'", "12:30:45"),
        ("path = 'x::y:'", "x::y:"),
    ],
)
def test_query_is_read_as_it_is_written(sqlite: Server, condition: str, value: str) -> None:
    with sqlite.open().begin() as connection:
        connection.execute(sa.text("CREATE TABLE p (id INTEGER, path TEXT)"))
        values = [r"C:\temp", r"C:\\temp", "50%", "500", r"a\:b", "a:b", r"a\\b", r"a\b", "12:30:45", "x::y:"]
        for number, one in enumerate(values):
            connection.execute(sa.text("INSERT INTO p VALUES (:number, :path)"), {"number": number, "path": one})
    query = f"SELECT id, path, '\\' AS slash FROM p WHERE {condition}"
    source = follower(sqlite, mode="incrementing", incrementing_column_name="id", query=query)
    assert source.rows("path", "slash") == [(value, "\\")]
