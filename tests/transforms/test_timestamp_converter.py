from __future__ import annotations

from typing import Any

import pytest

from connect_core.api.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    Date,
    Instant,
    Schema,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)
from connect_core.errors import ConfigError, ConnectError, DataError
from connect_core.transforms.timestamp_converter import TimestampConverterKey, TimestampConverterValue
from tests.transforms.single import applied, configured, in_columns, sink

MILLIS = 1_483_425_001_864
FORMAT = "yyyy-MM-dd HH:mm:ss.SSS"
TEXT = "2017-01-03 06:30:01.864"


@pytest.mark.parametrize(
    ("schema", "value"),
    [(Timestamp.SCHEMA, Instant(MILLIS)), (INT64_SCHEMA, MILLIS), (STRING_SCHEMA, TEXT), (None, MILLIS), (None, TEXT)],
)
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("unix", MILLIS),
        ("string", TEXT),
        ("Timestamp", Instant(MILLIS)),
        ("Date", Instant(1_483_401_600_000)),
        ("Time", Instant(23_401_864)),
    ],
)
def test_every_form_becomes_every_other(schema: Schema | None, value: Any, target: str, expected: Any) -> None:
    transform = configured(TimestampConverterValue, target_type=target, format=FORMAT)
    (whole,) = applied(transform, sink(value, schema))
    assert whole.value == expected
    in_field = configured(TimestampConverterValue, target_type=target, format=FORMAT, field="f")
    row: object = {"f": value}
    if schema is not None:
        row_schema = SchemaBuilder.struct().field("f", schema).build()
        row = Struct(row_schema).put("f", value)
    (changed,) = applied(in_field, sink(row, None if schema is None else row_schema))
    assert changed.value["f"] == expected


def test_the_day_of_the_first_instant_overflows_as_in_java() -> None:
    found = configured(TimestampConverterValue, target_type="Date").apply(sink(-(2**63), INT64_SCHEMA))
    assert found is not None
    assert found.value == Instant(9_223_372_036_794_351_616)


@pytest.mark.parametrize(
    ("precision", "unix", "millis"),
    [("seconds", -2, -2000), ("microseconds", -1500, -1), ("nanoseconds", 1_999_999, 1), ("milliseconds", 5, 5)],
)
def test_unix_precision_cuts_toward_zero(precision: str, unix: int, millis: int) -> None:
    transform = configured(TimestampConverterKey, target_type="Timestamp", unix_precision=precision)
    (read,) = applied(transform, sink(1, key=unix))
    assert read.key == Instant(millis)


def test_overflow_goes_by_records() -> None:
    transform = configured(TimestampConverterValue, target_type="unix", unix_precision="nanoseconds")
    record = sink(Instant(2**60), Timestamp.SCHEMA)
    assert transform.apply(record).value == 2**63 - 1
    assert in_columns(transform, record) is None


def test_nulls_stay() -> None:
    transform = configured(TimestampConverterValue, target_type="unix", field="f")
    first, second = applied(transform, sink({"f": None}), sink({"f": Instant(5)}))
    assert (first.value, second.value) == ({"f": None}, {"f": 5})
    whole = configured(TimestampConverterValue, target_type="Date")
    (null,) = applied(whole, sink(None, Time.SCHEMA.replace(optional=True)))
    assert (null.value, null.value_schema) == (None, Date.builder().optional().build())


@pytest.mark.parametrize("value", ["no date", True, 1.5])
def test_no_timestamp_is_a_data_error(value: bool | float | str) -> None:
    transform = configured(TimestampConverterValue, target_type="unix", format="yyyy")
    with pytest.raises(DataError):
        transform.apply(sink(value))
    assert in_columns(transform, sink(value)) is None


def test_schema_that_is_no_timestamp_is_refused() -> None:
    schema = SchemaBuilder.struct().build()
    transform = configured(TimestampConverterValue, target_type="unix")
    with pytest.raises(ConnectError, match="does not correspond"):
        transform.apply(sink(Struct(schema), schema))
    assert in_columns(transform, sink(Struct(schema), schema)) is None


@pytest.mark.parametrize("settings", [{}, {"target_type": "string"}, {"target_type": "string", "format": "'"}])
def test_bad_settings_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        configured(TimestampConverterValue, **settings)
