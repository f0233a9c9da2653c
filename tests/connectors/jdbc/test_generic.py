"""The generic dialect: on DuckDB, and within the limits of databases that have no server here."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import pyarrow as pa
import pytest
import sqlalchemy as sa

from connect_core.api import SchemaBuilder
from connect_core.connectors.jdbc.catalog import Column, Table, TableName
from connect_core.connectors.jdbc.dialects.generic import GenericDialect
from connect_core.connectors.jdbc.dialects.writes import Verb, Write
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, record, struct

ROW = (
    SchemaBuilder.struct()
    .field("id", SchemaBuilder.string().build())
    .field("part", SchemaBuilder.int32().build())
    .field("note", SchemaBuilder.string().build())
    .build()
)
ONE, OTHER = "6f1c1f0a-31b1-4a36-9f2b-2d4f3f1f6e01", "6f1c1f0a-31b1-4a36-9f2b-2d4f3f1f6e02"


@pytest.mark.servers
@pytest.mark.parametrize("keys", ["id", "id,part"])
def test_upserts_rows_by_uuid(duckdb: Server, keys: str) -> None:
    duckdb.execute(f"CREATE TABLE orders (id UUID, part INTEGER, note VARCHAR, PRIMARY KEY ({keys}))")
    run = SinkRun(duckdb, {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": keys})
    run.put([record(0, struct(ROW, id=ONE, part=1, note="a"))])
    run.put(
        [record(1, struct(ROW, id=ONE.upper(), part=1, note="b")), record(2, struct(ROW, id=OTHER, part=1, note="c"))]
    )
    assert run.rows("SELECT id, note FROM orders ORDER BY id") == [(UUID(ONE), "b"), (UUID(OTHER), "c")]


class Statements:
    """A connection to an empty database of a dialect: it compiles statements as this does, and keeps their sizes."""

    def __init__(self, dialect: sa.Dialect) -> None:
        self.dialect = dialect
        self.sizes: list[tuple[int, int]] = []

    def execute(self, statement: sa.Executable, given: object = None) -> list[tuple[Any, ...]]:
        many = given if isinstance(given, list) else [given or {}]
        compiled = cast("Any", statement).compile(dialect=self.dialect, compile_kwargs={"render_postcompile": True})
        rows = str(compiled).partition("VALUES")[2].count("(")
        self.sizes += [(rows, len(compiled.params))] * len(many)
        return []


@pytest.mark.parametrize(("name", "most_rows", "most_values"), [("mssql", 1000, 2100), ("oracle", 1, 65_535)])
@pytest.mark.parametrize("keys", [1, 6])
@pytest.mark.parametrize("verb", [Verb.INSERT, Verb.UPSERT])
def test_statements_stay_within_the_limits_of_the_database(
    name: str, most_rows: int, most_values: int, keys: int, verb: Verb
) -> None:
    names = tuple(f"k{place}" for place in range(keys))
    data = pa.table({name: range(3000) for name in names})
    table = Table(TableName(None, "orders"), tuple(Column(name, sa.Integer()) for name in names), names)
    connection = Statements(sa.make_url(f"{name}://").get_dialect()())
    GenericDialect().write(cast("sa.Connection", connection), Write(verb, table, names, data, 3000))
    assert all(rows <= most_rows and values <= most_values for rows, values in connection.sizes)
    assert sum(rows for rows, _ in connection.sizes) == 3000
