"""Numbers narrowed as by Java's ``Number.longValue`` and ``doubleValue``."""

from __future__ import annotations

import decimal
import math

from connect_core.java.numbers import wrap

__all__ = ["to_double", "to_int", "to_long"]


def to_long(number: int | float | decimal.Decimal) -> int:
    """Return a number as a Long: decimals and big integers wrap, floats saturate, NaN is 0."""
    if isinstance(number, float):
        return _saturated(number, 64)
    if isinstance(number, decimal.Decimal):
        return wrap(int(number), 64) if number.adjusted() < _WHOLE_DIGITS else _low_bits(number)
    return wrap(number, 64)


def to_int(number: int | float | decimal.Decimal) -> int:
    """Return a number as an Integer: floats saturate at 32 bits, others wrap."""
    return _saturated(number, 32) if isinstance(number, float) else wrap(to_long(number), 32)


def to_double(number: int | float | decimal.Decimal) -> float:
    """Return the double nearest to a number; infinite beyond its range."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


_WHOLE_DIGITS = 400


def _low_bits(number: decimal.Decimal) -> int:
    """Return the low 64 bits of a huge decimal: zero if it is a multiple of 2^64."""
    exponent = number.as_tuple().exponent
    return 0 if isinstance(exponent, int) and exponent >= 64 else wrap(int(number), 64)


def _saturated(number: float, bits: int) -> int:
    limit = 1 << bits - 1
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return limit - 1 if number > 0 else -limit
    return max(-limit, min(limit - 1, int(number)))
