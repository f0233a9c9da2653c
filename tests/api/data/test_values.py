"""Texts of values and back, conversions beyond the recorded cases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.data import Float32, Int8, Int16, Int32, Int64, infer_schema, parse_string
from connect_core.api.data.values import convert_to_boolean, convert_to_list, convert_to_long, convert_to_string
from connect_core.errors import DataError, NullValueError
from connect_core.java.equality import same_value

pytestmark = pytest.mark.slow

LEAST_WIDTHS = ((Int8, 8), (Int16, 16), (Int32, 32), (Int64, 64))
SAFE_TEXT = st.text("abcxyz", max_size=6)
PARTS = st.recursive(
    st.integers(-(1 << 63), (1 << 63) - 1) | st.booleans() | SAFE_TEXT,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(SAFE_TEXT, parts, max_size=3),
    max_leaves=6,
)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_whole_numbers_take_the_least_width(number: int) -> None:
    kind = next(kind for kind, bits in LEAST_WIDTHS if -(1 << bits - 1) <= number < 1 << bits - 1)
    parsed = parse_string(str(number))
    assert (type(parsed.value), parsed.value) == (kind, number)
    assert parsed.schema == infer_schema(parsed.value)


@given(st.lists(PARTS, max_size=4) | st.dictionaries(SAFE_TEXT, PARTS, max_size=3))
def test_texts_of_containers_read_back(value: Any) -> None:
    text = convert_to_string(None, value)
    assert text is not None
    assert convert_to_string(None, parse_string(text).value) == text


@given(st.text(max_size=12))
def test_any_text_can_be_parsed(text: str) -> None:
    parsed = parse_string(text)
    if parsed.schema is not None and parsed.schema.type.is_primitive and parsed.schema.name is None:
        assert same_value(parse_string(convert_to_string(parsed.schema, parsed.value)).value, parsed.value)


@given(st.text(alphabet='0123456789:,{}[]"\\-+.eTZntf ', max_size=16))
def test_any_punctuation_can_be_parsed(text: str) -> None:
    assert parse_string(text) == parse_string(text)


def test_nested_too_deeply_is_a_data_error() -> None:
    with pytest.raises(DataError, match="nested too deeply"):
        parse_string("[" * 100_000)


def test_keys_may_be_lists_and_maps() -> None:
    parsed = parse_string('{[1]:1,{"a":1}:2}')
    assert list(parsed.value) == [[1], {"a": 1}] or parsed.value == '{[1]:1,{"a":1}:2}'
    assert parse_string("{[1]:2}").value == {next(iter(parse_string("{[1]:2}").value)): 2}


def test_floats_saturate_and_integers_wrap() -> None:
    assert convert_to_long(None, Float32("inf")) == (1 << 63) - 1
    assert convert_to_long(None, "18446744073709551617") == 1


def test_text_null_has_no_value_to_convert() -> None:
    for convert in (convert_to_boolean, convert_to_list):
        with pytest.raises(NullValueError):
            convert(None, "null")
