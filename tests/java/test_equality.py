"""Sameness by Java's rules."""

from __future__ import annotations

import decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Float32, Float64, Int32, Int64
from connect_core.java.equality import as_key, hash_value, same_value
from tests.api.data.strategies import schemas, values_of

pytestmark = pytest.mark.slow


@given(st.data())
def test_values_equal_themselves_with_one_hash(data: st.DataObject) -> None:
    schema = data.draw(schemas)
    value = data.draw(values_of(schema))
    assert same_value(value, value)
    assert hash_value(value) == hash_value(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (float("nan"), float("nan")),
        (5, Int32(5)),
        (0.5, Float32(0.5)),
        (b"x", memoryview(b"x")),
        ([1, {"a": float("nan")}], [Int64(1), {"a": float("nan")}]),
    ],
)
def test_same(one: Any, other: Any) -> None:
    assert same_value(one, other)
    assert hash_value(one) == hash_value(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (Int32(5), Int64(5)),
        (Float32(0.5), Float64(0.5)),
        (1, True),
        (1, 1.0),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ("1", 1),
    ],
)
def test_not_same(one: Any, other: Any) -> None:
    assert not same_value(one, other)


def test_keys_of_lists_and_maps_are_hashable() -> None:
    assert {as_key([1]): "list", as_key({"a": [1]}): "map"}[as_key([1])] == "list"
