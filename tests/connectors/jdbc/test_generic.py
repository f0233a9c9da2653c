"""The generic dialect, on DuckDB."""

from __future__ import annotations

from uuid import UUID

import pytest

from connect_core.api import SchemaBuilder
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
