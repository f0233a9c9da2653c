from __future__ import annotations

import decimal
from typing import Any

import pytest

from connect_core.api.data import (
    OPTIONAL_STRING_SCHEMA,
    Float32,
    Instant,
    Int8,
    Int32,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Timestamp,
)
from connect_core.errors import ConfigError, DataError
from connect_core.transforms.mask_field import MaskFieldKey, MaskFieldValue
from tests.transforms.single import applied, configured, in_columns, sink


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 0),
        (Int32(5), Int32(0)),
        (1.5, 0.0),
        (Float32(1.5), Float32(0.0)),
        (True, False),
        ("x", ""),
        ([1], []),
        ({"a": 1}, {}),
        (Instant(5), Instant(0)),
        (None, None),
    ],
)
def test_empties_by_type(value: Any, expected: Any) -> None:
    transform = configured(MaskFieldValue, fields="f")
    (masked,) = applied(transform, sink({"f": value, "g": 1}))
    assert masked.value == {"f": expected, "g": 1}
    assert type(masked.value["f"]) is type(expected)


@pytest.mark.parametrize(
    ("value", "replacement", "expected"),
    [("x", "***", "***"), (5, "1.9", 1), (Int8(5), "-300", Int8(-44)), (1.5, "7", 7.0)],
)
def test_replaces_by_type(value: Any, replacement: str, expected: Any) -> None:
    transform = configured(MaskFieldValue, fields="f", replacement=replacement)
    (masked,) = applied(transform, sink({"f": value}))
    assert masked.value == {"f": expected}


def test_decimals_go_by_records() -> None:
    transform = configured(MaskFieldValue, fields="f")
    record = sink({"f": decimal.Decimal("1.50")})
    assert transform.apply(record).value == {"f": decimal.Decimal(0)}
    assert in_columns(transform, record) is None


def test_missing_entry_is_added_as_null() -> None:
    (masked,) = applied(configured(MaskFieldKey, fields="z"), sink(1, key={"a": 1}))
    assert masked.key == {"a": 1, "z": None}


def test_struct_keeps_schema_and_nulls() -> None:
    schema = (
        SchemaBuilder.struct()
        .field("s", OPTIONAL_STRING_SCHEMA)
        .field("i", Schema(SchemaType.INT16))
        .field("ts", Timestamp.SCHEMA)
        .build()
    )
    rows = [Struct.of_values(schema, [None, 5, Instant(9)]), Struct.of_values(schema, ["x", 6, Instant(8)])]
    transform = configured(MaskFieldValue, fields="s,i,ts")
    first, second = applied(transform, *(sink(row, schema) for row in rows))
    assert list(first.value.values) == [None, 0, Instant(0)]
    assert list(second.value.values) == ["", 0, Instant(0)]
    assert second.value_schema == schema


@pytest.mark.parametrize(
    ("settings", "value"), [({}, b"x"), ({"replacement": "7"}, True), ({"replacement": "abc"}, 5), ({}, None)]
)
def test_unmaskable_is_a_data_error(settings: dict[str, str], value: bool | bytes | int | None) -> None:
    transform = configured(MaskFieldValue, fields="f", **settings)
    record = sink(None if value is None else {"f": value})
    with pytest.raises(DataError):
        transform.apply(record)
    assert in_columns(transform, record) is None


@pytest.mark.parametrize("settings", [{}, {"fields": ""}, {"fields": "a", "replacement": ""}])
def test_bad_settings_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        configured(MaskFieldValue, **settings)
