"""Patterns of Joda-Time, which name the folders of Confluent's sinks: ``'year'=YYYY/'month'=MM/'day'=dd``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from connect_core.errors import IllegalArgumentError

__all__ = ["JodaFormat"]

_TOKEN = re.compile(r"''|'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+|'")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NUMBERS: Mapping[str, Callable[[datetime], int]] = {
    "C": lambda at: at.year // 100,
    "Y": lambda at: at.year,
    "y": lambda at: at.year,
    "x": lambda at: at.isocalendar().year,
    "w": lambda at: at.isocalendar().week,
    "e": lambda at: at.isoweekday(),
    "D": lambda at: at.timetuple().tm_yday,
    "M": lambda at: at.month,
    "d": lambda at: at.day,
    "K": lambda at: at.hour % 12,
    "h": lambda at: at.hour % 12 or 12,
    "H": lambda at: at.hour,
    "k": lambda at: at.hour or 24,
    "m": lambda at: at.minute,
    "s": lambda at: at.second,
}
_NAMES: Mapping[str, Callable[[datetime, int], str]] = {
    "G": lambda at, count: "AD",
    "E": lambda at, count: _DAYS[at.weekday()][: None if count > 3 else 3],
    "M": lambda at, count: _MONTHS[at.month - 1][: None if count > 3 else 3],
    "a": lambda at, count: "AM" if at.hour < 12 else "PM",
    "z": lambda at, count: _fixed(at.tzname() or "UTC"),
}


def _fixed(name: str) -> str:
    """Return the name of a zone without one of its own, an offset, as Joda-Time has it: ``+02:00``."""
    return name.removeprefix("UTC") or name


class JodaFormat:
    """A compiled pattern in English. Raises IllegalArgumentError for letters without a meaning."""

    def __init__(self, pattern: str) -> None:
        self._parts = tuple(_parts(pattern))

    @property
    def has_words(self) -> bool:
        """Whether its output depends on a language."""
        return any(isinstance(part, tuple) and _is_word(*part) for part in self._parts)

    def format(self, at: datetime) -> str:
        """Return a datetime, which has a time zone, as text."""
        return "".join(part if isinstance(part, str) else _field(at, *part) for part in self._parts)


def _parts(pattern: str) -> Iterator[str | tuple[str, int]]:
    for token in _TOKEN.finditer(pattern):
        text, quoted, letter = token[0], token[1], token[2]
        if text == "'":
            raise IllegalArgumentError("a quote is not closed")
        if text == "''":
            yield "'"
        elif quoted is not None:
            yield quoted.replace("''", "'")
        elif letter:
            yield _checked(letter, len(text))
        else:
            yield text


def _checked(letter: str, count: int) -> tuple[str, int]:
    if letter not in _NUMBERS and letter not in _NAMES and letter not in "SZ":
        raise IllegalArgumentError(f"the letter {letter} has no meaning; put text in quotes: '{letter}'")
    return letter, count


def _is_word(letter: str, count: int) -> bool:
    return letter in "GEa" or (letter == "M" and count > 2) or (letter == "z")


def _field(at: datetime, letter: str, count: int) -> str:
    if _is_word(letter, count):
        return _NAMES[letter](at, count)
    if letter == "S":
        return f"{at.microsecond:06d}".ljust(count, "0")[:count]
    if letter == "Z":
        return _offset(at, count)
    number = _NUMBERS[letter](at)
    if letter in "yYx" and count == 2:
        number %= 100
    return f"{number:0{count}d}"


def _offset(at: datetime, count: int) -> str:
    if count > 2:
        return getattr(at.tzinfo, "key", None) or _fixed(str(at.tzinfo))
    text = at.strftime("%z")[:5]
    return text if count == 1 else f"{text[:3]}:{text[3:]}"
