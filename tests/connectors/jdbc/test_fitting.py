"""Values that a column cannot hold are refused one by one, never altered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from connect_core.api import Schema, SchemaBuilder
from connect_core.api.data import Date, Instant, Timestamp
from tests.connectors.contexts import Reporter
from tests.connectors.jdbc.servers import Server, of_servers
from tests.connectors.jdbc.sink_runs import SinkRun, record, struct

FILES = pytest.mark.parametrize("server", of_servers(("sqlite", "duckdb"), in_matrix=("duckdb",)), indirect=True)
LANES = pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
EVOLVES = {"auto.create": "true", "auto.evolve": "true"}
DAY = 86_400_000


def row_of(field: Schema) -> Schema:
    return SchemaBuilder.struct().field("id", SchemaBuilder.int64().build()).field("x", field).build()


def put(run: SinkRun, schema: Schema, values: Sequence[Any], in_batches: bool = True, first: int = 0) -> list[str]:
    """Put one record for each value → the reported errors."""
    run.reporter = reporter = Reporter()
    rows = [record(first + at, struct(schema, id=first + at, x=value)) for at, value in enumerate(values)]
    run.put(rows, in_batches)
    return [str(error) for _, error in reporter.reported]


@FILES
@LANES
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Timestamp.SCHEMA, 300_000_000_000_000),
        (Timestamp.SCHEMA, 2**62),
        (Timestamp.SCHEMA, -90_000_000_000_000),
        (Date.SCHEMA, 4_000_000 * DAY),
        (Date.SCHEMA, -1_000_000 * DAY),
    ],
)
def test_times_that_no_database_has_are_refused(
    server: Server, in_batches: bool, zone: str, field: Schema, value: int
) -> None:
    run = SinkRun(server, {**EVOLVES, "db.timezone": zone})
    first, last = Instant(-62_135_510_400_000), Instant(253_402_214_400_000)
    (error,) = put(run, row_of(field), [first, Instant(value), last], in_batches)
    shown = value if field is Timestamp.SCHEMA else value // DAY
    assert f"partition 0, offset 1: value {shown} (" in error
    assert "does not fit column x" in error
    assert "table orders" in error
    assert [id for id, _ in run.rows("SELECT id, CAST(x AS VARCHAR) FROM orders ORDER BY 1")] == [0, 2]


@FILES
def test_time_of_a_key_that_no_database_has_is_refused(server: Server) -> None:
    run = SinkRun(server, {**EVOLVES, "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "x"})
    (error,) = put(run, row_of(Timestamp.SCHEMA), [Instant(0), Instant(2**62)])
    assert f"key x={2**62} (timestamp[ms" in error
    assert run.rows("SELECT id FROM orders") == [(0,)]


@FILES
def test_default_that_no_database_has_is_refused(server: Server) -> None:
    field = Timestamp.builder().optional().default_value(Instant(300_000_000_000_000)).build()
    (error,) = put(SinkRun(server, EVOLVES), row_of(field), [Instant(0)])
    assert "value 300000000000000 (" in error
    assert "column x" in error


def rows_of(server: Server) -> list[tuple[Any, ...]]:
    return server.rows("SELECT id, x + 0.0E0 FROM orders ORDER BY 1")


def create(server: Server, column: str) -> None:
    server.execute(f"CREATE TABLE orders (id BIGINT, x {column})")


@pytest.mark.parametrize("server", of_servers(("duckdb", "postgresql", "mariadb")), indirect=True)
@pytest.mark.parametrize(
    ("column", "kept", "field", "value"),
    [
        ("SMALLINT", 32_767, SchemaBuilder.float32(), 0.5),
        ("INTEGER", 16_777_217, SchemaBuilder.float64(), 0.5),
        ("INTEGER", -(2**24), SchemaBuilder.float32(), 0.5),
        ("BIGINT", 2**53, SchemaBuilder.float64(), 0.5),
        ("REAL", 0.5, SchemaBuilder.float64(), 0.1),
    ],
)
def test_column_is_widened_only_if_it_keeps_its_rows(
    server: Server, column: str, kept: float, field: SchemaBuilder, value: float
) -> None:
    create(server, column)
    server.execute(f"INSERT INTO orders VALUES (7, {kept})")
    assert put(SinkRun(server, EVOLVES), row_of(field.build()), [value]) == []
    assert rows_of(server) == [(0, value), (7, kept)]


@pytest.mark.parametrize("server", of_servers(("duckdb", "postgresql", "mariadb")), indirect=True)
@pytest.mark.parametrize(
    ("column", "kept", "field"),
    [
        ("INTEGER", 16_777_217, SchemaBuilder.float32()),
        ("BIGINT", 2**53 + 1, SchemaBuilder.float32()),
        ("BIGINT", 2**53 + 1, SchemaBuilder.float64()),
    ],
)
def test_integers_are_not_rounded_by_widening_their_column(
    server: Server, column: str, kept: int, field: SchemaBuilder
) -> None:
    create(server, column)
    server.execute(f"INSERT INTO orders VALUES (7, {kept})")
    (error,) = put(SinkRun(server, EVOLVES), row_of(field.build()), [0.5])
    assert "does not fit column x of type" in error
    assert "alter the column manually" in error
    assert "table orders" in error
    assert server.rows("SELECT id, x FROM orders") == [(7, kept)]


@pytest.mark.parametrize("server", of_servers(("sqlite", "duckdb", "postgresql")), indirect=True)
@LANES
@pytest.mark.parametrize("evolves", ["true", "false"])
@pytest.mark.parametrize("column", ["REAL", "DOUBLE PRECISION"])
def test_integers_that_a_float_column_would_round_are_refused(
    server: Server, in_batches: bool, evolves: str, column: str
) -> None:
    create(server, column)
    run = SinkRun(server, {"auto.evolve": evolves})
    bits = 24 if column == "REAL" and server.kind != "sqlite" else 53
    exact = [2**bits, -(2**bits), 2**bits + 2, 2**62, -(2**63)]
    rounded = [2**bits + 1, -(2**bits) - 1, 2**63 - 1]
    errors = put(run, row_of(SchemaBuilder.int64().build()), [*exact[:2], *rounded, *exact[2:]], in_batches)
    assert all(f"value {one} does not fit column x" in error for one, error in zip(rounded, errors, strict=True))
    assert sorted(value for _, value in rows_of(server)) == sorted(exact)
