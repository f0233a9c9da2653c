"""A fast parser for well-formed dates, with the same results as field-by-field parsing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from connect_core.java.dates.calendar import gregorian_day
from connect_core.java.dates.pattern import Letters
from connect_core.java.instant import MILLIS_PER_DAY

__all__ = ["LATEST_YEAR", "OLDEST_YEAR", "is_plain", "quick_reader"]

_GROUPS = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second", "S": "millis"}
OLDEST_YEAR, LATEST_YEAR = 1600, 9999
"""Years whose dates need no calendar but the Gregorian, and no more than four digits."""


def quick_reader(parts: Sequence[Letters | str]) -> Callable[[str], int | None] | None:
    """Return a function from text to milliseconds, or ``None`` for patterns it does not support.

    The function returns ``None`` for texts that must be parsed field by field:
    non-ASCII digits, signs, exponents, blanks, and years outside 1600 to 9999.
    """
    if not is_plain(parts):
        return None
    shape = re.compile("".join(map(_shape, parts)), re.ASCII)

    def read(text: str) -> int | None:
        match = shape.match(text)
        return None if match is None else _millis(match)

    return read


def is_plain(parts: Sequence[Letters | str]) -> bool:
    """Return whether a pattern has a year, each letter once, and nothing but fields written in digits."""
    letters = [part.letter for part in parts if isinstance(part, Letters)]
    if len(set(letters)) != len(letters) or not set(letters) <= set(_GROUPS) or "y" not in letters:
        return False
    return not any(isinstance(part, Letters) and _is_worded(part) for part in parts)


def _is_worded(part: Letters) -> bool:
    return part.count > 2 if part.letter == "M" else part.letter == "y" and part.count <= 2


def _shape(part: Letters | str) -> str:
    if isinstance(part, str):
        return re.escape(part)
    digits = f"{{{part.count}}}" if part.exact else "{1,9}"
    return rf"(?P<{_GROUPS[part.letter]}>\d{digits})(?!E)" + ("" if part.exact else r"(?!\d)")


def _millis(match: re.Match[str]) -> int | None:
    found = {name: int(digits) for name, digits in match.groupdict().items()}
    year = found["year"]
    if not OLDEST_YEAR <= year <= LATEST_YEAR:
        return None
    day = gregorian_day(year, found.get("month", 1), found.get("day", 1))
    seconds = (found.get("hour", 0) * 60 + found.get("minute", 0)) * 60 + found.get("second", 0)
    return day * MILLIS_PER_DAY + seconds * 1000 + found.get("millis", 0)
