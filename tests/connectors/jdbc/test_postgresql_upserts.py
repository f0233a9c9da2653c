"""PostgreSQL takes upserts of new rows by COPY, others by a merge: the table is the same whichever it was."""

from __future__ import annotations

import threading

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api import SchemaBuilder
from connect_core.errors import ConnectError, DataError
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, order, record, struct

pytestmark = pytest.mark.servers

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
CREATE = "CREATE TABLE orders (id bigint PRIMARY KEY, label text)"


def put(run: SinkRun, rows: dict[int, str | None]) -> None:
    """Run one interval of these rows, in one transaction."""
    begin = max(run.positions.values(), default=0)
    run.put([order(begin + place, id, label) for place, (id, label) in enumerate(rows.items())])


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    intervals=st.lists(st.dictionaries(st.integers(0, 30), st.sampled_from(["a", "b", None]), min_size=1), max_size=6)
)
def test_rows_new_and_known_in_any_order(postgresql: Server, intervals: list[dict[int, str | None]]) -> None:
    postgresql.execute("DROP TABLE IF EXISTS orders", CREATE, "DROP TABLE IF EXISTS connect_offsets")
    run = SinkRun(postgresql, UPSERT)
    expected: dict[int, str | None] = {}
    for rows in intervals:
        put(run, rows)
        expected |= rows
    assert dict(postgresql.rows("SELECT id, label FROM orders")) == expected


def test_several_transactions_of_one_task(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that has met a known key merges for a while, and copies again."""
    monkeypatch.setattr("connect_core.connectors.jdbc.sink.task._MOST_ROWS", 2)
    run = SinkRun(postgresql, {**UPSERT, "auto.create": "true"})
    ids = [1, 2, 1, 3, 4, 5, 6, 7, 7, 8, 9, 1, 10, 11, 12, 13]
    run.put([order(offset, id, f"at {offset}") for offset, id in enumerate(ids)], rows=2)
    assert dict(run.rows()) == {id: f"at {offset}" for offset, id in enumerate(ids)}


@pytest.mark.parametrize("create", ["CREATE TABLE orders (id bigint, label text)", f"{CREATE} PARTITION BY RANGE (id)"])
def test_without_a_unique_index_or_partition_nothing_is_written(postgresql: Server, create: str) -> None:
    postgresql.execute(create)
    with pytest.raises(ConnectError, match=r"ON CONFLICT|no partition"):
        put(SinkRun(postgresql, UPSERT), {1: "a"})
    assert postgresql.rows("SELECT * FROM orders") == []


def test_a_table_named_as_the_temporary_one_is_written(postgresql: Server) -> None:
    postgresql.execute("CREATE TABLE connect_stage (id bigint PRIMARY KEY, label text)")
    run = SinkRun(postgresql, {**UPSERT, "table.name.format": "connect_stage"})
    put(run, {1: "a", 2: "b"})
    put(run, {1: "c", 3: "d"})
    assert dict(postgresql.rows("SELECT id, label FROM connect_stage")) == {1: "c", 2: "b", 3: "d"}


def test_a_view_is_written_through(postgresql: Server) -> None:
    postgresql.execute(CREATE.replace("orders", "stored"), "CREATE VIEW orders AS SELECT * FROM stored")
    run = SinkRun(postgresql, UPSERT)
    put(run, {1: "a", 2: "b"})
    put(run, {2: "c", 3: "d"})
    assert dict(postgresql.rows("SELECT * FROM stored")) == {1: "a", 2: "c", 3: "d"}


def test_row_level_security_holds(postgresql: Server) -> None:
    postgresql.execute(
        CREATE,
        "ALTER TABLE orders ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE orders FORCE ROW LEVEL SECURITY",
        "CREATE POLICY few ON orders USING (id < 10)",
    )
    run = SinkRun(postgresql, UPSERT)
    put(run, {1: "a", 2: "b"})
    with pytest.raises(DataError, match="row-level security"):
        put(run, {3: "c", 10: "d"})
    assert dict(run.rows()) == {1: "a", 2: "b"}


def test_another_unique_column_is_the_rows_fault(postgresql: Server) -> None:
    postgresql.execute(CREATE, "CREATE UNIQUE INDEX labels ON orders (label)")
    run = SinkRun(postgresql, UPSERT)
    put(run, {1: "a"})
    with pytest.raises(DataError, match=r"offset 2.*key id=3.*labels"):
        put(run, {2: "b", 3: "a"})
    assert dict(run.rows()) == {1: "a"}


def test_a_key_that_somebody_else_is_inserting_is_waited_for(postgresql: Server) -> None:
    postgresql.execute(CREATE)
    with postgresql.open().connect() as other:
        driver = other.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        driver.execute("INSERT INTO orders VALUES (1, 'theirs')")
        run = SinkRun(postgresql, UPSERT)
        run.fence()
        committing = threading.Timer(0.5, driver.commit)
        committing.start()
        put(run, {1: "ours", 2: "b"})
        committing.join()
    assert dict(run.rows()) == {1: "ours", 2: "b"}


TEXTS = (
    SchemaBuilder.struct()
    .field("id", SchemaBuilder.string().build())
    .field("label", SchemaBuilder.string().build())
    .build()
)
FIRST, SAME = "6f1c1f0a-31b1-4a36-9f2b-2d4f3f1f6e0a", "6F1C1F0A-31B1-4A36-9F2B-2D4F3F1F6E0A"


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("mode", ["upsert", "update"])
@pytest.mark.parametrize(
    ("type", "keys"), [("uuid", (FIRST, SAME)), ("char(5)", ("a", "a ")), ("inet", ("10.0.0.1", "10.0.0.1/32"))]
)
def test_the_last_of_keys_that_the_database_takes_for_equal_is_kept(
    postgresql: Server, type: str, keys: tuple[str, str], mode: str, known: bool
) -> None:
    """The order of the texts has no influence: each of the two is written last once."""
    postgresql.execute(f"CREATE TABLE orders (id {type} PRIMARY KEY, label text)")
    run = SinkRun(postgresql, {**UPSERT, "insert.mode": mode})
    if known:
        postgresql.execute(f"INSERT INTO orders VALUES ('{keys[0]}', 'old')")
    for given_keys in (keys, keys[::-1]):
        begin = max(run.positions.values(), default=0)
        run.put([record(begin + at, struct(TEXTS, id=key, label=f"{begin + at}")) for at, key in enumerate(given_keys)])
        written = [str(begin + 1)] if known or mode == "upsert" else []
        assert [label for (label,) in postgresql.rows("SELECT label FROM orders")] == written
