"""Numbers with a declared width, for schemaless data and strict schemas.

A plain ``int`` or ``float`` is allowed wherever one of these is: it counts as
INT64 or FLOAT64 when a schema is inferred. Arithmetic returns plain numbers.
"""

from __future__ import annotations

import decimal
import math
import re
import struct
from typing import ClassVar, SupportsFloat, SupportsInt

from connect_core.errors import IllegalArgumentError, NumberFormatError
from connect_core.java.strings import trim

__all__ = [
    "BigInteger",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "nearest_float32",
    "parse_double",
    "parse_float",
    "parse_integer",
    "round_to_float32",
    "wrap",
]

_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d++\.?\d*+|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?|"
    r"(?P<hex>0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?)",
    re.ASCII,
)
_BINARY32 = struct.Struct("<f")


class _Width(int):
    __slots__ = ()
    bits: ClassVar[int]
    low: ClassVar[int]
    high: ClassVar[int]

    def __init_subclass__(cls, bits: int) -> None:
        cls.bits = bits
        cls.low, cls.high = -(1 << bits - 1), (1 << bits - 1) - 1

    def __new__(cls, value: SupportsInt) -> _Width:
        number = int.__new__(cls, value)
        if not cls.low <= number <= cls.high:
            raise IllegalArgumentError(f"{int(number)} does not fit {cls.__name__} ({cls.low}..{cls.high})")
        return number

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"

    __str__ = int.__repr__


class Int8(_Width, bits=8):
    """A Byte: -128..127. Raise IllegalArgumentError outside."""

    __slots__ = ()


class Int16(_Width, bits=16):
    """A Short: -32768..32767. Raise IllegalArgumentError outside."""

    __slots__ = ()


class Int32(_Width, bits=32):
    """An Integer of 32 bits. Raise IllegalArgumentError outside."""

    __slots__ = ()


class Int64(_Width, bits=64):
    """A Long of 64 bits. Raise IllegalArgumentError outside."""

    __slots__ = ()


class BigInteger(int):
    """An integer without bounds; no schema type accepts it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInteger({int(self)})"

    __str__ = int.__repr__


class Float32(float):
    """A Float: the nearest binary32 value, infinite beyond its range."""

    __slots__ = ()

    def __new__(cls, value: SupportsFloat | str) -> Float32:
        """Round ``value`` to binary32."""
        return float.__new__(cls, round_to_float32(float(value)))

    def __repr__(self) -> str:
        return f"Float32({float.__repr__(self)})"

    __str__ = float.__repr__


class Float64(float):
    """A Double."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Float64({float.__repr__(self)})"

    __str__ = float.__repr__


def round_to_float32(value: float) -> float:
    """Return the binary32 value nearest to a double, as a plain float."""
    try:
        rounded: float = _BINARY32.unpack(_BINARY32.pack(value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def wrap(value: int, bits: int) -> int:
    """Return the low ``bits`` of an integer in two's complement, as Java's casts do."""
    half = 1 << bits - 1
    return (value + half) % (half << 1) - half


def parse_integer(text: str, bits: int) -> int:
    """Return the result of Java's ``Integer.parseInt`` (or Short's, Long's).

    Raise NumberFormatError for spaces, decimal points, underscores and overflow.
    """
    number = int(text) if _INTEGER.fullmatch(text) else None
    if number is None or wrap(number, bits) != number:
        raise NumberFormatError(f'For input string: "{text}"')
    return number


def parse_double(text: str) -> float:
    """Return the result of Java's ``Double.parseDouble``: ``1.5``, ``3f``, ``0x1p3``.

    Raise NumberFormatError for anything else, such as underscores.
    """
    return float(_number(text))


def parse_float(text: str) -> float:
    """Return the result of Java's ``Float.parseFloat``, as a plain float.

    Raise NumberFormatError as ``parse_double`` does.
    """
    number = _number(text)
    return number if isinstance(number, float) else nearest_float32(number)


def nearest_float32(exact: decimal.Decimal) -> float:
    """Return the binary32 value nearest to an exact decimal, as a plain float.

    Rounding to a double first would be wrong if the double lies exactly between
    two binary32 values and the decimal does not.
    """
    near = float(exact)
    rounded = round_to_float32(near)
    if not math.isfinite(near) or near == exact:
        return rounded
    below = round_to_float32(math.nextafter(near, -math.inf))
    above = round_to_float32(math.nextafter(near, math.inf))
    if (_finite(below) + _finite(above)) / 2 != near or below == above:
        return rounded
    return above if exact > near else below


def _finite(value: float) -> float:
    """Return a float, infinity replaced by the power of two after the largest binary32 value."""
    return math.copysign(2.0**128, value) if math.isinf(value) else value


def _number(text: str) -> float | decimal.Decimal:
    body = trim(text)
    match = _DOUBLE.fullmatch(body)
    if match is None:
        raise NumberFormatError(f'For input string: "{body}"' if body else "empty String")
    if match["hex"]:
        return _from_hex(body.rstrip("fFdD"))
    if body[-1] in "Ny":
        return float(body)
    return decimal.Decimal(body.rstrip("fFdD"))


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.copysign(math.inf, -1 if text.startswith("-") else 1)
