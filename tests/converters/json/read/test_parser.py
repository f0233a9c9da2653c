from __future__ import annotations

import decimal
from typing import Any

import pytest

from connect_core.converters.json.read.parser import MISSING, parse_json
from connect_core.errors import DataError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"null", None),
        (b" [1, 2.50, {}]", [1, decimal.Decimal("2.50"), {}]),
        (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        (b'"\\u00e9\\n\\ud83d\\ude00"', "é\n😀"),
        (b'"\\ud83d"', "\ud83d"),
        (b"007", 7),
        (b"1 2", 1),
        (b'"a"x', "a"),
        (b"true]", True),
        ("\ufeff[1]".encode(), [1]),
        ('{"a":1}'.encode("utf-16"), {"a": 1}),
        ("[1]".encode("utf-32-le"), [1]),
        (b'"\xc1\x81"', "A"),
    ],
)
def test_parses_as_jackson(text: Any, expected: Any) -> None:
    assert parse_json(text) == expected


@pytest.mark.parametrize("text", [b"", b" \t\r\n"])
def test_blank_is_missing(text: bytes) -> None:
    assert parse_json(text) is MISSING


@pytest.mark.parametrize(
    "text",
    [
        b"[1,]",
        b"{",
        b'{"a"}',
        b'{"a":1,}',
        b"[1 2]",
        b"+1",
        b".5",
        b"1.",
        b"-",
        b"1x",
        b"1,2",
        b"NaN",
        b"nul",
        b'"a',
        b'"\n"',
        b'"\\x"',
        b'"\\u12"',
        b"'a'",
        b'"\xff"',
        b'"\xc3"',
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"1" * 1001,
    ],
)
def test_refuses_as_jackson(text: bytes) -> None:
    with pytest.raises(DataError, match=r"(character|byte) \d+|UTF-8"):
        parse_json(text)


def test_depth_has_a_limit() -> None:
    assert parse_json(b"[" * 1000 + b"]" * 1000)
    with pytest.raises(DataError, match="deeper than 1000"):
        parse_json(b"[" * 1001 + b"]" * 1001)


def test_zero_has_no_sign() -> None:
    zero = parse_json(b"-0.00")
    assert str(zero) == "0.00"
