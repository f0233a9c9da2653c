"""Parses one field of a date after the other. Connect: ``SimpleDateFormat.subParse``."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from datetime import UTC, datetime

from connect_core.java.dates.fields import CalendarField as F
from connect_core.java.dates.names import (
    AM_PM,
    ERAS,
    LONG_MONTHS,
    LONG_WEEKDAYS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    ZONE_MINUTES,
    longest,
)
from connect_core.java.dates.pattern import Letters
from connect_core.java.numbers import wrap

__all__ = ["read_field"]

Fields = dict[F, int]
Reader = Callable[[Letters, str, int, Fields], int | None]
_NUMBER = re.compile(r"-?\d+(?:E-?\d+)?")
_ZONE_NAMES = tuple(ZONE_MINUTES)
_OFFSETS = {
    1: re.compile(r"[+-](?P<hours>[01]\d|2[0-3])", re.ASCII),
    2: re.compile(r"[+-](?P<hours>[01]\d|2[0-3])(?P<minutes>[0-5]\d)", re.ASCII),
    3: re.compile(r"[+-](?P<hours>[01]\d|2[0-3]):(?P<minutes>[0-5]\d)", re.ASCII),
}
_GMT = re.compile(r"GMT", re.IGNORECASE)
_GMT_OFFSET = re.compile(r"[+-](?P<hours>[01]?\d|2[0-3]):(?P<minutes>[0-5]\d)", re.ASCII)
_NAMED = frozenset("GMLEa")
_LONG_DIGITS = 19
_TWO_DIGITS = re.compile(r"\d\d")


def read_field(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
    """Store the field that begins at ``start`` and return its end, or ``None``.

    Blanks may precede numbers and zones, but not names.
    """
    shown = start
    while shown < len(text) and text[shown] in " \t":
        shown += 1
    if shown >= len(text):
        return None
    limit = start + letters.count if letters.exact else len(text)
    if limit > len(text) and letters.is_numeric:
        return None
    if not letters.is_numeric and letters.letter in _NAMED:
        shown = start
    return _READERS[letters.letter](letters, text[:limit] if letters.is_numeric else text, shown, fields)


def _note(fields: Fields, field: F, value: int) -> None:
    fields.pop(field, None)
    fields[field] = value


def _number(text: str, start: int) -> tuple[int, int] | None:
    match = _NUMBER.match(text, start)
    return None if match is None else (_int_value(decimal.Decimal(match.group())), match.end())


def _int_value(number: decimal.Decimal) -> int:
    if number.adjusted() >= _LONG_DIGITS or wrap(int(number), 64) != int(number):
        return (1 << 31) - 1 if number > 0 else -(1 << 31)
    return wrap(int(number), 32)


def _numeric(field: F, change: Callable[[int], int] = int) -> Reader:
    def read(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
        found = _number(text, start)
        if found is None:
            return None
        _note(fields, field, change(found[0]))
        return found[1]

    return read


def _year(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
    found = _number(text, start)
    if found is None:
        return None
    year, end = found
    if letters.count <= 2 and end - start == 2 and _TWO_DIGITS.match(text, start):
        oldest = datetime.now(UTC).year - 80
        if year == oldest % 100:
            fields[F.AMBIGUOUS_CENTURY] = 1
        year += oldest // 100 * 100 + (100 if year < oldest % 100 else 0)
    _note(fields, F.WEEK_YEAR if letters.letter == "Y" else F.YEAR, year)
    return end


def _month(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
    if letters.count <= 2:
        return _numeric(F.MONTH)(letters, text, start, fields)
    return _name(F.MONTH, (LONG_MONTHS, SHORT_MONTHS), 1)(letters, text, start, fields)


def _name(field: F, tables: tuple[tuple[str, ...], ...], first: int) -> Reader:
    def read(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
        found = next((match for names in tables if (match := longest(text, start, names))), None)
        if found is None:
            return None
        _note(fields, field, found[0] + first)
        return start + found[1]

    return read


def _iso_weekday(value: int) -> int:
    return value % 7 + 1 if 1 <= value <= 7 else value


def _iso_zone(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
    if text[start] == "Z":
        _note(fields, F.ZONE_OFFSET, 0)
        return start + 1
    return _offset(_OFFSETS[letters.count], text, start, fields)


def _zone(letters: Letters, text: str, start: int, fields: Fields) -> int | None:
    if text[start] in "+-":
        return _offset(_OFFSETS[2], text, start, fields)
    if _GMT.match(text, start):
        after = start + 3
        if text[after : after + 1] in ("+", "-"):
            return _offset(_GMT_OFFSET, text, after, fields)
        _note(fields, F.ZONE_OFFSET, 0)
        return after
    found = longest(text, start, _ZONE_NAMES)
    if found is None:
        return None
    _note(fields, F.ZONE_OFFSET, ZONE_MINUTES[_ZONE_NAMES[found[0]]] * 60_000)
    return start + found[1]


def _offset(shape: re.Pattern[str], text: str, start: int, fields: Fields) -> int | None:
    match = shape.match(text, start)
    if match is None:
        return None
    parts = match.groupdict()
    minutes = int(parts["hours"]) * 60 + int(parts.get("minutes") or 0)
    _note(fields, F.ZONE_OFFSET, minutes * 60_000 * (-1 if text[start] == "-" else 1))
    return match.end()


_READERS: dict[str, Reader] = {
    "G": _name(F.ERA, (ERAS,), 0),
    "y": _year,
    "Y": _year,
    "M": _month,
    "L": _month,
    "d": _numeric(F.DAY_OF_MONTH),
    "D": _numeric(F.DAY_OF_YEAR),
    "w": _numeric(F.WEEK_OF_YEAR),
    "W": _numeric(F.WEEK_OF_MONTH),
    "F": _numeric(F.DAY_OF_WEEK_IN_MONTH),
    "E": _name(F.DAY_OF_WEEK, (LONG_WEEKDAYS, SHORT_WEEKDAYS), 1),
    "u": _numeric(F.DAY_OF_WEEK, _iso_weekday),
    "a": _name(F.AM_PM, (AM_PM,), 0),
    "H": _numeric(F.HOUR_OF_DAY),
    "k": _numeric(F.HOUR_OF_DAY, lambda hour: 0 if hour == 24 else hour),
    "K": _numeric(F.HOUR),
    "h": _numeric(F.HOUR, lambda hour: 0 if hour == 12 else hour),
    "m": _numeric(F.MINUTE),
    "s": _numeric(F.SECOND),
    "S": _numeric(F.MILLISECOND),
    "z": _zone,
    "Z": _zone,
    "X": _iso_zone,
}
