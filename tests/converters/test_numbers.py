from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.convert import Converter
from connect_core.api.data import INT32_SCHEMA, STRING_SCHEMA, Float32, Int16, Int32, Schema
from connect_core.converters.bytes import ByteArrayConverter
from connect_core.converters.numbers import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from connect_core.errors import DataError

CASES: list[tuple[type[Converter], list[Any]]] = [
    (ShortConverter, [Int16(-32768), None, Int16(7)]),
    (IntegerConverter, [Int32(-1), None, Int32(2**31 - 1)]),
    (LongConverter, [-(2**63), None, 5]),
    (FloatConverter, [Float32(1.5), None, Float32(-0.0)]),
    (DoubleConverter, [1e300, None, -0.0, math.inf]),
    (BooleanConverter, [True, None, False]),
    (ByteArrayConverter, [b"\x00\xff", None, b""]),
]


def _made(kind: type[Converter]) -> Any:
    converter = kind()
    converter.configure({}, False)
    return converter


@pytest.mark.parametrize(("kind", "values"), CASES)
def test_both_lanes_round_trip(kind: Any, values: Any) -> None:
    converter = _made(kind)
    topic = pa.array(["t"] * len(values))
    messages = [converter.from_connect_data("t", None, value) for value in values]
    assert converter.from_connect_batch(topic, Objects([None] * len(values), values)).to_pylist() == messages
    read = converter.to_connect_batch(topic, pa.array(messages, pa.binary()))
    assert isinstance(read, Columns)
    assert read.to_objects().values == values
    assert [converter.to_connect_data("t", message).value for message in messages] == values


@pytest.mark.parametrize(("kind", "size"), [(ShortConverter, 2), (IntegerConverter, 4), (DoubleConverter, 8)])
def test_wrong_length_is_refused(kind: Any, size: int) -> None:
    converter = _made(kind)
    bad = b"\x00" * (size + 1)
    with pytest.raises(DataError, match="Failed to deserialize") as caught:
        converter.to_connect_data("t", bad)
    assert str(size) in str(caught.value.__cause__)
    assert converter.to_connect_batch(pa.array(["t", "t"]), pa.array([b"\x00" * size, bad])) is None


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [(INT32_SCHEMA, 5, b"\x00\x00\x00\x05"), (None, 5, DataError), (STRING_SCHEMA, "x", DataError)],
)
def test_plain_int_counts_by_its_schema(schema: Schema | None, value: int | str, expected: Any) -> None:
    converter = _made(IntegerConverter)
    if isinstance(expected, bytes):
        assert converter.from_connect_data("t", schema, value) == expected
    else:
        with pytest.raises(expected):
            converter.from_connect_data("t", schema, value)


def test_every_nan_is_one_pattern() -> None:
    converter = _made(DoubleConverter)
    odd = pa.array([float("nan")])
    assert converter.from_connect_batch(pa.array(["t"]), Columns(None, odd)).to_pylist() == [b"\x7f\xf8" + b"\x00" * 6]


@pytest.mark.parametrize("message", [b"", b"\x02", b"\x00\x01"])
def test_no_boolean_is_refused(message: bytes) -> None:
    converter = _made(BooleanConverter)
    with pytest.raises(DataError, match="Failed to deserialize boolean"):
        converter.to_connect_data("t", message)
    assert converter.to_connect_batch(pa.array(["t"]), pa.array([message])) is None


def test_bytes_refuse_other_schemas() -> None:
    with pytest.raises(DataError, match="INT32"):
        _made(ByteArrayConverter).from_connect_data("t", INT32_SCHEMA, None)


def test_wrong_column_goes_by_records() -> None:
    assert _made(LongConverter).from_connect_batch(pa.array(["t"]), Columns(None, pa.array(["x"]))) is None
