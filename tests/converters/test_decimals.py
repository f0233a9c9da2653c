from __future__ import annotations

import decimal
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Decimal
from connect_core.converters.decimals import decimals_of, unscaled_bytes

KIND = pa.decimal128(38, 2)
UNSCALED = st.integers(-(10**35), 10**35) | st.sampled_from([0, -1, 127, 128, -128, -129, 255, 256, 2**63, -(2**63)])


def read(column: pa.Array) -> list[decimal.Decimal | None]:
    found = decimals_of(column, KIND)
    assert found is not None
    return list(found.to_pylist())


@given(st.lists(UNSCALED, max_size=6))
def test_bytes_are_those_of_the_logical_type(unscaled: Any) -> None:
    values = [decimal.Decimal(number).scaleb(-2, decimal.Context(prec=60)) for number in unscaled]
    column = unscaled_bytes(pa.array(values, KIND))
    assert column.to_pylist() == [Decimal.from_logical(Decimal.schema(2), value) for value in values]
    assert read(column) == values


def test_nulls_stay() -> None:
    assert read(pa.array([b"\x01", None], pa.binary())) == [decimal.Decimal("0.01"), None]


def test_empty_and_wide_values_are_left_to_records() -> None:
    assert decimals_of(pa.array([b""], pa.binary()), KIND) is None
    assert decimals_of(pa.array([b"\x01" * 17], pa.binary()), KIND) is None
