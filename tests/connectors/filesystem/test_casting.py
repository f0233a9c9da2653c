"""Columns converted to wider ones."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from connect_core.connectors.filesystem.casting import cast_array
from connect_core.connectors.filesystem.columns import to_type

AMOUNT = Decimal("12345678901.25")


@pytest.mark.parametrize(
    ("value", "narrow", "wide"),
    [
        (AMOUNT, "decimal128(38, 2)", "decimal128(38, 30)"),
        (-AMOUNT, "decimal128(38, 2)", "decimal128(38, 30)"),
        (AMOUNT, "decimal128(38, 2)", "decimal256(76, 70)"),
        ([None, AMOUNT], ("list", "decimal128(38, 2)"), ("list", "decimal128(38, 30)")),
        ({"a": AMOUNT}, ("struct", (("a", "decimal128(38, 2)"),)), ("struct", (("a", "decimal128(38, 30)"),))),
        ([("k", AMOUNT)], ("map", "string", "decimal128(38, 2)"), ("map", "string", "decimal128(38, 30)")),
    ],
)
def test_a_decimal_with_too_many_digits_is_refused(value: Any, narrow: Any, wide: Any) -> None:
    with pytest.raises(pa.ArrowInvalid, match=r"12345678901\.25 has too many digits for decimal"):
        cast_array(pa.array([None, value], to_type(narrow)), wide)


@pytest.mark.parametrize("wide", ["decimal128(38, 27)", "decimal256(76, 60)"])
def test_a_decimal_that_fits_keeps_its_value(wide: str) -> None:
    values = [AMOUNT, None, -AMOUNT, Decimal("9" * 9 + ".99")]
    assert cast_array(pa.array(values, pa.decimal128(38, 2)), wide).to_pylist() == values
    assert cast_array(pa.array([None], pa.decimal128(38, 2)), wide).to_pylist() == [None]


def test_every_digit_counts() -> None:
    """Python's own arithmetic rounds to 28 digits."""
    most = Decimal("9" * 35 + ".99")
    assert cast_array(pa.array([most], pa.decimal128(38, 2)), "decimal128(38, 3)").to_pylist() == [most]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_maps_keep_their_entries(first: int) -> None:
    values = [[("a", Decimal("1.25")), ("b", None)], None, [], [("c", AMOUNT)]]
    array = pa.array(values, to_type(("map", "string", "decimal128(38, 2)"))).slice(first)
    cast = cast_array(array, ("map", "string", "decimal128(38, 5)"))
    cast.validate(full=True)
    assert cast.to_pylist() == values[first:]
