from __future__ import annotations

import pyarrow as pa
import pytest

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import FLOAT64_SCHEMA, OPTIONAL_STRING_SCHEMA, Date, Instant, Schema, Timestamp
from connect_core.converters.string import StringConverter
from connect_core.errors import DataError, SerializationError


def _converter(**settings: str) -> StringConverter:
    converter = StringConverter()
    converter.configure({name.replace("_", "."): value for name, value in settings.items()}, False)
    return converter


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (None, ["a", "", "é😀", None]),
        (None, [1, -5]),
        (FLOAT64_SCHEMA, [1.0, 1e7, 1e-5, float("nan"), float("inf"), -0.0]),
        (None, [True, False]),
        (Timestamp.SCHEMA, [Instant(0), Instant(1_483_425_001_864), Instant(-1)]),
        (Date.SCHEMA, [Instant(86_400_000)]),
    ],
)
def test_batches_write_as_records(schema: Schema | None, values: list[object]) -> None:
    converter = _converter()
    data = Objects([schema] * len(values), values)
    expected = [converter.from_connect_data("t", schema, value) for value in values]
    in_batch = converter.from_connect_batch(pa.array(["t"] * len(values)), data)
    assert in_batch is not None
    assert in_batch.to_pylist() == expected


def test_a_value_nested_too_deeply_is_a_data_error() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    converter = _converter()
    with pytest.raises(DataError, match="topic t as text: it is nested too deeply"):
        converter.from_connect_data("t", None, deep)
    with pytest.raises(DataError, match="nested too deeply"):
        converter.from_connect_header("t", "h", None, deep)
    assert converter.from_connect_batch(pa.array(["t"]), Objects([None], [deep])) is None


def test_bad_utf8_is_replaced_in_both_lanes() -> None:
    converter = _converter()
    messages = [b"a\xffb\xe4\xb8", b"\xed\xa0\xbd", None, b"ok"]
    read = converter.to_connect_batch(pa.array(["t"] * 4), pa.array(messages))
    assert isinstance(read, Columns)
    assert read.schema == OPTIONAL_STRING_SCHEMA
    assert read.array.to_pylist() == ["a\ufffdb\ufffd", "\ufffd", None, "ok"]
    assert read.array.to_pylist() == [converter.to_connect_data("t", message).value for message in messages]


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("ISO-8859-1", "hé中", b"h\xe9?"),
        ("UTF-16", "h", b"\xfe\xff\x00h"),
        ("UTF-16LE", "h", b"h\x00"),
        ("US-ASCII", "é", b"?"),
        ("utf8", "é", b"\xc3\xa9"),
    ],
)
def test_other_encodings(encoding: str, text: str, expected: bytes) -> None:
    assert _converter(converter_encoding=encoding).from_connect_data("t", None, text) == expected


@pytest.mark.parametrize("encoding", ["no-such-charset", "", "rot13", "utf-7", "hex"])
def test_unknown_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(SerializationError, match="Unsupported encoding"):
        _converter(converter_encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "message", "text"),
    [("UTF-16", b"\xff\xfeh\x00", "h"), ("UTF-16", b"\x00h", "h"), ("ISO-8859-1", b"h\xc3\xa9", "hÃ©")],
)
def test_reading_other_encodings(encoding: str, message: bytes, text: str) -> None:
    assert _converter(converter_encoding=encoding).to_connect_data("t", message).value == text
