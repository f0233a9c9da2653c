"""PostgreSQL's COPY, in binary form or as CSV: the table holds the same values whichever it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.connectors.jdbc.catalog import Table, TableName
from connect_core.connectors.jdbc.dialects import dialect_named
from connect_core.connectors.jdbc.dialects.postgresql.binary import in_binary
from connect_core.connectors.jdbc.dialects.writes import Verb, Write
from tests.connectors.jdbc.servers import Server

BIGINT, INTEGER, TEXT, DOUBLE, NUMERIC, TIMESTAMP, TIMESTAMPTZ = 20, 23, 25, 701, 1700, 1114, 1184
TIMES = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 30))
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
COLUMNS: dict[str, tuple[str, pa.DataType, st.SearchStrategy[Any]]] = {
    "flag": ("boolean", pa.bool_(), st.booleans()),
    "bytes": ("bytea", pa.binary(), st.binary(max_size=20)),
    "small": ("smallint", pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "whole": ("integer", pa.int64(), st.integers(-(2**31), 2**31 - 1)),
    "large": ("bigint", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "words": ("text", pa.string(), TEXTS),
    "few words": ("varchar(20)", pa.string(), TEXTS),
    "single": ("real", pa.float32(), st.floats(width=32, allow_nan=False)),
    "double": ("double precision", pa.float64(), st.floats(allow_nan=False)),
    "day": ("date", pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "local": ("timestamp", pa.timestamp("us"), TIMES),
    "moment": ("timestamptz", pa.timestamp("us", "UTC"), TIMES.map(lambda one: one.replace(tzinfo=UTC))),
}
ROWS = st.lists(st.tuples(*(st.none() | values for _, _, values in COLUMNS.values())), min_size=1, max_size=20)


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    kinds = [kind for _, kind, _ in COLUMNS.values()]
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=list(COLUMNS))


def described(server: Server) -> Table:
    database = server.open()
    with database.connect() as connection:
        found = database.dialect.table(connection, TableName(None, "t"))
    assert found is not None
    return found


@contextmanager
def inserted(server: Server, table: Table, data: pa.Table) -> Iterator[None]:
    """Write rows by the dialect; they are committed at the end of the block."""
    with server.open().begin() as connection:
        dialect_named("postgresql").write(connection, Write(Verb.INSERT, table, (), data, 1000))
        yield


@pytest.mark.servers
@pytest.mark.parametrize("extra", ["", ', "amount" numeric DEFAULT 1'], ids=["binary", "CSV"])
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_values_of_all_types(postgresql: Server, extra: str, rows: list[tuple[Any, ...]]) -> None:
    columns = ", ".join(f'"{name}" {kind}' for name, (kind, _, _) in COLUMNS.items())
    postgresql.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t ({columns}{extra})")
    data = table_of(rows)
    expected = rows
    if extra:
        data = data.append_column("amount", pa.array([str(number) for number in range(len(rows))]))
        expected = [(*row, number) for number, row in enumerate(rows)]
    with inserted(postgresql, described(postgresql), data):
        pass
    # As text, which the client asks for, a real has as few digits as tell it from others.
    postgresql.execute("ALTER TABLE t ALTER single TYPE double precision")
    assert postgresql.rows("SELECT * FROM t") == expected


@pytest.mark.servers
def test_a_column_altered_since_it_was_described(postgresql: Server) -> None:
    """Eight bytes of an integer must not be read as a double, nor as a text."""
    postgresql.execute("CREATE TABLE t (id bigint, at bigint)")
    stale = described(postgresql)
    postgresql.execute("ALTER TABLE t ALTER id TYPE double precision, ALTER at TYPE text")
    with inserted(postgresql, stale, pa.table({"id": [1, 2], "at": [3, None]})):
        pass
    assert postgresql.rows("SELECT id, at FROM t") == [(1.0, "3"), (2.0, None)]


@pytest.mark.servers
def test_types_are_held_until_the_transaction_ends(postgresql: Server) -> None:
    postgresql.execute("CREATE TABLE t (id bigint)")
    with (
        inserted(postgresql, described(postgresql), pa.table({"id": [1]})),
        pytest.raises(Exception, match="lock timeout"),
    ):
        postgresql.execute("SET LOCAL lock_timeout = '200ms'", "ALTER TABLE t ALTER id TYPE double precision")


@pytest.mark.parametrize(
    ("array", "oid"),
    [
        (pa.array([1.5]), NUMERIC),
        (pa.array(["1"]), BIGINT),
        (pa.array([1]), DOUBLE),
        (pa.array([0.1], pa.float32()), DOUBLE),
        (pa.array([2**31]), INTEGER),
        (pa.array([0], pa.timestamp("ms")), TIMESTAMPTZ),
        (pa.array([2**62], pa.timestamp("ms")), TIMESTAMP),
        (pa.array([-(2**63)], pa.timestamp("us")), TIMESTAMP),
        (pa.array([1]), None),
    ],
)
def test_what_the_server_is_to_convert_or_to_judge_goes_as_text(array: pa.Array, oid: int | None) -> None:
    assert in_binary(pa.table({"c": array}), {} if oid is None else {"c": oid}) is None


@pytest.mark.parametrize(
    ("array", "oid"),
    [
        (pa.array([1, None], pa.int16()), BIGINT),
        (pa.array([None, None], pa.string()), BIGINT),
        (pa.array([0], pa.timestamp("ms")), TIMESTAMP),
        (pa.array([0], pa.timestamp("ms", "UTC")), TIMESTAMPTZ),
        (pa.array(["a"]), TEXT),
        (pa.array([], pa.int64()), BIGINT),
    ],
)
def test_what_differs_in_size_only_goes_in_binary_form(array: pa.Array, oid: int) -> None:
    pieces = in_binary(pa.table({"c": array}), {"c": oid})
    assert pieces is not None
    # PostgreSQL, "Binary Format" of COPY: its signature, and the trailer that counts no fields.
    text = b"".join(pieces)
    assert (text[:11], text[-2:]) == (b"PGCOPY\n\xff\r\n\0", b"\xff\xff")
