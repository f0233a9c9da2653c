"""What stands in files of each format, read back by other libraries."""

from __future__ import annotations

import base64
import decimal
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import fastavro
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from connect_core.api import Batch, Headers, SchemaBuilder, Struct
from connect_core.api.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    Int32,
    Timestamp,
)
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.formats import JsonLinesFormat
from connect_core.errors import DataError
from tests.connectors.contexts import Reporter
from tests.connectors.examples import FEW
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


def json_rows(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


READERS: Mapping[str, Callable[[bytes], list[Any]]] = {
    "parquet": lambda data: pq.read_table(pa.BufferReader(data)).to_pylist(),
    "orc": lambda data: orc.ORCFile(pa.BufferReader(data)).read().to_pylist(),
    "avro": lambda data: list(fastavro.reader(pa.BufferReader(data))),
    "json": json_rows,
}


def read(export: Export, form: str) -> list[Any]:
    files = sorted(export.out.glob(f"t/*/*.{form}"))
    return [row for file in files for row in READERS[form](file.read_bytes())]


INNER = SchemaBuilder.struct().optional().field("x", OPTIONAL_INT64_SCHEMA).field("y", OPTIONAL_STRING_SCHEMA).build()
SCHEMA = (
    SchemaBuilder.struct()
    .field("id", INT32_SCHEMA)
    .field("text", OPTIONAL_STRING_SCHEMA)
    .field("blob", OPTIONAL_BYTES_SCHEMA)
    .field("price", Decimal.builder(2).optional().build())
    .field("at", Timestamp.builder().optional().build())
    .field("day", Date.builder().optional().build())
    .field("ratio", FLOAT64_SCHEMA)
    .field("tags", SchemaBuilder.array(STRING_SCHEMA).optional().build())
    .field("more", SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).optional().build())
    .field("inner", INNER)
    .build()
)
MOMENTS = st.integers(-(10**12), 9 * 10**12)
"""Arrow reads no later ones of ORC."""
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
            "blob": st.none() | st.binary(max_size=4),
            "price": st.none() | st.integers(-(10**9), 10**9).map(lambda cents: decimal.Decimal(cents).scaleb(-2)),
            "at": st.none() | MOMENTS,
            "day": st.none() | st.integers(-10_000, 100_000),
            "ratio": st.floats(allow_nan=False, allow_infinity=False, width=32),
            "tags": st.none() | st.lists(st.text("aé", max_size=2), max_size=2),
            "more": st.none() | st.dictionaries(st.text("kü", max_size=2), st.integers(0, 9), max_size=2),
            "inner": st.none() | st.tuples(st.none() | st.integers(-9, 9), st.none() | st.text("y", max_size=1)),
        }
    ),
    min_size=1,
    max_size=12,
)


def struct_of(number: int, row: Mapping[str, Any]) -> Struct:
    struct = Struct(SCHEMA).put("id", Int32(number))
    for name in ("text", "blob", "price", "ratio", "tags"):
        struct.put(name, row[name])
    struct.put("at", None if row["at"] is None else Instant(row["at"]))
    struct.put("day", None if row["day"] is None else Instant(row["day"] * 86_400_000))
    struct.put("more", row["more"] and {key: Int32(value) for key, value in row["more"].items()})
    if row["inner"] is not None:
        struct.put("inner", Struct(INNER).put("x", row["inner"][0]).put("y", row["inner"][1]))
    return struct


def expected_of(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row as Python's own values."""
    at = None if row["at"] is None else datetime.fromtimestamp(row["at"] // 1000, UTC)
    return {
        **row,
        "id": number,
        "at": at and at.replace(microsecond=row["at"] % 1000 * 1000),
        "day": None if row["day"] is None else date.fromordinal(date(1970, 1, 1).toordinal() + row["day"]),
        "inner": row["inner"] and {"x": row["inner"][0], "y": row["inner"][1]},
    }


def plain(value: Any, form: str) -> Any:
    """Return a value as the format has it: a map is pairs in Arrow, JSON has texts for what it has no type for."""
    if isinstance(value, dict):
        return {name: plain(part, form) for name, part in value.items()}
    if form in ("parquet", "orc") or not isinstance(value, datetime | date | bytes | decimal.Decimal):
        return value
    if form == "avro":
        return value
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    text = value.isoformat(timespec="milliseconds") if isinstance(value, datetime) else value.isoformat()
    return text.replace("+00:00", "Z")


def written(row: dict[str, Any], form: str) -> dict[str, Any]:
    more = row["more"]
    pairs = list(more.items()) if more is not None and form in ("parquet", "orc") else more
    return {**plain({name: value for name, value in row.items() if name != "more"}, form), "more": pairs}


@pytest.mark.parametrize("form", sorted(READERS))
@FEW
@given(rows=ROWS)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, form: str, rows: list[dict[str, Any]]
) -> None:
    export = Export(tmp_path_factory.mktemp("formats"), format=form)
    structs = [struct_of(number, row) for number, row in enumerate(rows)]
    export.run(numbered(structs, value_schema=SCHEMA), batches=len(rows) % 2 == 0)
    found = read(export, form)
    assert found == [written(expected_of(number, row), form) for number, row in enumerate(rows)]


TEXTS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


@FEW
@given(st.lists(st.tuples(TEXTS, st.none() | st.integers(-9, 9)), min_size=1, max_size=10))
def test_csv_tells_null_from_the_empty_text(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Any, Any]]
) -> None:
    export = Export(tmp_path_factory.mktemp("csv"), format="csv")
    schema = SchemaBuilder.struct().field("s", OPTIONAL_STRING_SCHEMA).field("n", OPTIONAL_INT64_SCHEMA).build()
    structs = [Struct(schema).put("s", text).put("n", number) for text, number in pairs]
    export.run(numbered(structs, value_schema=schema))
    (file,) = export.out.glob("t/*/*.csv")
    options = pa.csv.ConvertOptions(
        column_types={"s": pa.string(), "n": pa.int64()},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    found = pa.csv.read_csv(file, parse_options=parse, convert_options=options).to_pylist()
    assert [(row["s"], row["n"]) for row in found] == pairs


def test_csv_of_all_kinds_of_values(tmp_path: Path, batches: bool) -> None:
    row = {"text": 'a"b', "blob": b"\xff", "price": decimal.Decimal("1.50"), "at": 1_700_000_000_123, "day": 1}
    more = {"ratio": 0.5, "tags": ["x", "y"], "more": {"k": 1}, "inner": (1, None)}
    export = Export(tmp_path, format="csv", **{"csv.delimiter": "\\t", "csv.header": "false"})
    export.run(numbered([struct_of(7, {**row, **more})], value_schema=SCHEMA), batches=batches)
    (file,) = export.out.glob("t/*/*.csv")
    assert file.read_text().rstrip("\n").split("\t") == [
        *("7", '"a""b"', '"/w=="', "1.50", "2023-11-14 22:13:20.123Z", "1970-01-02", "0.5"),
        *('"[""x"",""y""]"', '"{""k"":1}"', '"{""x"":1,""y"":null}"'),
    ]


@pytest.mark.parametrize("form", ["parquet", "avro", "orc"])
def test_columns_found_late_are_in_all_files(tmp_path: Path, batches: bool, form: str) -> None:
    export = Export(tmp_path, format=form)
    values = [{"a": 1, "m": {"x": 1}}, {"a": 2.5, "b": "x", "m": {"y": ["z"]}}]
    export.run(numbered([values[0]]), numbered([values[1]], partition=1), batches=batches)
    first = {"a": 1.0, "m": {"x": 1, "y": None}, "b": None}
    second = {"a": 2.5, "m": {"x": None, "y": ["z"]}, "b": "x"}
    assert read(export, form) == [first, second]


def test_columns_found_late_are_in_all_csv_files(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="csv", **{"compression.type": "gzip"})
    export.run(numbered([{"a": 1, "t": ""}]), numbered([{"a": 2.5, "b": b"x"}], partition=1), batches=batches)
    found = [gzip.decompress(file.read_bytes()).decode() for file in sorted(export.out.glob("t/*/*.csv.gz"))]
    assert found == ['"a","t","b"\n1,"",\n', '"a","t","b"\n2.5,,"eA=="\n']


def test_json_keeps_each_value_as_it_is(tmp_path: Path, batches: bool) -> None:
    values = [{"a": 1}, {"a": "x", "b": None}, {}, None, [1, "ü"], "text", {"a": 2**70}, {"n": float("nan")}]
    export = Export(tmp_path, format="json")
    export.run(numbered(values), batches=batches)
    assert read(export, "json") == [*values[:-1], {"n": "NaN"}]


@pytest.mark.parametrize(("codec", "ending"), [("gzip", "json.gz"), ("zstd", "json.zst")])
def test_json_is_read_compressed(tmp_path: Path, codec: str, ending: str) -> None:
    export = Export(tmp_path, format="json", **{"compression.type": codec})
    export.run(numbered([{"a": number} for number in range(1000)]))
    (file,) = export.out.glob(f"t/*/*.{ending}")
    assert duckdb.execute(f"select sum(a), count(*) from read_json('{file}')").fetchall() == [(499500, 1000)]


def test_raw_is_the_bytes(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="raw", **{"format.bytearray.extension": ".dat"})
    export.run(numbered([b"a\x00", b"", b"\xff"], value_schema=BYTES_SCHEMA), batches=batches)
    (file,) = export.out.glob("t/*/*.dat")
    assert file.read_bytes() == b"a\x00\n\n\xff\n"
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 0: .*ByteArrayConverter"):
        export.run(numbered([{"a": 1}]), sequence=2, batches=batches)


@pytest.mark.parametrize(("form", "value"), [("avro", {"größe": 1}), ("avro", {"a": {"b-c": 1}})])
def test_a_field_without_a_name_in_the_format_is_refused(tmp_path: Path, batches: bool, form: str, value: Any) -> None:
    export = Export(tmp_path, format=form)
    with pytest.raises(DataError, match=r"topic t, partition 0, offset 1: .*ReplaceField"):
        export.run(numbered([{"a": None}, value]), batches=batches)


@pytest.mark.skipif(int(pa.__version__.partition(".")[0]) < 24, reason="Bloom filters need pyarrow 24")
def test_parquet_follows_its_settings(tmp_path: Path) -> None:
    settings = {"parquet.row.group.rows": "10", "parquet.statistics": "false", "parquet.dictionary": "false"}
    export = Export(tmp_path, **settings, **{"parquet.bloom.filter.columns": "a,b.c,absent"})
    interval = export.interval(numbered([{"a": number, "b": {"c": "x"}} for number in range(20)]))
    records = numbered([{"a": number, "b": {"c": "x"}} for number in range(20)])
    staged = export.stage(interval, records[:10], records[10:])
    committer = export.committer()
    committer.publish(interval.key, committer.commit(interval.key, staged))
    (file,) = export.out.glob("t/*/*.parquet")
    footer = pq.ParquetFile(file).metadata
    assert footer.num_row_groups == 2
    column = footer.row_group(0).column(0)
    assert column.statistics is None
    assert "PLAIN_DICTIONARY" not in column.encodings
    sql = f"select distinct path_in_schema from parquet_metadata('{file}') where bloom_filter_offset is not null"
    assert sorted(duckdb.execute(sql).fetchall()) == [("a",), ("b, c",)]


def test_headers_are_stored_if_wanted(tmp_path: Path, batches: bool) -> None:
    headers = Headers().add("a", "x").add("a", 1).add("b", b"\xff")
    for form in ("parquet", "json"):
        export = Export(tmp_path, form, format=form, path=form, **{"include.headers": "true", "include.key": "true"})
        export.out = tmp_path / form
        export.run(numbered([{"v": 1}], key="k", key_schema=STRING_SCHEMA, headers=headers), batches=batches)
        named = [{"name": "a", "value": "x"}, {"name": "a", "value": "1"}, {"name": "b", "value": "/w=="}]
        assert read(export, form) == [{"v": 1, "_key": "k", "_headers": named}]


EVENING = 1_700_000_000_000
FAR = 253_402_300_800_000
"""The first millisecond of the year 10000, after the last one of Python's dates."""


def test_times_as_numbers_have_no_last_year(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="json", **{"json.time.format": "number"})
    schema = (
        SchemaBuilder.struct().field("at", Timestamp.SCHEMA).field("days", SchemaBuilder.array(Date.SCHEMA).build())
    )
    known = schema.build()
    values = [Struct(known).put("at", Instant(at)).put("days", [Instant(-86_400_000)]) for at in (FAR, -FAR)]
    export.run(numbered(values, value_schema=known), batches=batches)
    assert read(export, "json") == [{"at": FAR, "days": [-1]}, {"at": -FAR, "days": [-1]}]


def test_schemaless_times_are_numbers_however_they_are_held() -> None:
    """A transform made them: in a record they are objects, in a batch of columns an array."""
    form = JsonLinesFormat()
    form.configure({"json.time.format": "number"})
    held = Batch.from_records(numbered([{"at": Instant(EVENING), "all": [{"at": Instant(FAR)}]}]))
    columns = held.value.to_columns()
    assert columns is not None
    for batch in (held, replace(held, value=columns)):
        (line,) = form.encoded(batch, Extras()).to_pylist()
        assert json.loads(line) == {"at": EVENING, "all": [{"at": FAR}]}


@pytest.mark.parametrize(
    ("form", "of_ids", "schemaless"),
    [
        ("objects", [{"key": 7, "value": {"a": [{"key": True, "value": 1}]}}], {"7": {"a": 1}}),
        ("arrays", [[7, {"a": [[True, 1]]}]], [[7, {"a": 1}]]),
    ],
)
def test_maps_whose_keys_are_not_text(
    tmp_path: Path, batches: bool, form: str, of_ids: list[Any], schemaless: Any
) -> None:
    export = Export(tmp_path, format="json", **{"json.map.format": form})
    flags = SchemaBuilder.map(BOOLEAN_SCHEMA, INT32_SCHEMA).build()
    by_name = SchemaBuilder.map(STRING_SCHEMA, flags).build()
    known = SchemaBuilder.struct().field("ids", SchemaBuilder.map(INT32_SCHEMA, by_name).build()).build()
    export.run(numbered([Struct(known).put("ids", {7: {"a": {True: 1}}})], value_schema=known), batches=batches)
    assert read(export, "json") == [{"ids": of_ids}]
    plain = JsonLinesFormat()
    plain.configure({"json.map.format": form})
    (line,) = plain.encoded(Batch.from_records(numbered([{"ids": {7: {"a": 1}}}])), Extras()).to_pylist()
    assert json.loads(line) == {"ids": schemaless}


@pytest.mark.parametrize("form", ["parquet", "avro", "json", "csv", "orc"])
@pytest.mark.parametrize("levels", [100, 300, 900])
def test_a_record_nested_too_deeply_is_refused_alone(tmp_path: Path, batches: bool, form: str, levels: int) -> None:
    """No reader would open a Parquet file of such columns, and Python gives up on deeper ones."""
    deep: Any = 1
    for _ in range(levels):
        deep = {"a": deep}
    export = Export(tmp_path, format=form)
    export.reporter = Reporter()
    marker = export.run(numbered([{"n": 1}, {"n": 2, "deep": deep}, {"n": 3}]), batches=batches)
    is_json = form == "json" and levels == 100
    assert [record.kafka_offset for record, _ in export.reporter.reported] == ([] if is_json else [1])
    assert sum(file.records for file in marker.files) == (3 if is_json else 2)
