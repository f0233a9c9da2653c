"""BigDecimal over ``decimal.Decimal``: unscaled values, scales, Java's parsing."""

from __future__ import annotations

import decimal
import re

from connect_core.errors import IllegalArgumentError, NumberFormatError
from connect_core.java.numbers import wrap

__all__ = ["of_unscaled", "parse_decimal", "unscaled_and_scale"]

_DECIMAL = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d+)(?:[eE][+-]?(?P<exponent>\d+))?")
_EXPONENT_DIGITS = 10


def parse_decimal(text: str) -> decimal.Decimal:
    """Return the value of Java's ``new BigDecimal(text)``, including its scale.

    Raise NumberFormatError for blanks, infinities and exponents beyond 32 bits.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None or len((match["exponent"] or "").lstrip("0")) > _EXPONENT_DIGITS:
        raise NumberFormatError(f'"{text}" is not a decimal number')
    number = decimal.Decimal(text)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or wrap(-exponent, 32) != -exponent:
        raise NumberFormatError(f'"{text}" has an exponent out of range')
    return number if number else number.copy_abs()


def of_unscaled(unscaled: int, scale: int) -> decimal.Decimal:
    """Return ``unscaled`` · 10^-scale, keeping the scale."""
    return decimal.Decimal(unscaled).scaleb(-scale, _EXACT)


def unscaled_and_scale(value: decimal.Decimal) -> tuple[int, int]:
    """Return the unscaled integer and the scale. Raise for NaN and infinities."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise IllegalArgumentError(f"{value} is not a finite decimal")
    return int(value.scaleb(-exponent, _EXACT)), -exponent


_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
