"""Structs: values in, values out, equality."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import (
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Float32,
    Instant,
    Int32,
    Int64,
    Schema,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)
from connect_core.errors import ClassCastError, DataError
from connect_core.java.equality import same_value
from tests.api.data.strategies import struct_schemas, values_of


def _one(schema: Schema) -> Struct:
    return Struct(SchemaBuilder.struct().field("f", schema).build())


@pytest.mark.slow
@given(st.data())
def test_put_values_come_back(data: st.DataObject) -> None:
    schema = data.draw(struct_schemas)
    drawn = data.draw(values_of(schema, nulls=False))
    struct = Struct(schema)
    for field, value in zip(schema.fields, drawn.values, strict=True):
        if value is not None:
            struct.put(field, value)
    struct.validate()
    assert struct == drawn
    assert hash(struct) == hash(drawn)
    assert pickle.loads(pickle.dumps(struct)) == struct
    for field, value in zip(schema.fields, drawn.values, strict=True):
        assert same_value(struct.get_without_default(field.name), value)
        assert same_value(struct[field.name], field.schema.default if value is None else value)


@pytest.mark.parametrize("value", [5, Int32(5)])
def test_plain_and_typed_numbers_fit(value: int) -> None:
    assert _one(INT32_SCHEMA).put("f", value).get_int32("f") == 5


@pytest.mark.parametrize("value", [Int64(5), 1 << 31, True, 5.0, "5"])
def test_other_numbers_are_refused(value: Any) -> None:
    with pytest.raises(DataError, match='for field: "f"'):
        _one(INT32_SCHEMA).put("f", value)


def test_plain_float_is_rounded_to_float32() -> None:
    stored = _one(FLOAT32_SCHEMA).put("f", 0.1)["f"]
    assert type(stored) is Float32
    assert str(_one(FLOAT32_SCHEMA).put("f", 0.1)) == "Struct{f=0.1}"


@pytest.mark.parametrize(
    ("schema", "value", "millis"),
    [
        (Timestamp.SCHEMA, datetime(1970, 1, 1, 0, 0, 1, 5_999, tzinfo=UTC), 1_005),
        (Timestamp.SCHEMA, datetime(1970, 1, 1, 0, 0, 1), 1_000),
        (Date.SCHEMA, date(1970, 1, 2), 86_400_000),
        (Time.SCHEMA, time(0, 0, 1), 1_000),
    ],
)
def test_python_dates_become_instants(schema: Schema, value: Any, millis: int) -> None:
    assert _one(schema).put("f", value)["f"] == Instant(millis)


def test_dates_in_lists_become_instants() -> None:
    schema = SchemaBuilder.array(Date.SCHEMA).build()
    assert _one(schema).put("f", [date(1970, 1, 2)])["f"] == [Instant(86_400_000)]


def test_lists_that_fit_are_kept_as_they_are() -> None:
    given_list = [1, 2]
    assert _one(SchemaBuilder.array(INT64_SCHEMA).build()).put("f", given_list)["f"] is given_list


def test_typed_getter_refuses_logical_values() -> None:
    with pytest.raises(ClassCastError):
        _one(Timestamp.SCHEMA).put("f", Instant(5)).get_int64("f")


def test_get_bytes_copies_a_buffer() -> None:
    struct = _one(SchemaBuilder.bytes().build()).put("f", memoryview(b"ab"))
    assert struct.get_bytes("f") == b"ab"


def test_structs_of_other_schemas_differ() -> None:
    optional = SchemaBuilder.struct().field("f", OPTIONAL_STRING_SCHEMA).build()
    assert _one(STRING_SCHEMA).put("f", "x") != Struct(optional).put("f", "x")
