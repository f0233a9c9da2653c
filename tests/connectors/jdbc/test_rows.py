"""Schemaless records as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from connect_core.api.batch import Batch
from connect_core.connectors.jdbc.sink.config import sink_settings
from connect_core.connectors.jdbc.sink.rows import rows_of_batch
from connect_core.errors import DataError
from tests.connectors.jdbc.servers import Server, of_servers
from tests.connectors.jdbc.sink_runs import SinkRun, record

INSERT = {"insert.mode": "insert"}
LANES = pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
SETTINGS = sink_settings({"topics": "orders", "connection.url": "jdbc:sqlite:a"})
NESTED = [{"a": 1}, {"b": 2}, {"a": None}, {"a": "text"}, [1, "a"], [1], [2.5], [], None, {}, [{"c": [None]}]]


def put(server: Server, column: str, values: Sequence[Any], in_batches: bool, rows: int = 1000) -> list[Any]:
    """Put one record for each value → what the column contains then."""
    server.execute(f"CREATE TABLE orders (id BIGINT, v {column})")
    run = SinkRun(server, INSERT)
    run.put([record(at, {"id": at, "v": value}) for at, value in enumerate(values)], in_batches, rows)
    return [value for _, value in run.rows("SELECT id, v FROM orders ORDER BY id")]


@LANES
@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize("server", of_servers(("sqlite", "duckdb", "postgresql")), indirect=True)
def test_nested_value_does_not_depend_on_its_neighbours(server: Server, in_batches: bool, rows: int) -> None:
    found = put(server, "TEXT", NESTED, in_batches, rows)
    assert found == [None if value is None else json.dumps(value, separators=(",", ":")) for value in NESTED]


@LANES
@pytest.mark.parametrize("server", of_servers(("postgresql",)), indirect=True)
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("JSONB", NESTED),
        ("BIGINT[]", [[1], [2, None], [], None]),
        ("DOUBLE PRECISION[]", [[1, 2.5], [3.0], [4]]),
        ("TEXT[]", [["a"], ["b", None]]),
    ],
)
def test_nested_values_arrive_in_columns_of_their_own_types(
    server: Server, in_batches: bool, column: str, values: list[Any]
) -> None:
    assert put(server, column, values, in_batches) == values


@pytest.mark.parametrize(
    ("values", "reason"),
    [([{"a": 2**70}], "field v cannot be written as JSON"), ([{"a": 1}, 1], "field v has different types")],
)
def test_what_is_no_json_is_named(values: list[Any], reason: str) -> None:
    with pytest.raises(DataError, match=f"partition 0, offset 0: {reason}"):
        list(rows_of_batch(Batch.from_records([record(at, {"v": one}) for at, one in enumerate(values)]), SETTINGS))
