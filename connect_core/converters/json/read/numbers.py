"""JSON numbers to Java's: integers keep their low bits, floats round once.

A node is an int, a Decimal with all digits, or a float when a fast parser made
it. Where a float has lost what matters, InexactError asks for the exact parse.
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
    """Say that the digits of a number are needed, and a float has lost them."""


def is_number(node: Any) -> bool:
    """Return whether a node is a JSON number."""
    return type(node) in (int, float, decimal.Decimal)


def integer_of(node: Any) -> int | None:
    """Return the node if it is a whole number written as one, else ``None``."""
    if type(node) is float:
        raise InexactError
    return node if type(node) is int else None


def to_integer(node: Any, bits: int) -> int:
    """Return the low ``bits`` of a number cut toward zero; 0 for no number."""
    kind = type(node)
    if kind is int:
        return wrap(node, bits)
    if kind is float:
        raise InexactError
    if kind is decimal.Decimal:
        # 10^64 is a multiple of 2^64: nothing is left, and int() would be endless.
        return 0 if node.adjusted() > 2000 or node.adjusted() < 0 else wrap(int(node), bits)
    return 0


def to_double(node: Any) -> float:
    """Return the nearest double, infinite beyond its range; 0.0 for no number."""
    if type(node) is float:
        return _signed(node)
    if not is_number(node):
        return 0.0
    try:
        return float(node)
    except OverflowError:
        return math.inf if node > 0 else -math.inf


def to_schemaless(node: float) -> float:
    """Return a float, unless it may have been a whole number beyond 64 bits."""
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
    """Return a number with the digits and the scale it was written with."""
    if type(node) is float:
        raise InexactError
    return decimal.Decimal(node)


def _signed(node: float) -> float:
    """Return a float with its sign: only the digits tell a zero, which has none, from what is almost one."""
    if node == 0 and math.copysign(1, node) < 0:
        raise InexactError
    return node


def _needs_digits(value: float) -> bool:
    """Whether a double may lie halfway between two binary32 values, so that its origin decides."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits & 0x1FFFFFFF == 0x10000000 or 0 < abs(value) < _SMALLEST_NORMAL


_SMALLEST_NORMAL = 2.0**-126
