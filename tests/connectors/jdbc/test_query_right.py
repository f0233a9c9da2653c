"""A query of one's own is a right; with it, it still changes nothing and reads no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connect_core.connectors.jdbc.source.connector import JdbcSourceConnector
from connect_core.errors import ConfigError, ConnectError
from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower

MODE = {"mode": "incrementing", "incrementing_column_name": "id", "topic_prefix": "t"}
QUERY = "SELECT * FROM items"
WRITING = {
    "postgresql": "CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO items VALUES (9) RETURNING id'",
    "mariadb": "CREATE FUNCTION writes() RETURNS int BEGIN INSERT INTO items VALUES (9); RETURN 1; END",
}


def test_a_query_needs_its_right(sqlite: Server) -> None:
    sqlite.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)", "INSERT INTO items VALUES (1)")
    for value in ("", "false"):
        values = {**sqlite.limits.values, "jdbc.query.allowed": value}
        bare = replace(sqlite, limits=replace(sqlite.limits, values=values))
        given = {name.replace("_", "."): text for name, text in MODE.items()}
        found = JdbcSourceConnector().validate_live({**bare.config, **given, "query": QUERY}, bare.limits)
        assert "set jdbc.query.allowed=true" in found["query"][0]
        with pytest.raises(ConfigError, match="may not send custom queries"):
            follower(bare, **MODE, query=QUERY).interval()
        assert follower(bare, **MODE).rows("id") == [1]
    assert follower(sqlite, **MODE, query=QUERY).rows("id") == [1]


@pytest.mark.servers
@pytest.mark.parametrize("lane", Lane)
@pytest.mark.parametrize("server", sorted(WRITING), indirect=True)
def test_a_query_changes_nothing_even_through_a_function(server: Server, lane: Lane) -> None:
    server.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)", "INSERT INTO items VALUES (1)", WRITING[server.kind])
    with pytest.raises(ConnectError, match=r"(?i)read.only transaction"):
        follower(server, lane, **MODE, query="SELECT id, writes() AS written FROM items").interval()
    assert server.rows(QUERY) == [(1,)]


@pytest.mark.servers
@pytest.mark.parametrize("lane", Lane)
def test_a_query_of_duckdb_reads_no_other_file(duckdb: Server, lane: Lane, tmp_path: Path) -> None:
    duckdb.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)", "INSERT INTO items VALUES (1)")
    (tmp_path / "secret").write_text("canary")
    query = f"SELECT 1 AS id, content FROM read_text('{tmp_path}/secret')"
    with pytest.raises(ConnectError, match="disabled by configuration"):
        follower(duckdb, lane, **MODE, query=query).interval()
    assert follower(duckdb, lane, **MODE, query=QUERY).rows("id") == [1]
