"""Queries whose columns have no types but those of their values."""

from __future__ import annotations

import pytest

from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.errors import ConnectError
from tests.connectors.jdbc.servers import Server, of_servers
from tests.connectors.jdbc.sources import follower

FILES = pytest.mark.parametrize("server", of_servers(("sqlite", "duckdb")), indirect=True)
QUERY = "SELECT e.id, e.changed FROM kinds LEFT JOIN e ON e.kind = kinds.kind"
MODES = pytest.mark.parametrize(
    "mode",
    [
        {"mode": "incrementing", "incrementing.column.name": "ID"},
        {"mode": "timestamp", "timestamp.column.name": "Changed"},
        {"mode": "timestamp+incrementing", "timestamp.column.name": "changed", "incrementing.column.name": "id"},
    ],
    ids=lambda mode: mode["mode"],
)


@FILES
@MODES
def test_query_without_a_value_yet_is_waited_for(server: Server, mode: dict[str, str]) -> None:
    kind = "DATETIME" if server.kind == "sqlite" else "TIMESTAMP"
    server.execute("CREATE TABLE kinds (kind INTEGER)", f"CREATE TABLE e (id INTEGER, kind INTEGER, changed {kind})")
    config = {**mode, "query": QUERY}
    source = follower(server, **config)
    assert JdbcSourceConnector().validate_live({**source.engine.config, **config}, server.limits) == {}
    assert source.rows() == []
    server.execute("INSERT INTO kinds VALUES (1)")
    assert source.rows() == [], "no row has a value"
    server.execute("INSERT INTO e VALUES (7, 1, '2024-01-01 00:00:00')")
    assert source.rows("id") == [7]
    server.execute("DELETE FROM e")
    assert source.rows() == []
    server.execute("INSERT INTO e VALUES (8, 1, '2024-01-02 00:00:00')")
    assert source.rows("id") == [8]


@FILES
def test_column_that_a_query_lacks_is_named_without_rows(server: Server) -> None:
    server.execute("CREATE TABLE e (id INTEGER)")
    source = follower(server, mode="incrementing", incrementing_column_name="nope", query="SELECT id FROM e")
    with pytest.raises(ConnectError, match="no column nope in the query; it has id"):
        source.interval()
