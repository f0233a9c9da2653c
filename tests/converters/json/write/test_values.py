from __future__ import annotations

import decimal
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import (
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Float32,
    Instant,
    Int32,
    Schema,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)
from connect_core.converters.json import JsonConverter
from connect_core.errors import DataError

pytestmark = pytest.mark.slow


def _converter(**settings: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false", **{k.replace("_", "."): v for k, v in settings.items()}}, False)
    return converter


def _both(schema: Schema | None, values: Sequence[object], **settings: str) -> list[bytes | None]:
    converter = _converter(**settings)
    by_record = [converter.from_connect_data("t", schema, value) for value in values]
    data = Objects([schema] * len(values), values)
    in_batch = converter.from_connect_batch(pa.array(["t"] * len(values)), data)
    assert in_batch is not None
    assert in_batch.to_pylist() == by_record
    return by_record


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1.0, "b": 1e7, "c": 1e-4, "d": -0.0}, b'{"a":1.0,"b":1.0E7,"c":1.0E-4,"d":-0.0}'),
        ({"a": float("nan"), "b": float("-inf")}, b'{"a":"NaN","b":"-Infinity"}'),
        ({"a": Float32(3.14), "b": Int32(5)}, b'{"a":3.14,"b":5}'),
        ({'q"': "\x1f\x7f\\/é😀\n"}, '{"q\\"":"\\u001F\x7f\\\\/é\\uD83D\\uDE00\\n"}'.encode()),
        ({"a": None, "b": [], "c": {}, "d": [None, True]}, b'{"a":null,"b":[],"c":{},"d":[null,true]}'),
        ({"a": b"\x00\xff"}, b'{"a":"AP8="}'),
    ],
)
def test_schemaless_text(value: Any, text: Any) -> None:
    assert _both(None, [value, value]) == [text, text]


def test_null_without_schema_is_a_tombstone() -> None:
    assert _both(None, [None, {"a": 1}]) == [None, b'{"a":1}']


def test_null_under_a_schema_is_written() -> None:
    assert _both(OPTIONAL_STRING_SCHEMA, [None, "x"]) == [b"null", b'"x"']
    assert _both(STRING_SCHEMA.replace(default="d"), [None, "x"]) == [b'"d"', b'"x"']


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (Date.SCHEMA, Instant(86_400_000), b"1"),
        (Time.SCHEMA, Instant(5), b"5"),
        (Timestamp.SCHEMA, Instant(-5), b"-5"),
        (Decimal.schema(2), decimal.Decimal("-1.28"), b'"gA=="'),
        (Decimal.schema(2), decimal.Decimal("156.00"), b'"PPA="'),
        (SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build(), {"b": 1, "a": 2}, b'{"b":1,"a":2}'),
        (SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build(), {2: "b", 1: "a"}, b'[[2,"b"],[1,"a"]]'),
        (SchemaBuilder.array(INT32_SCHEMA).build(), [1, 2], b"[1,2]"),
    ],
)
def test_typed_text(schema: Any, value: Any, text: bytes) -> None:
    assert _both(schema, [value]) == [text]


def test_numeric_decimals_keep_their_form() -> None:
    values = [decimal.Decimal("0.0000000001"), decimal.Decimal("12.3400000000")]
    assert _both(Decimal.schema(10), values, decimal_format="NUMERIC") == [b"1E-10", b"12.3400000000"]


def test_wrong_class_is_a_data_error() -> None:
    converter = _converter()
    with pytest.raises(DataError, match="Invalid type for INT32"):
        converter.from_connect_data("t", INT32_SCHEMA, "x")
    with pytest.raises(DataError, match="Mismatching schema"):
        converter.from_connect_data("t", None, Struct(SchemaBuilder.struct().build()))


def test_too_deep_data_is_a_data_error() -> None:
    value: object = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DataError, match="serialization error"):
        _converter().from_connect_data("t", None, value)


def test_required_null_goes_by_records() -> None:
    array = pa.array([None, 1], pa.int32())
    assert _converter().from_connect_batch(pa.array(["t", "t"]), Columns(INT32_SCHEMA, array)) is None
