"""Values of every type, on every database; on PostgreSQL rows and columns must say the same."""

from __future__ import annotations

from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api import SourceRecord
from connect_core.api.data import Instant, Timestamp
from connect_core.connectors.jdbc.source.arrow_values import connect_array
from connect_core.connectors.jdbc.source.columns import ReadColumn
from connect_core.connectors.jdbc.source.driver_values import value_reader
from connect_core.errors import ConnectError, DataError
from connect_core.testing.comparing import records_facts
from connect_core.testing.source_engine import Lane
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sources import follower

POSTGRESQL = {
    "small": "SMALLINT",
    "whole": "INTEGER",
    "big": "BIGINT",
    "price": "NUMERIC(12, 2)",
    "huge": "NUMERIC(38, 0)",
    "open": "NUMERIC",
    "ratio": "REAL",
    "rate": "DOUBLE PRECISION",
    "flag": "BOOLEAN",
    "name": "TEXT",
    "code": "CHAR(3)",
    "raw": "BYTEA",
    "day": "DATE",
    "hour": "TIME",
    "local": "TIMESTAMP",
    "moment": "TIMESTAMPTZ",
    "doc": "JSONB",
    "uid": "UUID",
    "tags": "TEXT[]",
    "counts": "INTEGER[]",
    "sums": "NUMERIC(10, 2)[]",
    "span": "INTERVAL",
    "address": "INET",
    "bits": "BIT(3)",
    "zoned": "TIMETZ",
}
_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
_MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "small": st.integers(-(2**15), 2**15 - 1),
    "whole": st.integers(-(2**31), 2**31 - 1),
    "big": st.integers(-(2**63), 2**63 - 1),
    "price": st.decimals(-(10**9), 10**9, places=2),
    "huge": st.integers(-(10**37), 10**37).map(Decimal),
    "open": st.decimals(-(10**12), 10**12, places=9),
    "ratio": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "rate": st.floats(),
    "flag": st.booleans(),
    "name": _TEXT,
    "code": st.text("abc", min_size=1, max_size=3),
    "raw": st.binary(max_size=12),
    "day": st.dates(),
    "hour": st.times(),
    "local": _MOMENTS,
    "moment": _MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
    "tags": st.lists(_TEXT | st.none(), max_size=3),
    "counts": st.lists(st.integers(-9, 9) | st.none(), max_size=3),
    "sums": st.lists(st.decimals(-9, 9, places=2) | st.none(), max_size=3),
}
_MODES: tuple[dict[str, str], ...] = (
    {"mode": "incrementing", "incrementing_column_name": "id"},
    {"mode": "timestamp", "timestamp_column_name": "local", "validate_non_null": "false"},
    {"mode": "timestamp", "timestamp_column_name": "moment,local", "validate_non_null": "false"},
    {"mode": "bulk"},
)
_ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in _VALUES.items()}), max_size=6)


@pytest.mark.servers
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(rows=_ROWS, zone=st.sampled_from(["UTC", "Europe/Berlin"]), mode=st.sampled_from(_MODES))
def test_columns_say_what_rows_say(postgresql: Server, rows: Any, zone: Any, mode: Any) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in POSTGRESQL.items())
    names = ", ".join(_VALUES)
    bound = ", ".join(f"CAST(:{name} AS {POSTGRESQL[name]})" for name in _VALUES)
    with postgresql.open().begin() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS kinds"))
        connection.execute(sa.text(f"CREATE TABLE kinds (id SERIAL PRIMARY KEY, {columns})"))
        if rows:
            connection.execute(sa.text(f"INSERT INTO kinds ({names}) VALUES ({bound})"), rows)
    one, two = (follower(postgresql, lane, db_timezone=zone, batch_max_rows="2", **mode) for lane in Lane)
    assert records_facts(one.interval(), ["source_offset"]) == records_facts(two.interval(), ["source_offset"])
    assert [positions(record) for record in one.records] == [positions(record) for record in two.records]


def positions(record: SourceRecord) -> dict[str, Any]:
    """Return an offset without the horizon, which moves whatever else the server does."""
    return {name: value for name, value in (record.source_offset or {}).items() if name != "xmin"}


@pytest.mark.servers
@pytest.mark.parametrize("lane", list(Lane), ids=lambda lane: lane.value)
def test_postgresql_types(postgresql: Server, lane: Lane) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in POSTGRESQL.items())
    values = (
        "1, 2, 3, 4.5, 6, 0.125, 0.5, 'NaN', true, 'Zoë', 'ab', '\\x00ff', '2024-02-29', '12:30:01.123456', "
        "'2024-07-01 12:00:00.5', '2024-07-01 12:00:00+02', '{\"a\": [1]}', '6ecd8c99-4036-403d-bf84-cf8400f67836', "
        "'{a,NULL}', '{1,2}', '{1.5}', '1 day', '10.0.0.1', '101', '12:00+02'"
    )
    postgresql.execute(
        f"CREATE TABLE kinds (id INTEGER PRIMARY KEY, {columns})", f"INSERT INTO kinds VALUES (1, {values})"
    )
    source = follower(postgresql, lane, mode="bulk", db_timezone="Europe/Berlin")
    row = source.rows()[0]
    assert row["price"] == Decimal("4.50")
    assert row["open"] == Decimal("0.125")
    assert row["rate"] != row["rate"]
    assert (row["name"], row["code"], row["raw"]) == ("Zoë", "ab ", b"\x00\xff")
    assert row["hour"] == Instant.of(time(12, 30, 1, 123000))
    assert row["local"] == Instant.of(datetime(2024, 7, 1, 10, 0, 0, 500000, tzinfo=UTC))
    assert row["moment"] == Instant.of(datetime(2024, 7, 1, 10, tzinfo=UTC))
    assert (row["doc"], row["uid"]) == ('{"a": [1]}', "6ecd8c99-4036-403d-bf84-cf8400f67836")
    assert (row["tags"], row["counts"], row["sums"]) == (["a", None], [1, 2], [Decimal("1.50")])
    assert (row["span"], row["address"], row["bits"], row["zoned"]) == ("1 day", "10.0.0.1/32", "101", "12:00:00+02")


@pytest.mark.servers
def test_mariadb_types(mariadb: Server) -> None:
    mariadb.execute(
        "CREATE TABLE kinds (id INT PRIMARY KEY, tiny TINYINT, flag BOOLEAN, positive INT UNSIGNED, "
        "most BIGINT UNSIGNED, price DECIMAL(12,2), ratio FLOAT, rate DOUBLE, name VARCHAR(20), raw VARBINARY(9), "
        "day DATE, hour TIME(6), local DATETIME(6), moment TIMESTAMP(6) NULL, doc JSON, kind ENUM('a','b'))",
        "INSERT INTO kinds VALUES (1, -5, 1, 4294967295, 18446744073709551615, 4.5, 0.5, 0.1, '日本 ✓', X'00FF', "
        "'2024-02-29', '12:30:01.5', '2024-07-01 12:00:00.5', '2024-07-01 12:00:00', '{\"a\": 1}', 'b')",
    )
    row = follower(mariadb, mode="bulk", db_timezone="Europe/Berlin").rows()[0]
    assert (row["tiny"], row["flag"], row["positive"]) == (-5, True, 4294967295)
    assert (row["most"], row["price"]) == (Decimal(18446744073709551615), Decimal("4.50"))
    assert (row["ratio"], row["rate"], row["name"], row["raw"]) == (0.5, 0.1, "日本 ✓", b"\x00\xff")
    assert row["hour"] == Instant.of(time(12, 30, 1, 500000))
    assert row["local"] == Instant.of(datetime(2024, 7, 1, 10, 0, 0, 500000, tzinfo=UTC))
    assert row["moment"] == Instant.of(datetime(2024, 7, 1, 12, tzinfo=UTC))
    assert (row["doc"], row["kind"]) == ('{"a": 1}', "b")


def test_sqlite_values_that_do_not_fit_are_named(sqlite: Server) -> None:
    sqlite.execute(
        "CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO loose VALUES (1, 5), (2, 'x')"
    )
    source = follower(sqlite, mode="incrementing", incrementing_column_name="id")
    with pytest.raises(DataError, match=r"table loose, key \{'id': 2\}, at offset .*column n holds 'x'"):
        source.interval()


@pytest.mark.servers
@pytest.mark.parametrize("lane", list(Lane), ids=lambda lane: lane.value)
def test_values_connect_cannot_say_fail_the_task(postgresql: Server, lane: Lane) -> None:
    postgresql.execute(
        "CREATE TABLE odd (id INTEGER PRIMARY KEY, price NUMERIC(9, 2))", "INSERT INTO odd VALUES (7, 'NaN')"
    )
    with pytest.raises(ConnectError, match=r"odd.*'id': 7.*column price"):
        follower(postgresql, lane, mode="bulk").interval()


@pytest.mark.parametrize(
    ("mapping", "kinds"),
    [
        ("none", ["BYTES", "BYTES", "BYTES"]),
        ("precision_only", ["INT16", "BYTES", "BYTES"]),
        ("best_fit", ["INT16", "FLOAT64", "BYTES"]),
        ("best_fit_eager_double", ["INT16", "FLOAT64", "FLOAT64"]),
    ],
)
def test_numeric_mapping(sqlite: Server, mapping: str, kinds: list[str]) -> None:
    sqlite.execute(
        "CREATE TABLE numbers (a NUMERIC(4, 0), b NUMERIC(10, 2), c NUMERIC(30, 2))",
        "INSERT INTO numbers VALUES (12, 1.5, 2.5)",
    )
    record = follower(sqlite, mode="bulk", numeric_mapping=mapping).interval()[0]
    assert record.value_schema is not None
    assert [str(field.schema.type) for field in record.value_schema.fields] == kinds


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_clock_changes_mean_the_same_in_both_lanes(zone: str) -> None:
    moments = [
        datetime(2024, month, day, hour, 30)
        for month, day in ((3, 31), (10, 27), (3, 10), (11, 3))
        for hour in range(5)
    ]
    for kind in (sa.DateTime(), sa.DateTime(timezone=True)):
        column = ReadColumn("at", kind, Timestamp.SCHEMA, is_zoned=bool(kind.timezone))
        given = [moment.replace(tzinfo=UTC) if kind.timezone else moment for moment in moments]
        array = pa.array(given, pa.timestamp("us", tz="UTC" if kind.timezone else None))
        read = value_reader(column, ZoneInfo(zone))
        millis = connect_array(column, array, ZoneInfo(zone)).view(pa.int64()).to_pylist()
        assert [Instant(one) for one in millis] == [read(one) for one in given]


@pytest.mark.servers
@pytest.mark.parametrize("value", ["infinity", "10000-01-01"])
@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATE"])
def test_time_that_python_cannot_represent_is_named(postgresql: Server, kind: str, value: str) -> None:
    postgresql.execute(f"CREATE TABLE e (id INTEGER PRIMARY KEY, ts {kind})", f"INSERT INTO e VALUES (7, '{value}')")
    with pytest.raises(DataError, match=r"In table .*e: value -?\d+ \(.*\) of column ts, key id=7, is not within"):
        follower(postgresql, Lane.BATCHES, mode="incrementing", incrementing_column_name="id").interval()
