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

FILES = pytest.mark.parametrize("server", of_servers(("sqlite", "duckdb")), indirect=True)
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
