"""Schemas and values survive Arrow."""

from __future__ import annotations

import decimal
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.arrow import from_arrow_field, to_arrow_array, to_arrow_field, to_arrow_type, to_python
from connect_core.api.data import (
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Date,
    Decimal,
    Float32,
    Instant,
    Int8,
    Int32,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Time,
    Timestamp,
)
from connect_core.errors import DataError
from connect_core.java.equality import same_value
from tests.api.data.strategies import schemaless_rows, schemas, values_of

pytestmark = pytest.mark.slow

_SURROGATE = SchemaBuilder.struct().field("\ud83d", STRING_SCHEMA).build()


@given(schemas)
def test_schema_survives_arrow(schema: Schema) -> None:
    assert from_arrow_field(to_arrow_field(schema)) == schema


@given(schemas)
def test_schema_survives_arrow_ipc(schema: Schema) -> None:
    sent = pa.schema([to_arrow_field(schema, "f")]).serialize()
    assert from_arrow_field(pa.ipc.read_schema(sent).field("f")) == schema


@given(st.data())
def test_values_survive_arrow(data: st.DataObject) -> None:
    schema = data.draw(schemas)
    rows = data.draw(st.lists(values_of(schema), max_size=5))
    array = to_arrow_array(schema, rows)
    assert array is not None
    assert array.type == to_arrow_type(schema)
    assert same_value(to_python(schema, array), rows)


@given(st.data())
def test_values_survive_taking_and_slicing(data: st.DataObject) -> None:
    schema = data.draw(schemas)
    rows = data.draw(st.lists(values_of(schema), min_size=2, max_size=6))
    wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
    array = to_arrow_array(schema, rows)
    assert array is not None
    assert same_value(to_python(schema, array.slice(1)), rows[1:])
    assert same_value(to_python(schema, array.take(pa.array(wanted, pa.int64()))), [rows[row] for row in wanted])


@given(schemaless_rows())
def test_schemaless_maps_survive_arrow(rows: list[dict[str, Any] | None]) -> None:
    array = to_arrow_array(None, rows)
    if array is not None:
        found = to_python(None, array)
        assert same_value(found, rows)
        assert [list(row or ()) for row in found] == [list(row or ()) for row in rows]


def test_schemaless_widths_survive_arrow() -> None:
    row = {"byte": Int8(1), "int": Int32(2), "long": 3, "float": Float32(0.1), "double": 0.5}
    array = to_arrow_array(None, [row])
    assert [type(value) for value in to_python(None, array)[0].values()] == [Int8, Int32, int, Float32, float]


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}, {"a": 1.0}],
        [{"a": 1}, {"a": True}],
        [{"a": Int8(1)}, {"a": 1}],
        [{1: 1}],
        ["text"],
        [{"a": 1 << 63}],
        [{"a": "\ud83d"}],
        [{"\ud83d": "a"}],
        [{"a": [{"\ud83d": 1}]}],
        [{"a": memoryview(b"x")}],
        [{"a": decimal.Decimal("1.0")}, {"a": decimal.Decimal("1.00")}],
    ],
)
def test_schemaless_rows_that_are_no_columns(rows: list[Any]) -> None:
    assert to_arrow_array(None, rows) is None


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (STRING_SCHEMA, None),
        (STRING_SCHEMA, b"x"),
        (STRING_SCHEMA, "\ud83d"),
        (INT64_SCHEMA, True),
        (INT64_SCHEMA, 1 << 63),
        (Schema(SchemaType.BYTES), memoryview(b"x")),
        (Date.SCHEMA, Instant(1)),
        (Time.SCHEMA, Instant(86_400_000)),
        (Timestamp.SCHEMA, Instant(1 << 63)),
        (Decimal.schema(2), decimal.Decimal("1.5")),
        (Decimal.schema(2), decimal.Decimal(10) ** 40),
        (Schema(SchemaType.STRING, name=Date.LOGICAL_NAME), Instant(0)),
        (SchemaBuilder.array_of(None).build(), [1]),
        (_SURROGATE, Struct(_SURROGATE).put("\ud83d", "x")),
    ],
)
def test_values_that_are_no_columns(schema: Schema, value: Any) -> None:
    assert to_arrow_array(schema, [value]) is None


def test_maps_nested_too_deeply_are_no_columns() -> None:
    value: Any = 1
    for _ in range(5000):
        value = {"a": value}
    assert to_arrow_array(None, [value]) is None


def test_required_field_unset_is_no_column() -> None:
    schema = SchemaBuilder.struct().field("a", STRING_SCHEMA).build()
    assert to_arrow_array(schema, [Struct(schema)]) is None


def test_null_struct_with_required_fields_is_a_column() -> None:
    schema = SchemaBuilder.struct().optional().field("a", STRING_SCHEMA).build()
    array = to_arrow_array(schema, [None, Struct(schema).put("a", "x")])
    assert array is not None
    assert array.to_pylist() == [None, {"a": "x"}]


def test_parts_of_unknown_schema_may_be_null() -> None:
    array_schema, map_schema = SchemaBuilder.array_of(None).build(), SchemaBuilder.map_of(None, None).build()
    for schema, rows in ((array_schema, [[None], []]), (map_schema, [{}])):
        assert from_arrow_field(to_arrow_field(schema)) == schema
        assert to_python(schema, to_arrow_array(schema, rows)) == rows


def test_plain_types_need_no_metadata() -> None:
    assert to_arrow_field(OPTIONAL_STRING_SCHEMA, "s") == pa.field("s", pa.string())
    assert to_arrow_field(OPTIONAL_STRING_SCHEMA, "s").metadata is None
    assert to_arrow_field(Timestamp.SCHEMA).metadata is None


def test_struct_default_survives_as_a_draft() -> None:
    builder = SchemaBuilder.struct().field("a", INT64_SCHEMA)
    schema = builder.default_value(Struct(builder.draft).put("a", 5)).build()
    found = from_arrow_field(to_arrow_field(schema))
    assert found.default["a"] == 5
    assert found.fields == schema.fields
    assert found != schema


@pytest.mark.parametrize(
    ("array", "schema", "values"),
    [
        (pa.array(["a", "b"]).dictionary_encode(), OPTIONAL_STRING_SCHEMA, ["a", "b"]),
        (pa.array(["a"], pa.large_string()), OPTIONAL_STRING_SCHEMA, ["a"]),
        (pa.array([200], pa.uint8()), Schema(SchemaType.INT16, optional=True), [200]),
        (pa.array([1_500], pa.timestamp("us")), Timestamp.SCHEMA.replace(optional=True), [Instant(1)]),
        (pa.array([date(1970, 1, 2)]), Date.SCHEMA.replace(optional=True), [Instant(86_400_000)]),
        (pa.array([decimal.Decimal("1.50")]), Decimal.schema(2).replace(optional=True), [decimal.Decimal("1.50")]),
    ],
)
def test_columns_of_other_producers(array: pa.Array, schema: Schema, values: list[Any]) -> None:
    assert from_arrow_field(pa.field("f", array.type)) == schema
    assert to_python(schema, array) == values


def test_unknown_arrow_type_is_refused() -> None:
    with pytest.raises(DataError, match="has no Connect schema"):
        from_arrow_field(pa.field("f", pa.duration("s")))
