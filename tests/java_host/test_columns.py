"""What crosses to a host and back is the same, in columns and value by value."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connect_core.api.batch import Batch, Columns, Objects
from connect_core.api.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    BigInteger,
    Instant,
    Int32,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
)
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord, TimestampType
from connect_core.java.equality import same_value
from connect_core.java_host.host import JavaHost, Lane
from connect_core.java_host.schemas import SchemaNumbers
from connect_core.java_plugins.rows import read_changed, write_batch
from tests.api.data.strategies import schemaless_rows, schemas, values_of
from tests.full_run import examples

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def echo(host: JavaHost) -> Lane:
    return host.open("chain", {"flow": {"stages": []}})


NUMBERS = SchemaNumbers()
"""Of the one lane that all tests of this module use."""


def crossed(echo: Lane, batch: Batch) -> Batch:
    frame = write_batch(batch, NUMBERS)
    return read_changed(echo.call("chain.apply", frame.header, frame.buffers), batch, NUMBERS)


def source_records(schema: Schema | None, values: list[Any]) -> list[ConnectRecord]:
    return [
        SourceRecord("t", None, None, None, schema, value, None, Headers(), {"p": 1}, {"o": row})
        for row, value in enumerate(values)
    ]


def assert_same(back: Batch, values: list[Any], schema: Schema | None) -> None:
    objects = back.value.to_objects()
    assert all(one == schema for one in objects.schemas), (schema, objects.schemas)
    assert [type(one).__name__ for one in objects.values if one is None] == ["NoneType"] * values.count(None)
    for mine, theirs in zip(values, objects.values, strict=True):
        assert same_value(mine, theirs) or mine == theirs, (mine, theirs)


@given(data=st.data())
@settings(max_examples=examples(60, 1000), deadline=None, suppress_health_check=list(HealthCheck))
def test_values_of_any_schema_come_back(echo: Lane, data: st.DataObject) -> None:
    schema = data.draw(schemas)
    values = data.draw(st.lists(values_of(schema), min_size=1, max_size=5))
    back = crossed(echo, Batch.from_records(source_records(schema, values)))
    assert_same(back, values, schema)


@given(rows=schemaless_rows())
@settings(max_examples=examples(40, 1000), deadline=None, suppress_health_check=list(HealthCheck))
def test_schemaless_maps_come_back(echo: Lane, rows: list[dict[str, Any] | None]) -> None:
    if not rows:
        return
    back = crossed(echo, Batch.from_records(source_records(None, rows)))
    assert_same(back, rows, None)


def test_default_may_leave_fields_to_their_own_defaults(echo: Lane) -> None:
    inner = SchemaBuilder.struct().field("a", Schema(SchemaType.INT32, default=Int32(7))).build()
    schema = SchemaBuilder.array(inner).build()
    schema = schema.replace(default=[Struct(inner)])
    assert_same(
        crossed(echo, Batch.from_records(source_records(schema, [[], [Struct(inner)]]))), [[], [Struct(inner)]], schema
    )


@pytest.mark.parametrize("text", ["1E+3", "1E-80", "1.5"])
def test_schemaless_decimals_of_any_scale_stay_decimals(echo: Lane, text: str) -> None:
    rows: list[Any] = [{"a": [Decimal(text)]}]
    back = crossed(echo, Batch.from_records(source_records(None, rows))).value.to_objects().values
    assert back == rows
    assert str(back[0]["a"][0]) == text


def test_a_column_crosses_as_a_column(echo: Lane) -> None:
    schema = (
        SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", Schema(SchemaType.STRING, optional=True)).build()
    )
    batch = Batch.from_records(source_records(schema, [Struct(schema).put("a", n).put("b", None) for n in range(3)]))
    back = crossed(echo, batch)
    assert isinstance(back.value, Columns)
    assert back.value.array.field(0).to_pylist() == [0, 1, 2]


def test_rows_of_several_schemas_cross_value_by_value(echo: Lane) -> None:
    records = [
        *source_records(STRING_SCHEMA, ["x"]),
        *source_records(INT32_SCHEMA, [5]),
        *source_records(None, [{"a": 1}]),
    ]
    back = crossed(echo, Batch.from_records(records))
    assert isinstance(back.value, Objects)
    assert back.value.schemas == [STRING_SCHEMA, INT32_SCHEMA, None]
    assert back.value.values == ["x", 5, {"a": 1}]


@pytest.mark.parametrize(
    "value", ["text", 5, 1.5, True, b"x", Int32(7), [1, "a", None], Instant(5), BigInteger(1 << 80), {"a": {"b": [1]}}]
)
def test_schemaless_values_keep_their_kind(echo: Lane, value: Any) -> None:
    back = crossed(echo, Batch.from_records(source_records(None, [value, None])))
    first, second = back.value.to_objects().values
    assert (type(first), first, second) == (type(value), value, None)


def test_what_surrounds_keys_and_values_comes_back(echo: Lane) -> None:
    headers = Headers().add("n", 1).add("s", "x").add("n", None)
    records: list[ConnectRecord] = [
        SinkRecord("t", 3, STRING_SCHEMA, "k", None, None, 77, headers, 12, TimestampType.CREATE_TIME),
        SinkRecord("t", 3, STRING_SCHEMA, "l", None, None, None, Headers(), 13, TimestampType.CREATE_TIME),
    ]
    back = crossed(echo, Batch.from_records(records))
    assert back.topic.to_pylist() == ["t", "t"]
    assert back.partition.to_pylist() == [3, 3]
    assert back.offset.to_pylist() == [12, 13]
    assert back.timestamp.to_pylist() == [77, None]
    assert back.headers is not None
    assert list(back.headers[0]) == list(headers)
    assert len(back.headers[1]) == 0


def test_slices_of_columns_cross(echo: Lane) -> None:
    array = pa.array([[1, 2], None, [3], [], [4, 5, 6]], pa.list_(pa.int32())).slice(1, 3)
    schema = SchemaBuilder.array(INT32_SCHEMA).optional().build()
    batch = Batch.from_records(source_records(None, [None] * 3))
    given_ = Batch(batch.topic, batch.partition, batch.offset, batch.timestamp, batch.origin, batch.key,
                   Columns(schema, array), positions=batch.positions)  # fmt: skip
    assert crossed(echo, given_).value.to_objects().values == [None, [3], []]
