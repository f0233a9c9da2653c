"""Widths, and numbers read as Java reads them."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import BigInteger, Float32, Float64, Int8, Int16, Int32, Int64
from connect_core.errors import IllegalArgumentError, NumberFormatError
from connect_core.java.numbers import parse_double, parse_float, parse_integer, round_to_float32, wrap


@pytest.mark.parametrize(("kind", "bits"), [(Int8, 8), (Int16, 16), (Int32, 32), (Int64, 64)])
def test_width_is_kept(kind: type[Int8], bits: int) -> None:
    high = (1 << bits - 1) - 1
    assert (kind(high), kind(-high - 1)) == (high, -high - 1)
    for beyond in (high + 1, -high - 2):
        with pytest.raises(IllegalArgumentError, match=kind.__name__):
            kind(beyond)


@pytest.mark.parametrize("value", [Int8(1), Int64(-5), BigInteger(1 << 70), Float32(0.1), Float64(0.5)])
def test_numbers_keep_their_class_when_pickled(value: float) -> None:
    again = pickle.loads(pickle.dumps(value))
    assert (type(again), again) == (type(value), value)


def test_numbers_show_their_class() -> None:
    assert (repr(Int8(5)), str(Int8(5)), f"{Int8(5)}") == ("Int8(5)", "5", "5")
    assert (repr(Float32(1.5)), str(Float32(1.5))) == ("Float32(1.5)", "1.5")


@given(st.integers(), st.sampled_from([8, 16, 32, 64]))
def test_wrap_keeps_the_low_bits(value: int, bits: int) -> None:
    wrapped = wrap(value, bits)
    assert (wrapped - value) % (1 << bits) == 0
    assert -(1 << bits - 1) <= wrapped < 1 << bits - 1


@given(st.floats(width=32))
def test_float32_text_reads_back(value: float) -> None:
    assert round_to_float32(value) == value or math.isnan(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), (" 3f ", 3.0), (".5d", 0.5), ("0x1p3", 8.0), ("-Infinity", -math.inf), ("1e999", math.inf)],
)
def test_parse_double_reads_javas_forms(text: str, value: float) -> None:
    assert parse_double(text) == value


@pytest.mark.parametrize("text", ["", " ", "1_0", "0x1F", "inf", "nan", "1e", "--1", "1 2", "٣"])
def test_parse_double_refuses_other_forms(text: str) -> None:
    with pytest.raises(NumberFormatError):
        parse_double(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.00000005960464477539062500", 1.0),
        ("1.00000005960464477539062501", 1.00000011920928955078125),
        ("3.4028235677973362e38", 3.4028234663852886e38),
        ("3.4028235677973367e38", math.inf),
    ],
)
def test_parse_float_rounds_once(text: str, value: float) -> None:
    assert parse_float(text) == value


def test_parse_integer_reads_digits_of_any_script() -> None:
    assert parse_integer("+٤٢", 32) == 42


@pytest.mark.parametrize("text", ["", " 1", "1_0", "1.0", "2147483648"])
def test_parse_integer_refuses_the_rest(text: str) -> None:
    with pytest.raises(NumberFormatError):
        parse_integer(text, 32)
