"""Values in the words of Java's toString."""

from __future__ import annotations

import decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Float32, Instant, Int8, to_text
from connect_core.java.numbers import parse_double, parse_float
from connect_core.java.text import float32_text, float64_text


@given(st.floats(allow_nan=False))
def test_double_text_reads_back(value: float) -> None:
    assert parse_double(float64_text(value)) == value


@given(st.floats(width=32, allow_nan=False))
def test_float_text_reads_back(value: float) -> None:
    assert parse_float(float32_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (Int8(5), "5"),
        (1e7, "1.0E7"),
        (9_999_999.0, "9999999.0"),
        (1e-3, "0.001"),
        (9.9e-4, "9.9E-4"),
        (-0.0, "-0.0"),
        (5e-324, "4.9E-324"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (Float32(0.1), "0.1"),
        (Float32(16_777_216), "1.6777216E7"),
        (decimal.Decimal("1E+3"), "1E+3"),
        (decimal.Decimal("-0.00"), "0.00"),
        (Instant(1_483_425_001_864), "Tue Jan 03 06:30:01 UTC 2017"),
        (Instant(-62_135_769_600_000), "Sat Jan 01 00:00:00 UTC 0001"),
        ([1, "a", None], "[1, a, null]"),
        ({"k": 1.0}, "{k=1.0}"),
    ],
)
def test_texts_are_javas(value: Any, text: str) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e11, "9.9999998E10"),
        (9e9, "8.9999995E9"),
        (16_777_216, "1.6777216E7"),
        (1.17549435e-38, "1.17549435E-38"),
        (1.4e-45, "1.4E-45"),
        (3.4028235e38, "3.4028235E38"),
        (3.8978615e25, "3.8978615E25"),
        (1_234_567, "1234567.0"),
    ],
)
def test_floats_have_the_digits_of_jdk_17(value: float, text: str) -> None:
    assert float32_text(value) == text
    assert float32_text(-value) == f"-{text}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2e23, "1.9999999999999998E23"),
        (2.0**62, "4.6116860184273879E18"),
        (5.0e22, "4.9999999999999996E22"),
        (1e-322, "1.0E-322"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)
def test_doubles_have_the_digits_of_jdk_17(value: float, text: str) -> None:
    assert float64_text(value) == text
