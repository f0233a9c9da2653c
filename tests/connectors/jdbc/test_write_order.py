"""Tombstones keep their place among rows whose keys only the database considers equal."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from connect_core.api import SchemaBuilder, SinkRecord
from tests.connectors.jdbc.servers import Server, of_servers
from tests.connectors.jdbc.sink_runs import SinkRun, record, struct

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "id", "delete.enabled": "true"}
KEY = SchemaBuilder.struct().field("id", SchemaBuilder.string().build()).build()
VALUE = SchemaBuilder.struct().field("note", SchemaBuilder.string().build()).build()
SQLITE = pytest.mark.parametrize("server", of_servers(("sqlite",)), indirect=True)


def change(offset: int, key: str, note: str | None) -> SinkRecord:
    return record(offset, None if note is None else struct(VALUE, note=note), key=struct(KEY, id=key))


def orders(server: Server, type: str, *rows: str) -> SinkRun:
    server.execute(f"CREATE TABLE orders (id {type} NOT NULL PRIMARY KEY, note VARCHAR(9))")
    for row in rows:
        server.execute(f"INSERT INTO orders VALUES ('{row}', 'old')")
    return SinkRun(server, UPSERT)


@SQLITE
@pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
def test_tombstone_deletes_the_row_before_it_in_another_case(server: Server, in_batches: bool) -> None:
    run = orders(server, "TEXT COLLATE NOCASE")
    run.put([change(0, "a", "1"), change(1, "A", None)], in_batches)
    assert run.rows() == []


@SQLITE
@pytest.mark.parametrize("kept", [("a",)], ids=["row"])
@pytest.mark.parametrize("changes", list(product([("a", "1"), ("a", None), ("A", "2"), ("A", None)], repeat=3)))
def test_result_is_that_of_row_by_row(server: Server, kept: tuple[str, ...], changes: Any) -> None:
    run = orders(server, "TEXT COLLATE NOCASE", *kept)
    run.put([change(offset, *one) for offset, one in enumerate(changes)])
    expected = dict.fromkeys(kept, "old")
    for key, note in changes:
        held = next((one for one in expected if one.lower() == key.lower()), key)
        if note is None:
            expected.pop(held, None)
        else:
            expected[held] = note
    assert {key.lower(): note for key, note in run.rows()} == {key.lower(): note for key, note in expected.items()}


@pytest.mark.parametrize("server", of_servers(("mariadb",)), indirect=True)
@pytest.mark.parametrize(("first", "second"), [("a", "A"), ("e", "é"), ("ss", "ß"), ("a", "a ")])
def test_collation_decides_which_row_a_tombstone_deletes(server: Server, first: str, second: str) -> None:
    run = orders(server, "VARCHAR(9) COLLATE utf8mb4_unicode_ci")
    run.put([change(0, first, "1"), change(1, second, None)])
    assert run.rows() == []
    run.put([change(2, first, None), change(3, second, "2")])
    assert [note for _, note in run.rows()] == ["2"]


@pytest.mark.parametrize("server", of_servers(("postgresql",)), indirect=True)
def test_type_decides_which_row_a_tombstone_deletes(server: Server) -> None:
    run = orders(server, "inet")
    run.put([change(0, "10.0.0.1", "1"), change(1, "10.0.0.1/32", None)])
    assert run.rows("SELECT note FROM orders") == []
