from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import SchemaType
from connect_core.converters.json import JsonConverter
from tests.benchmarks.orders import ORDER_SCHEMA, orders, structs

pytestmark = pytest.mark.slow


def _converter(**settings: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


def _read(rows: Sequence[bytes | None], **settings: str) -> Columns | Objects | None:
    return _converter(**settings).to_connect_batch(pa.array(["t"] * len(rows)), pa.array(rows, pa.binary()))


def test_orders_become_columns() -> None:
    values = orders(100)
    read = _read(list(map(orjson.dumps, values)), schemas_enable="false")
    assert isinstance(read, Columns)
    assert read.to_objects().values == values


def test_enveloped_orders_become_columns() -> None:
    converter = _converter()
    values = structs(100)
    topic = pa.array(["t"] * 100)
    messages = converter.from_connect_batch(topic, Objects([ORDER_SCHEMA] * 100, values))
    assert messages is not None
    assert messages.to_pylist() == [converter.from_connect_data("t", ORDER_SCHEMA, value) for value in values]
    read = converter.to_connect_batch(topic, messages)
    assert isinstance(read, Columns)
    assert read.schema == ORDER_SCHEMA
    assert list(read.to_objects().values) == values


@pytest.mark.parametrize(
    "rows",
    [
        [b'{"a":1}', b'{"a":null}'],
        [b'{"a": "x", "b": [1, 2]}', b'{"a": "y\\n\\u00e9", "b": []}'],
        [b'{"a":{"b":null}}', b'{"a":{"b":true}}', b'{"a":null}'],
        [b'{"a":1.5}', None, b'{"a":-0.0}'],
        [b'{"a":1}', b'{"a":1234567890123456789}'],
    ],
)
def test_one_shape_becomes_columns(rows: Any) -> None:
    read = _read(rows, schemas_enable="false")
    assert isinstance(read, Columns)
    assert read.to_objects().values == [None if row is None else json.loads(row) for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        [b'{"a":1}', b'{"b":1}'],
        [b'{"a":1,"b":2}', b'{"b":2,"a":1}'],
        [b'{"a":1}', b'{"a":1.5}'],
        [b'{"a":1}', b'{"a":"x"}'],
        [b'{"a":1}', b'{"a":1,"b":2}'],
        [b'{"a":1,"a":2}', b'{"a":1,"a":2}'],
        [b'{"a":\n1}', b'{"a":2}'],
        [b"1", b"2"],
        [b"{}", b"{}"],
    ],
)
def test_several_shapes_become_objects(rows: list[bytes]) -> None:
    read = _read(rows, schemas_enable="false")
    assert isinstance(read, Objects)
    assert list(read.values) == [json.loads(row) for row in rows]


@pytest.mark.parametrize(
    "row",
    [
        b'{"a":9223372036854775808}',
        b'{"a":1}{"a":2}',
        b'{"a":01}',
        b'{"a":1',
        b'{"a":"\xff"}',
        b'{"a":"\\ud83d"}',
        b"",
        b"\xef\xbb\xbf",
    ],
)
def test_what_is_not_strict_goes_by_records(row: bytes) -> None:
    assert _read([b'{"a":1}', row], schemas_enable="false") is None


def test_rows_that_span_messages_are_seen() -> None:
    # Joined by line feeds these are three good rows, apart they are none.
    assert _read([b'{"a":1}\n{"a":2', b'}\n{"a":3}'], schemas_enable="false") is None


def test_other_envelope_goes_by_records() -> None:
    rows = [b'{"schema":{"type":"int32"},"payload":1}', b'{"schema":{"type":"int64"},"payload":1}']
    assert _read(rows) is None


def test_envelope_of_a_primitive_becomes_columns() -> None:
    rows = [b'{"schema":{"type":"int8"},"payload":300}', b'{"schema":{"type":"int8"},"payload":-1}']
    read = _read(rows)
    assert isinstance(read, Columns)
    assert read.schema is not None
    assert read.schema.type is SchemaType.INT8
    assert read.array.to_pylist() == [44, -1]


def test_tombstones_only_are_nulls() -> None:
    read = _read([None, None])
    assert isinstance(read, Columns)
    assert read.to_objects().values == [None, None]


@pytest.mark.parametrize("width", [256, 257, 5000])
def test_very_wide_rows_become_objects(width: int) -> None:
    rows = [orjson.dumps({f"column {place}": place + 0.5 for place in range(width)})] * 3
    read = _read(rows, schemas_enable="false")
    assert isinstance(read, Columns if width <= 256 else Objects)
    assert list(read.to_objects().values) == [json.loads(row) for row in rows]


@pytest.mark.parametrize("number", ["1" + "0" * 400 + ".5", "-0." + "0" * 400 + "1", "0." + "0" * 400 + "1", "-0.0e5"])
def test_extreme_floats_are_as_by_record(number: str) -> None:
    row = f'{{"a":{number}}}'.encode()
    converter = _converter(schemas_enable="false")
    expected = converter.to_connect_data("t", row).value["a"]
    read = converter.to_connect_batch(pa.array(["t"]), pa.array([row]))
    assert read is None or str(read.to_objects().values[0]["a"]) == str(expected)


def test_arrays_in_arrays_take_no_memory_that_doubles_with_their_depth() -> None:
    rows = [b'{"a":' + b"[" * 14 + b"1" + b"]" * 14 + b"}"] * 2
    converter, topic, values = _converter(schemas_enable="false"), pa.array(["t"] * 2), pa.array(rows, pa.binary())
    tracemalloc.start()
    try:
        read = converter.to_connect_batch(topic, values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000
    assert isinstance(read, Objects)
    assert list(read.values) == [json.loads(row) for row in rows]
