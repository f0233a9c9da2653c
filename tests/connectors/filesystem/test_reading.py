"""What formats read is what they wrote; files of other programs have Connect's types."""

from __future__ import annotations

import datetime
import io
import json
from decimal import Decimal as Number
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import SinkRecord
from connect_core.api.data import (
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    Date,
    Decimal,
    Instant,
    SchemaType,
    Timestamp,
)
from connect_core.api.headers import Headers
from connect_core.connectors.filesystem.batch_rows import Extras
from connect_core.connectors.filesystem.formats import line_reading
from connect_core.connectors.filesystem.formats.avro import reading as avro_reading
from connect_core.connectors.filesystem.formats.avro.reading import AvroReader
from connect_core.connectors.filesystem.formats.line_reading import RawReader, TextReader
from connect_core.errors import DataError
from tests.connectors.filesystem.reading import Reading, put, written

pytestmark = pytest.mark.slow

NUMBER = {"type": "record", "name": "number", "fields": [{"name": "n", "type": "long"}]}


def read(folder: Any, form: Any, **config: Any) -> list[Any]:
    return Reading(folder, **{"format": form, **config}).interval()


@pytest.mark.parametrize("form", ["parquet", "avro"])
@pytest.mark.parametrize("header_bytes", [True, False])
def test_records_come_back_with_keys_headers_and_places(tmp_path: Path, form: str, header_bytes: bool) -> None:

    def header(text: str) -> str | bytes:
        return text.encode() if header_bytes else text

    schema = OPTIONAL_BYTES_SCHEMA if header_bytes else OPTIONAL_STRING_SCHEMA
    some = Headers().add("a", header("1"), schema).add("a", header("é"), schema).add("none", None, schema)
    many = [(b"k\x00\xff", b"v1", some, 1_700_000_000_123), (None, b"", Headers(), -1), (b"", None, Headers(), 0)]
    records = [
        SinkRecord(
            "t", 3, OPTIONAL_BYTES_SCHEMA, key, OPTIONAL_BYTES_SCHEMA, value, at, headers, kafka_offset=7 + place
        )
        for place, (key, value, headers, at) in enumerate(many)
    ]
    written(tmp_path, form, records, Extras(True, True, True))
    include = {f"include.{part}": "true" for part in ("key", "metadata", "headers")}
    wanted = {**include, "unwrap.value": "true", "headers.in.base64": str(header_bytes).lower(), "topic": ""}
    found = read(tmp_path, form, **wanted)
    assert [(r.topic, r.kafka_partition, r.key, r.value, r.timestamp) for r in found] == [
        ("t", 3, key, value, at) for key, value, _, at in many
    ]
    assert [[(h.key, h.value) for h in r.headers] for r in found] == [
        [(h.key, h.value) for h in headers] for _, _, headers, _ in many
    ]


def test_maps_come_back_from_json(tmp_path: Path) -> None:
    records = [SinkRecord("t", 0, None, {"k": 1}, None, {"a": 1, "b": [None, "x"]}, 1_700_000_000_123, kafka_offset=1)]
    written(tmp_path, "json", records, Extras(True, True, False), **{"compression.type": "zstd"})
    (record,) = read(tmp_path, "json", **{"include.key": "true", "include.metadata": "true"})
    assert (record.key, record.value, record.timestamp) == ({"k": 1}, {"a": 1, "b": [None, "x"]}, 1_700_000_000_123)


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_csv_texts_come_back(tmp_path: Path, codec: str) -> None:
    schema = OPTIONAL_STRING_SCHEMA
    values = ['a,"b"', "two\nlines", "", None, "NULL", " x "]
    rows = [{"n": str(n), "text": value} for n, value in enumerate(values)]
    records = [SinkRecord("t", 0, None, None, None, row, kafka_offset=n) for n, row in enumerate(rows)]
    written(tmp_path, "csv", records, **{"compression.type": codec})
    found = [record.value for record in read(tmp_path, "csv", **{"csv.types": "n:int32"})]
    assert [value.get("text") for value in found] == values
    assert [value.get("n") for value in found] == list(range(len(values)))
    assert found[0].schema.field("text").schema == schema


@pytest.mark.parametrize("header", ["true", "false"])
def test_nulls_of_the_only_csv_column_come_back(tmp_path: Path, header: str) -> None:
    values = [None, "x", None, None, "", "y", None]
    records = [SinkRecord("t", 0, None, None, None, {"a": value}, kafka_offset=n) for n, value in enumerate(values)]
    written(tmp_path, "csv", records, **{"csv.header": header})
    assert [record.value.get("a") for record in read(tmp_path, "csv", csv_header=header, csv_columns="a")] == values


def test_empty_lines_of_several_csv_columns_are_no_rows(tmp_path: Path) -> None:
    put(tmp_path / "in/a.csv", "a,b\n\n1,2\n\n\n3,4\n\n")
    assert [record.value.get("b") for record in read(tmp_path, "csv")] == ["2", "4"]


def test_csv_without_a_header(tmp_path: Path) -> None:
    put(tmp_path / "in/a.csv", "1;2026-01-02;true\n;;\n")
    config = {"csv.header": "false", "csv.columns": "id,day,yes", "csv.types": "id:int64,day:date,yes:boolean"}
    first, second = (record.value for record in read(tmp_path, "csv", **config, **{"csv.delimiter": ";"}))
    assert (first.get("id"), first.get("yes")) == (1, True)
    assert first.schema.field("day").schema.name == Date.LOGICAL_NAME
    assert [second.get(name) for name in ("id", "day", "yes")] == [None, None, None]


def test_a_csv_value_of_another_type_is_named(tmp_path: Path) -> None:
    put(tmp_path / "in/a.csv", "id\n1\nx\n")
    with pytest.raises(DataError, match=r"a\.csv does not match the CSV settings.*'x'"):
        read(tmp_path, "csv", **{"csv.types": "id:int64"})


def test_parquet_of_other_programs_has_connects_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "small": pa.array([1], pa.uint8()),
            "at": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")),
            "price": pa.array([Number("1.50")], pa.decimal128(10, 2)),
            "word": pa.array(["x"]).dictionary_encode(),
            "tags": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        }
    )
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in/a.parquet")
    (record,) = read(tmp_path, "parquet")
    fields = {field.name: field.schema for field in record.value_schema.fields}
    assert (fields["small"].type, fields["at"].name) == (SchemaType.INT16, Timestamp.LOGICAL_NAME)
    assert fields["price"].name == Decimal.LOGICAL_NAME
    assert record.value.get("at") == Instant(1_700_000_000_123)
    assert (record.value.get("price"), record.value.get("word")) == (Number("1.50"), "x")
    assert record.value.get("tags") == {"a": 1}


def test_avro_of_other_programs_has_connects_types(tmp_path: Path) -> None:
    point = {"type": "record", "name": "shop.Point", "fields": [{"name": "x", "type": "int"}]}
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "from", "type": point},
            {"name": "to", "type": ["null", "shop.Point"]},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}},
            {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "string"}}},
            {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        ],
    }
    row = {"id": 1, "from": {"x": 2}, "to": None, "day": datetime.date(2026, 1, 2)}
    data = io.BytesIO()
    fastavro.writer(data, schema, [{**row, "color": "BLUE", "tags": {"a": ["b"]}, "hash": b"ab"}])
    put(tmp_path / "in/a.avro", data.getvalue())
    (record,) = read(tmp_path, "avro")
    value = record.value
    assert (value.get("id"), value.get("from").get("x"), value.get("to")) == (1, 2, None)
    assert (value.get("color"), value.get("tags"), value.get("hash")) == ("BLUE", {"a": ["b"]}, b"ab")
    assert not record.value_schema.field("id").schema.optional
    assert record.value_schema.field("to").schema.optional


def test_an_avro_union_of_types_is_named(tmp_path: Path) -> None:
    data = io.BytesIO()
    fields = [{"name": "id", "type": ["string", "long"]}]
    fastavro.writer(data, {"type": "record", "name": "Order", "fields": fields}, [{"id": 1}])
    put(tmp_path / "in/a.avro", data.getvalue())
    with pytest.raises(DataError, match=r"a\.avro has a union of several types"):
        read(tmp_path, "avro")


@pytest.mark.parametrize("form", ["avro", "parquet"])
@pytest.mark.parametrize("length", [0.4, 0.9])
def test_a_cut_file_is_named(tmp_path: Path, form: str, length: float) -> None:
    records = [SinkRecord("t", 0, None, None, None, {"n": n, "text": "x" * 50}) for n in range(30_000)]
    written(tmp_path, form, records)
    (file,) = (tmp_path / "in").glob("file.*")
    put(file, file.read_bytes()[: int(file.stat().st_size * length)])
    with pytest.raises(DataError, match=rf"file\.{form} is"):
        read(tmp_path, form)


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    put(tmp_path / "in/a.json", '{"a": 1}\n{"a": \n')
    with pytest.raises(DataError, match=r"a\.json has a line that is not JSON"):
        read(tmp_path, "json")


def test_a_line_of_json_that_is_too_deep_is_named(tmp_path: Path) -> None:
    put(tmp_path / "in/a.json", "1\n" + "[" * 5000 + "]" * 5000)
    with pytest.raises(DataError, match=r"a\.json has a line of too many lists or objects in each other: \[\["):
        read(tmp_path, "json")


@pytest.mark.parametrize("form", ["json", "csv", "text", "raw"])
@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("kept", [0, 0.5])
def test_a_compressed_file_that_is_broken_is_named(tmp_path: Path, form: str, ending: str, kept: float) -> None:
    random = Random(1)
    lines = b"".join(b"%d\n" % random.getrandbits(60) for _ in range(20_000))
    whole = pa.compress(lines, {"gz": "gzip", "zst": "zstd"}[ending], asbytes=True)
    put(tmp_path / f"in/a.{ending}", whole[: int(len(whole) * kept)] + b"not compressed")
    with pytest.raises(DataError, match=rf"a\.{ending} .*(?:replace|remove) (?:or remove )?it"):
        read(tmp_path, form)


def test_numbers_of_json_are_exact(tmp_path: Path) -> None:
    put(tmp_path / "in/a.json", f"{2**70}\n1.5\n-7")
    assert [record.value for record in read(tmp_path, "json")] == [2**70, 1.5, -7]


@pytest.mark.parametrize("number", [2**64, 2**64 - 1, 2**63, -(2**63), -(2**63) - 1, 2**70, -(10**40)])
def test_integers_of_json_are_exact_in_maps(tmp_path: Path, number: int) -> None:
    value = {"a": number, "b": [{"c": -number, "d": f"{number}"}], "e": 0.1234567890123456789}
    put(tmp_path / "in/a.json", json.dumps(value))
    (found,) = (record.value for record in read(tmp_path, "json"))
    assert found == value
    assert isinstance(found["a"], int)


def test_text_and_raw(tmp_path: Path) -> None:
    put(tmp_path / "in/a.txt", b"one\r\n\n\xfftwo")
    assert [record.value for record in read(tmp_path, "text")] == ["one", "", "\ufffdtwo"]
    assert [record.value for record in read(tmp_path, "raw")] == [b"one\r", b"", b"\xfftwo"]
    put(tmp_path / "in/a.txt", b"one\n||two||")
    found = read(tmp_path, "raw", **{"format.bytearray.separator": "||"})
    assert [record.value for record in found] == [b"one\n", b"two"]


@pytest.mark.parametrize("block", [1, 3, 7, 1000])
@pytest.mark.parametrize("size", [1, 2, 5, 11])
def test_spans_share_lines_out(monkeypatch: pytest.MonkeyPatch, block: int, size: int) -> None:
    """Whatever the blocks and spans, each line is in the one its first byte is in."""
    monkeypatch.setattr(line_reading, "_BLOCK", block)
    data = b"a\n\nbcd\nefghijklm\n\n\nn\nopq"
    reader = TextReader()
    found: list[Any] = []
    for begin in range(0, len(data), size):
        span = begin, min(begin + size, len(data))
        for part in reader.read(io.BytesIO(data), "a.txt", span, 0):
            found += part.to_objects().values
    assert found == data.decode().split("\n")


@pytest.mark.parametrize("searched", [1, 5, 17, 1000])
@pytest.mark.parametrize("size", [13, 16, 17, 100, 1000, 100_000])
def test_spans_share_blocks_of_avro_out(monkeypatch: pytest.MonkeyPatch, searched: int, size: int) -> None:
    """Whatever the spans and what is read of them at once, each block is in the one its first byte is in."""
    monkeypatch.setattr(avro_reading, "_SEARCHED", searched)
    file, reader = io.BytesIO(), AvroReader()
    fastavro.writer(file, NUMBER, ({"n": number} for number in range(1000)), sync_interval=60)
    found: list[int] = []
    for begin in range(0, file.tell(), size):
        span = begin, begin + size
        numbers = numbers_of(reader, file, span, 0)
        assert numbers_of(reader, file, span, len(numbers) // 3) == numbers[len(numbers) // 3 :]
        found += numbers
    assert found == list(range(1000))


def numbers_of(reader: AvroReader, file: io.BytesIO, span: tuple[int, int], skip: int) -> list[int]:
    file.seek(0)
    parts = reader.read(file, "a.avro", span, skip)
    return [value["n"] for part in parts for value in part.to_objects().values]


def test_a_block_of_avro_that_is_cut_off_is_named() -> None:
    file = io.BytesIO()
    fastavro.writer(file, NUMBER, ({"n": number} for number in range(1000)), sync_interval=60)
    file.truncate(file.tell() - 20)
    assert numbers_of(AvroReader(), file, (0, 500), 0)[0] == 0
    with pytest.raises(DataError, match=r"a\.avro is corrupt"):
        numbers_of(AvroReader(), file, (500, 10_000), 0)


@pytest.mark.parametrize("skip", range(8))
def test_rows_may_be_left_out(monkeypatch: pytest.MonkeyPatch, skip: Any) -> None:
    monkeypatch.setattr(line_reading, "_BLOCK", 5)
    reader = RawReader()
    reader.configure({})
    data = b"".join(b"%d\n" % n for n in range(7))
    parts = reader.read(io.BytesIO(data), "a.txt", (0, len(data)), skip)
    assert [value for part in parts for value in part.to_objects().values] == [b"%d" % n for n in range(skip, 7)]
