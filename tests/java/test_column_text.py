"""Columns as text say what records say."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Float32, to_text
from connect_core.java.column_text import column_text

pytestmark = pytest.mark.slow


@given(st.lists(st.none() | st.floats() | st.integers(-(1 << 62), 1 << 62).map(float)))
def test_double_column_says_what_records_say(values: list[float | None]) -> None:
    found = column_text(pa.array(values, pa.float64()))
    assert found is not None
    assert found.to_pylist() == [None if value is None else to_text(value) for value in values]


@given(st.lists(st.none() | st.floats(width=32) | st.integers(-(1 << 62), 1 << 62).map(Float32)))
def test_float_column_says_what_records_say(values: list[float | None]) -> None:
    found = column_text(pa.array(values, pa.float32()))
    assert found is not None
    assert found.to_pylist() == [None if value is None else to_text(Float32(value)) for value in values]


def test_other_columns() -> None:
    assert column_text(pa.array([1, None])).to_pylist() == ["1", None]  # type: ignore[union-attr]
    assert column_text(pa.array([True])).to_pylist() == ["true"]  # type: ignore[union-attr]
    assert column_text(pa.array([b"x"])) is None
