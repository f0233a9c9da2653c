"""JSON numbers to Java's: integers keep their low bits, floats are rounded once.

A node is an int, a Decimal with all digits, or a float from a fast parser.
If a float has lost relevant digits, InexactError requests the exact parse.
"""

from __future__ import annotations

import decimal
import math
import struct
from typing import Any

from connect_core.api.data import Float32
from connect_core.java.numbers import nearest_float32, wrap

__all__ = [
    "InexactError",
    "integer_of",
    "is_number",
    "to_decimal",
    "to_double",
    "to_float32",
    "to_integer",
    "to_schemaless",
]


class InexactError(Exception):
    """Raised when the digits of a number are needed, but a float has lost them."""


def is_number(node: Any) -> bool:
    """Return whether a node is a JSON number."""
    return type(node) in (int, float, decimal.Decimal)


def integer_of(node: Any) -> int | None:
    """Return the node if it is an integer written without fraction, else ``None``."""
    if type(node) is float:
        raise InexactError
    return node if type(node) is int else None


def to_integer(node: Any, bits: int) -> int:
    """Return the low ``bits`` of a number truncated toward zero; 0 if it is not a number."""
    kind = type(node)
    if kind is int:
        return wrap(node, bits)
    if kind is float:
        raise InexactError
    if kind is decimal.Decimal:
        # 10^64 is a multiple of 2^64: the result is 0, and int() would take too long.
        return 0 if node.adjusted() > 2000 or node.adjusted() < 0 else wrap(int(node), bits)
    return 0


def to_double(node: Any) -> float:
    """Return the nearest double, infinite beyond its range; 0.0 if it is not a number."""
    if type(node) is float:
        return _signed(node)
    if not is_number(node):
        return 0.0
    try:
        return float(node)
    except OverflowError:
        return math.inf if node > 0 else -math.inf


def to_schemaless(node: float) -> float:
    """Return a float; raise InexactError if it may have been an integer beyond 64 bits."""
    if abs(node) >= 2.0**63:
        raise InexactError
    return _signed(node)


def to_float32(node: Any) -> Float32:
    """Return the nearest binary32 value, rounded once from all digits."""
    if not is_number(node):
        return Float32(0.0)
    nearest = to_double(node)
    if math.isinf(nearest) or not _needs_digits(nearest):
        return Float32(nearest)
    if type(node) is float:
        raise InexactError
    return Float32(nearest_float32(decimal.Decimal(node)))


def to_decimal(node: Any) -> decimal.Decimal:
    """Return a number with its digits and scale as written."""
    if type(node) is float:
        raise InexactError
    return decimal.Decimal(node)


def _signed(node: float) -> float:
    """Return a float with its sign: a negative zero may be a tiny number, which only its digits show."""
    if node == 0 and math.copysign(1, node) < 0:
        raise InexactError
    return node


def _needs_digits(value: float) -> bool:
    """Whether a double may lie halfway between two binary32 values, so that its digits decide."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits & 0x1FFFFFFF == 0x10000000 or 0 < abs(value) < _SMALLEST_NORMAL


_SMALLEST_NORMAL = 2.0**-126
