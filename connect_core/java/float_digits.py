"""The digits that JDK 17 gives a Float or Double, which are not always the shortest.

Connect's own texts were recorded on JDK 17; since JDK 19 the digits are the shortest.
Connect: ``jdk.internal.math.FloatingDecimal``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from connect_core.java.numbers import wrap

__all__ = ["float32_digits", "float64_digits"]

_LARGEST_WHOLE_EXPONENT = 62


def float32_digits(value: float) -> tuple[str, int]:
    """Return the digits of a positive, finite binary32 value, and the position of its point.

    ``("15", 1)`` is 1.5, ``("1", -2)`` is 0.001.
    """
    return _digits(value, 24, -126)


def float64_digits(value: float) -> tuple[str, int]:
    """Return the digits of a positive, finite double; see ``float32_digits``."""
    return _digits(value, 53, -1022)


def _digits(value: float, mantissa_bits: int, least_exponent: int) -> tuple[str, int]:
    fraction, exponent = math.frexp(value)
    exponent -= 1
    significant = mantissa_bits + min(0, exponent - least_exponent)
    if exponent <= _LARGEST_WHOLE_EXPONENT and value.is_integer():
        return _whole_digits(int(value), exponent - significant - 1)
    mantissa = int(fraction * (1 << mantissa_bits))
    mantissa >>= (mantissa & -mantissa).bit_length() - 1
    return _Division.of(mantissa, exponent, significant).digits()


def _whole_digits(value: int, insignificant_bits: int) -> tuple[str, int]:
    """Drop the decimal digits that only represent bits beyond the mantissa."""
    dropped = int(insignificant_bits * math.log10(2)) if insignificant_bits > 1 else 0
    unit = 10**dropped
    kept = value // unit + (dropped > 0 and value % unit >= unit // 2)
    text = str(kept)
    return text.rstrip("0"), len(text) + dropped


@dataclass(slots=True)
class _Division:
    """A value as a fraction, divided digit by digit.

    It ends once the rest is within ``tolerance``, half a unit in the last place.
    ``bits`` is the width of Java's arithmetic, which overflows; 0 is unbounded.
    """

    numerator: int
    denominator: int
    tolerance: int
    place: int
    bits: int

    @classmethod
    def of(cls, mantissa: int, exponent: int, significant: int) -> _Division:
        """Return the division of an odd mantissa whose highest bit is worth 2^exponent."""
        size = mantissa.bit_length()
        place = _estimated_place(mantissa, size, exponent)
        fives, over = max(0, -place), max(0, place)
        fraction_bits = max(0, size - exponent - 1)
        twos = fives + fraction_bits + exponent
        numerator, denominator = twos - (size - 1), over + fraction_bits
        tolerance = twos - significant
        shared = min(numerator, denominator)
        tolerance -= shared + (size == 1)
        shared += min(0, tolerance)
        numerator, denominator, tolerance = numerator - shared, denominator - shared, max(0, tolerance)
        width = max(size + numerator + _bits_of_five(fives), denominator + 1 + _bits_of_five(over + 1))
        return cls(
            mantissa * 5**fives << numerator,
            5**over << denominator,
            5**fives << tolerance,
            place,
            next((bits for bits in (32, 64) if width < bits), 0),
        )

    def digits(self) -> tuple[str, int]:
        """Return the digits and the position of the point."""
        found: list[int] = []
        low = high = False
        while not (low or high):
            digit, rest = divmod(self.numerator, self.denominator)
            self.numerator, self.tolerance = rest * 10, self._wrapped(self.tolerance * 10)
            low, high = self._is_near()
            if not found and digit == 0 and not high:
                self.place -= 1
            else:
                found.append(digit)
            if len(found) < 2 and not -3 <= self.place < 8:
                low = high = False
        if high and (not low or self._rounds_up(found[-1])):
            return _rounded_up(found, self.place)
        return "".join(map(str, found)), self.place + 1

    def _is_near(self) -> tuple[bool, bool]:
        """Return whether the digits so far, or those plus one, are near enough."""
        ten = self.denominator * 10
        if not self.bits:
            return self.numerator < self.tolerance, self.numerator + self.tolerance >= ten
        if self.tolerance <= 0:
            return True, True
        return self.numerator < self.tolerance, self._wrapped(self.numerator + self.tolerance) > ten

    def _rounds_up(self, digit: int) -> bool:
        excess = self._wrapped(self._wrapped(self.numerator * 2) - self.denominator * 10)
        return excess > 0 or (excess == 0 and digit % 2 == 1)

    def _wrapped(self, number: int) -> int:
        return wrap(number, self.bits) if self.bits else number


def _rounded_up(digits: list[int], place: int) -> tuple[str, int]:
    text = str(int("".join(map(str, digits))) + 1).rjust(len(digits), "0")
    return (text, place + 1) if len(text) == len(digits) else (text[:-1], place + 2)


def _estimated_place(mantissa: int, size: int, exponent: int) -> int:
    """Estimate floor(log10), as Java does, perhaps one too high."""
    leading = mantissa / (1 << size - 1)
    return math.floor((leading - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)


def _bits_of_five(power: int) -> int:
    return (5**power).bit_length() if 0 < power < 27 else power * 3
