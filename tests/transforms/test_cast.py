from __future__ import annotations

import math
from typing import Any

import pytest

from connect_core.api.data import INT32_SCHEMA, STRING_SCHEMA, Float32, Int8, Int16, Int32, SchemaBuilder, Struct
from connect_core.api.data.logical import Timestamp
from connect_core.errors import ConfigError, DataError
from connect_core.java.instant import Instant
from connect_core.transforms.cast import CastKey, CastValue
from tests.transforms.single import applied, configured, in_columns, sink


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (Int32(70000), "int8", Int8(112)),
        (1e20, "int32", Int32(2147483647)),
        (1e20, "int8", Int8(-1)),
        (math.nan, "int64", 0),
        (-2.9, "int16", Int16(-2)),
        (0.5, "boolean", False),
        (-math.inf, "boolean", True),
        (True, "float64", 1.0),
        (2**53 + 1, "float32", Float32(2.0**53)),
        ("+9", "int8", Int8(9)),
        ("TrUe", "boolean", True),
        ("1.5", "float32", Float32(1.5)),
        (1e7, "string", "1.0E7"),
        (b"\x01hello", "string", "AWhlbGxv"),
        (None, "int8", None),
    ],
)
def test_casts_as_java(value: Any, target: str, expected: Any) -> None:
    transform = configured(CastValue, spec=f"f:{target}")
    found = [record.value["f"] for record in applied(transform, sink({"f": value}), sink({"f": value}))]
    assert found == [expected, expected]
    assert type(found[0]) is type(expected)


@pytest.mark.parametrize(("text", "target"), [("0x1p3", "float64"), (" 1 ", "float32"), ("3f", "float64")])
def test_odd_floats_go_by_records(text: str, target: str) -> None:
    transform = configured(CastValue, spec=target)
    assert transform.apply(sink(text)).value in (8.0, 1.0, 3.0)
    assert in_columns(transform, sink(text)) is None


@pytest.mark.parametrize("text", ["1.5", "", " 1", "abc", "9" * 30])
def test_no_integer_is_a_data_error(text: str) -> None:
    transform = configured(CastValue, spec="int64")
    with pytest.raises(DataError, match="out of range"):
        transform.apply(sink(text))
    assert in_columns(transform, sink(text)) is None


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (1_483_425_001_864, "2017-01-03T06:30:01.864Z"),
        (1_483_401_600_000, "2017-01-03"),
        (5, "00:00:00.005Z"),
        (-1, "23:59:59.999Z"),
    ],
)
def test_dates_are_written_by_their_instant(millis: int, text: str) -> None:
    schema = SchemaBuilder.struct().field("ts", Timestamp.SCHEMA).build()
    record = sink(Struct(schema).put("ts", Instant(millis)), schema)
    (cast,) = applied(configured(CastValue, spec="ts:string"), record)
    assert cast.value["ts"] == text
    assert cast.value_schema.field("ts").schema == STRING_SCHEMA


def test_optional_and_default_follow() -> None:
    field = INT32_SCHEMA.replace(optional=True, default=Int32(5))
    schema = SchemaBuilder.struct().field("f", field).optional().build()
    (cast,) = applied(configured(CastValue, spec="f:string"), sink(Struct(schema), schema))
    changed = cast.value_schema.field("f").schema
    assert (changed.optional, changed.default, cast.value_schema.optional) == (True, "5", True)
    assert cast.value["f"] == "5"


def test_key_is_cast_and_value_kept() -> None:
    (cast,) = applied(configured(CastKey, spec="string"), sink({"v": 1}, key=5))
    assert (cast.key, cast.value) == ("5", {"v": 1})


@pytest.mark.parametrize("spec", ["", "a:b:c", "zzz", "bytes", "int8,int16", "a:int8,string"])
def test_bad_spec_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError):
        configured(CastValue, spec=spec)


def test_of_several_fields_that_cannot_be_cast_the_first_is_named() -> None:
    schema = SchemaBuilder.struct().field("second", STRING_SCHEMA).field("first", STRING_SCHEMA).build()
    record = sink(Struct(schema).put("second", "two").put("first", "one"), schema)
    with pytest.raises(DataError, match=r"Value \(two\)"):
        applied(configured(CastValue, spec="first:int8,second:int8"), record)
