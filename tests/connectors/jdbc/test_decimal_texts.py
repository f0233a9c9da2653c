"""Texts become the decimals they say, or are refused."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from connect_core.connectors.jdbc.decimal_texts import decimals_of


def test_texts_are_what_they_say() -> None:
    read = decimals_of(pa.array(["561.46", None, "-0.5", "7"]), pa.decimal128(38, 4))
    assert read.to_pylist() == [Decimal("561.4600"), None, Decimal("-0.5000"), Decimal("7.0000")]
    assert decimals_of(pa.array([None], pa.string()), pa.decimal128(38, 0)).to_pylist() == [None]


@pytest.mark.parametrize(
    ("text", "scale"), [("561.46", 38), ("1" * 40, 0), ("1" * 80, 0), ("0.12345", 4), ("NaN", 2), ("x", 0)]
)
def test_what_has_no_room_is_refused(text: str, scale: int) -> None:
    with pytest.raises(pa.ArrowInvalid):
        decimals_of(pa.array([text]), pa.decimal128(38, scale))
