"""JSON parsed as Jackson parses it for Connect: exact numbers, one value, lenient.

Leading zeros are allowed, text after the first value is ignored, UTF-16
and UTF-32 are detected, unpaired surrogates are accepted. Source: Jackson's ``readTree``
in Connect's ``JsonDeserializer``.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from typing import Any

from connect_core.converters.json.read.encoding import decode
from connect_core.errors import DataError

__all__ = ["MISSING", "exact_fraction", "parse_json"]

MISSING = object()
"""The result of blank input: no value at all, which differs from null."""

_MAX_DEPTH = 1000
_MAX_NUMBER = 1000
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_CHUNK = re.compile(r'[^"\\\x00-\x1f]*')
_WORD = re.compile(r"[0-9A-Za-z_]*")
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_CONTEXT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def exact_fraction(text: str) -> decimal.Decimal:
    """Return a number with all its digits; zero has no sign, as in BigDecimal."""
    number = _CONTEXT.create_decimal(text)
    return number if number else number.copy_abs()


def parse_json(
    data: bytes, integer: Callable[[str], Any] = int, fraction: Callable[[str], Any] = exact_fraction
) -> Any:
    """Return the first JSON value, or ``MISSING``; the last of duplicate members counts.

    ``integer`` and ``fraction`` convert the text of numbers; a fraction has a
    decimal point or an exponent. Raise DataError where Jackson does, with the position.
    """
    return _Parser(decode(data), integer, fraction).parse()


class _Parser:
    def __init__(self, text: str, integer: Callable[[str], Any], fraction: Callable[[str], Any]) -> None:
        self._text = text
        self._at = 0
        self._integer = integer
        self._fraction = fraction
        self._open: list[dict[str, Any] | list[Any]] = []
        self._fresh = False

    def parse(self) -> Any:
        self._skip()
        if self._at == len(self._text):
            return MISSING
        root = self._start()
        while self._open:
            container = self._open[-1]
            if self._ends("}" if isinstance(container, dict) else "]"):
                self._open.pop()
            elif isinstance(container, dict):
                name = self._name()
                container[name] = self._start()
            else:
                container.append(self._start())
        return root

    def _start(self) -> Any:
        self._skip()
        opener = self._peek()
        if opener not in "{[":
            return self._scalar(opener)
        if len(self._open) == _MAX_DEPTH:
            raise self._error(f"the document nests deeper than {_MAX_DEPTH}")
        container: dict[str, Any] | list[Any] = {} if opener == "{" else []
        self._at += 1
        self._open.append(container)
        self._fresh = True
        return container

    def _ends(self, closer: str) -> bool:
        self._skip()
        character = self._peek()
        fresh, self._fresh = self._fresh, False
        if character == closer or not fresh:
            self._at += 1
        if character == closer or fresh or character == ",":
            return character == closer
        raise self._error(f"expected ',' or '{closer}', found {character!r}")

    def _name(self) -> str:
        self._skip()
        if self._peek() != '"':
            raise self._error(f"expected a field name in double quotes, found {self._peek()!r}")
        name = self._string()
        self._skip()
        if self._peek() != ":":
            raise self._error(f"expected ':' after a field name, found {self._peek()!r}")
        self._at += 1
        return name

    def _scalar(self, first: str) -> Any:
        if first == '"':
            return self._string()
        if first in "-0123456789":
            return self._number()
        match = _WORD.match(self._text, self._at)
        word = match.group() if match is not None else ""
        if word not in _WORDS:
            raise self._error(f"expected a JSON value, found {word or first!r}")
        self._at += len(word)
        return _WORDS[word]

    def _number(self) -> Any:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            raise self._error("expected digits after a minus sign")
        self._at = match.end()
        following = self._text[self._at : self._at + 1]
        if following and following not in (" \t\r\n,]}" if self._open else " \t\r\n"):
            raise self._error(f"unexpected character {following!r} after a number")
        if match.end() - match.start() > _MAX_NUMBER:
            raise self._error(f"a number of more than {_MAX_NUMBER} characters")
        return (self._fraction if match.group(1) or match.group(2) else self._integer)(match.group())

    def _string(self) -> str:
        parts: list[str] = []
        self._at += 1
        while True:
            chunk = _CHUNK.match(self._text, self._at)
            assert chunk is not None
            parts.append(chunk.group())
            self._at = chunk.end()
            character = self._peek()
            self._at += 1
            if character == '"':
                return _PAIR.sub(_join_pair, "".join(parts))
            if character != "\\":
                raise self._error(f"control character {character!r} in a string")
            parts.append(self._escaped())

    def _escaped(self) -> str:
        character = self._peek()
        self._at += 1
        if character != "u":
            if character not in _ESCAPES:
                raise self._error(f"unrecognized escape '\\{character}'")
            return _ESCAPES[character]
        code = _HEX4.match(self._text, self._at)
        if code is None:
            raise self._error("expected four hexadecimal digits after \\u")
        self._at = code.end()
        return chr(int(code.group(), 16))

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()

    def _peek(self) -> str:
        if self._at >= len(self._text):
            raise self._error("unexpected end of input")
        return self._text[self._at]

    def _error(self, problem: str) -> DataError:
        return DataError(f"{problem} at character {self._at + 1}")


def _join_pair(match: re.Match[str]) -> str:
    high, low = match.group()[0], match.group()[1]
    return chr(0x10000 + (ord(high) - 0xD800 << 10) + ord(low) - 0xDC00)
