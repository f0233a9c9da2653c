"""Both lanes leave the same table, whatever the operations; types arrive as they were."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal as D
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from connect_core.api import Schema, SchemaBuilder, SinkRecord
from connect_core.api.data import Date, Decimal, Instant, Time, Timestamp
from connect_core.errors import DataError
from tests.connectors.jdbc.servers import Server, file_server, of_servers
from tests.connectors.jdbc.sink_runs import SinkRun, record, struct

_V1 = SchemaBuilder.struct().name("row").version(1).field("id", SchemaBuilder.int32().build())
V1 = _V1.field("text", SchemaBuilder.string().optional().build()).build()
_V2 = SchemaBuilder.struct().name("row").version(2).field("id", SchemaBuilder.int32().build())
_V2 = _V2.field("text", SchemaBuilder.string().optional().build()).field("n", SchemaBuilder.int32().optional().build())
V2 = _V2.field("state", SchemaBuilder.string().default_value("NEW").build()).build()
_V3 = SchemaBuilder.struct().name("row").version(3).field("id", SchemaBuilder.int32().build())
_V3 = _V3.field("n", SchemaBuilder.int64().optional().build())
V3 = _V3.field("state", SchemaBuilder.string().default_value("OLD").build()).build()

UPSERT = {
    "insert.mode": "upsert",
    "pk.mode": "record_key",
    "pk.fields": "id",
    "delete.enabled": "true",
    "auto.create": "true",
    "auto.evolve": "true",
    "fields.include.list": "text,n,state",
}
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
operations = st.lists(
    st.one_of(
        st.tuples(st.just(V1), st.integers(0, 5), texts),
        st.tuples(st.just(V2), st.integers(0, 5), st.integers(-5, 5)),
        st.tuples(st.just(V3), st.integers(0, 5), st.integers(-(2**40), 2**40)),
        st.tuples(st.none(), st.integers(0, 5), st.none()),
    ),
    min_size=1,
    max_size=10,
)


def records_of(chosen: list[tuple[Schema | None, int, Any]]) -> list[SinkRecord]:
    made = []
    for offset, (schema, id, value) in enumerate(chosen):
        if schema is None:
            made.append(record(offset, None, key=id))
        else:
            name = "text" if schema is V1 else "n"
            made.append(record(offset, struct(schema, **{"id": id, name: value}), key=id))
    return made


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@example([(V1, 0, ""), (V3, 0, 0)], 1, "upsert")
@given(operations, st.integers(1, 8), st.sampled_from(["upsert", "update"]))
def test_lanes_agree(tmp_path: Path, chosen: list[Any], rows: int, mode: str) -> None:
    folder = Path(mkdtemp(dir=tmp_path))
    _agree([_sqlite(folder / name) for name in ("a", "b", "c")], chosen, rows, mode)


@pytest.mark.servers
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations, st.integers(1, 8))
def test_lanes_agree_on_postgresql(tmp_path: Path, postgresql: Server, chosen: list[Any], rows: int) -> None:
    postgresql.execute("DROP TABLE IF EXISTS orders", "DROP TABLE IF EXISTS connect_offsets")
    postgresql.execute("DROP TABLE IF EXISTS connect_offsets_schemas")
    other = _sqlite(Path(mkdtemp(dir=tmp_path)))
    _agree([postgresql, other], chosen, rows, "upsert")


def _sqlite(folder: Path) -> Server:
    folder.mkdir(exist_ok=True)
    return file_server("sqlite", folder)


def _agree(servers: list[Server], chosen: list[Any], rows: int, mode: str) -> None:
    """Write by batches, by records, and one record an interval: three tables that must be equal."""
    seed = [(V1, id, "seed") for id in range(4)]
    made = records_of(seed + chosen)
    contents = []
    for server, in_batches in zip(servers, (True, False, False), strict=False):
        run = SinkRun(server, UPSERT)
        run.put(made[: len(seed)])
        run.settings = {**UPSERT, "insert.mode": mode}
        pieces = [made[len(seed) :]] if server is not servers[-1] else [[one] for one in made[len(seed) :]]
        for piece in pieces:
            run.put(piece, in_batches, rows)
        names = [name for name in ("id", "text", "n", "state") if name in {"id", "text"} | _added(chosen)]
        contents.append(server.rows(f"SELECT {', '.join(names)} FROM orders ORDER BY id"))
    assert all(content == contents[0] for content in contents)


def _added(chosen: list[Any]) -> set[str]:
    return {"n", "state"} if any(schema in (V2, V3) for schema, _, _ in chosen) else set()


@pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
def test_versions_in_any_mix_over_tasks_and_restarts(server: Server, in_batches: bool) -> None:
    run = SinkRun(server, UPSERT)
    mixed = [
        record(0, struct(V1, id=1, text="a"), key=1, partition=0),
        record(0, struct(V3, id=2, n=2**40), key=2, partition=1),
        record(1, struct(V2, id=3, text="c", n=7), key=3, partition=0),
        record(1, struct(V1, id=4, text="d"), key=4, partition=1),
    ]
    run.put(mixed, in_batches)
    again = SinkRun(server, UPSERT, epoch=run.epoch, positions=run.positions)
    again.put(
        [record(2, struct(V1, id=5, text="e"), key=5), record(3, struct(V2, id=1, n=9, text="z"), key=1)], in_batches
    )
    found = run.rows("SELECT id, n, state FROM orders ORDER BY id")
    assert found == [(1, 9, "NEW"), (2, 2**40, "OLD"), (3, 7, "NEW"), (4, None, "OLD"), (5, None, "OLD")]
    assert run.rows("SELECT version FROM connect_offsets_schemas") == [(3,)]


def test_an_impossible_version_fails_and_moves_nothing(server: Server) -> None:
    run = SinkRun(server, UPSERT)
    bare = SchemaBuilder.struct().name("row").version(5).field("text", SchemaBuilder.int64().build()).build()
    run.put([record(0, struct(bare, text=1), key=1)])
    with pytest.raises(DataError, match=r"offset 1: version 1 of schema row cannot be converted to version 5"):
        run.put([record(1, struct(V1, id=2, text="a"), key=2)])
    assert list(run.fence().values()) == [1]


ALL = (
    SchemaBuilder.struct()
    .field("id", SchemaBuilder.int64().build())
    .field("i8", SchemaBuilder.int8().optional().build())
    .field("i16", SchemaBuilder.int16().optional().build())
    .field("i32", SchemaBuilder.int32().optional().build())
    .field("i64", SchemaBuilder.int64().optional().build())
    .field("f32", SchemaBuilder.float32().optional().build())
    .field("f64", SchemaBuilder.float64().optional().build())
    .field("flag", SchemaBuilder.boolean().optional().build())
    .field("txt", SchemaBuilder.string().optional().build())
    .field("raw", SchemaBuilder.bytes().optional().build())
    .field("price", Decimal.builder(4).optional().build())
    .field("day", Date.builder().optional().build())
    .field("tod", Time.builder().optional().build())
    .field("ts", Timestamp.builder().optional().build())
    .field("list", SchemaBuilder.array(SchemaBuilder.string().optional().build()).optional().build())
    .field("map", SchemaBuilder.map(SchemaBuilder.string().build(), SchemaBuilder.int32().build()).optional().build())
    .build()
)
VALUES: dict[str, Any] = {
    "i8": -128,
    "i16": 32767,
    "i32": -(2**31),
    "i64": 2**63 - 1,
    "f32": 0.5,
    "f64": 0.1,
    "flag": True,
    "txt": 'a,"b"\n\\N ü ☃ \u2028 NULL',
    "raw": b"\x00\xff\\x",
    "price": D("-12345678901234567890.1234"),
    "day": Instant(86_400_000 * 19_782),
    "tod": Instant(3_600_000 + 1),
    "ts": Instant(1_709_208_000_123),
    "list": ["a", None, 'q"\\,{}'],
    "map": {"k": 1},
}


@pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
def test_every_type_arrives(server: Server, in_batches: bool) -> None:
    run = SinkRun(
        server, {"auto.create": "true", "pk.mode": "record_value", "pk.fields": "id", "insert.mode": "upsert"}
    )
    run.put([record(0, struct(ALL, id=1, **VALUES)), record(1, struct(ALL, id=2))], in_batches)
    names = [name for name in VALUES if name not in ("list", "map")]
    listed = ", ".join(map(server.quote, names))
    first, second = run.rows(f"SELECT {listed} FROM orders ORDER BY id")
    assert set(second) == {None}
    found = dict(zip(names, first, strict=True))
    wanted = {**{name: VALUES[name] for name in names[:9]}, "price": VALUES["price"]}
    assert {name: D(value) if name == "price" else value for name, value in found.items() if name in wanted} == wanted
    assert str(found["day"])[:10] == "2024-02-29"
    assert found["tod"] in (dt.time(1, 0, 0, 1000), dt.timedelta(hours=1, milliseconds=1), "01:00:00.001000")
    assert str(found["ts"]).startswith("2024-02-29 12:00:00.123")


# Columns of the others have 38 or 65 digits.
@pytest.mark.parametrize("server", of_servers(["postgresql", "sqlite"]), indirect=True)
@pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "records"])
def test_decimals_of_many_digits_arrive_beside_small_ones(server: Server, in_batches: bool) -> None:
    builder = SchemaBuilder.struct().field("id", SchemaBuilder.int32().build())
    schema = builder.field("price", Decimal.builder(2).optional().build()).build()
    run = SinkRun(server, {"auto.create": "true"})
    prices = [D("1.25"), D("9" * 50 + ".75"), None, D("-0.01")]
    run.put([record(at, struct(schema, id=at, price=price)) for at, price in enumerate(prices)], in_batches, rows=1)
    found = [row[0] for row in run.rows("SELECT price FROM orders ORDER BY id")]
    assert [None if price is None else D(price) for price in found] == prices


def test_wall_clocks_are_those_of_the_time_zone(server: Server) -> None:
    schema = SchemaBuilder.struct().field("ts", Timestamp.builder().build()).build()
    run = SinkRun(server, {"auto.create": "true", "db.timezone": "Europe/Berlin"})
    moments = [dt.datetime(2024, 3, 31, 0, 59, 59), dt.datetime(2024, 3, 31, 1, 0), dt.datetime(2024, 10, 27, 1, 0)]
    run.put([record(number, struct(schema, ts=Instant.of(moment))) for number, moment in enumerate(moments)])
    found = [str(row[0])[:19] for row in run.rows("SELECT ts FROM orders ORDER BY ts")]
    assert found == ["2024-03-31 01:59:59", "2024-03-31 03:00:00", "2024-10-27 02:00:00"]


@pytest.mark.servers
def test_postgresql_has_arrays_and_json_and_odd_numbers(postgresql: Server) -> None:
    run = SinkRun(postgresql, {"auto.create": "true"})
    run.put([record(0, struct(ALL, id=1, **{**VALUES, "f64": math.nan, "f32": -math.inf}))])
    ((items, pairs, nan, infinite),) = run.rows("SELECT list, map, f64, f32 FROM orders")
    assert items == ["a", None, 'q"\\,{}']
    assert pairs == {"k": 1}
    assert math.isnan(nan)
    assert infinite == -math.inf
