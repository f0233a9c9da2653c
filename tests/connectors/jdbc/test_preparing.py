"""Rows that a table cannot take as they are."""

from __future__ import annotations

import pytest

from connect_core.api import SchemaBuilder
from connect_core.errors import DataError
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, record, struct


@pytest.mark.parametrize("evolves", ["true", "false"])
def test_two_fields_of_one_column_are_named(sqlite: Server, evolves: str) -> None:
    text = SchemaBuilder.string().build()
    row = SchemaBuilder.struct().field("Ab", text).field("aB", text).build()
    sqlite.execute("CREATE TABLE orders (ab TEXT)")
    with pytest.raises(
        DataError, match="offset 0: fields Ab and aB would both be written to column ab of table orders"
    ):
        SinkRun(sqlite, {"auto.evolve": evolves}).put([record(0, struct(row, Ab="1", aB="2"))])
