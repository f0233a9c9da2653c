"""Java's SimpleDateFormat in locale en_US and UTC: lenient, and further text may follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from connect_core.java.dates.calendar import from_civil
from connect_core.java.dates.fields import CalendarField, Moment, resolve, weekday
from connect_core.java.dates.names import AM_PM, ERAS, LONG_MONTHS, LONG_WEEKDAYS, SHORT_MONTHS, SHORT_WEEKDAYS
from connect_core.java.dates.parsing import read_field
from connect_core.java.dates.pattern import Letters, compile_pattern
from connect_core.java.dates.scanning import quick_reader
from connect_core.java.instant import MILLIS_PER_DAY, Instant
from connect_core.java.numbers import wrap

__all__ = ["SimpleDateFormat", "text_of"]

_YEARS = (CalendarField.YEAR, CalendarField.WEEK_YEAR)


class SimpleDateFormat:
    """A pattern such as ``yyyy-MM-dd HH:mm:ss.SSS`` that parses and formats instants.

    Raise IllegalArgumentError for a bad pattern. Digits of ``S`` are a number
    of milliseconds, however many; dates before 1582-10-15 are Julian.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.parts = compile_pattern(pattern)
        self._quick = quick_reader(self.parts)

    def parse(self, text: str) -> Instant | None:
        """Return the instant at the start of ``text``, or ``None``."""
        quick = None if self._quick is None else self._quick(text)
        if quick is not None:
            return Instant(quick)
        fields: dict[CalendarField, int] = {}
        position = 0
        for part in self.parts:
            end = _read_part(part, text, position, fields)
            if end is None:
                return None
            position = end
        if CalendarField.AMBIGUOUS_CENTURY in fields and resolve(fields) < _eighty_years_ago():
            fields.update({year: fields[year] + 100 for year in _YEARS if year in fields})
        return Instant(wrap(resolve(fields), 64))

    def format(self, value: Instant) -> str:
        """Return the instant as text."""
        return text_of(self.parts, value)


def text_of(parts: Iterable[Letters | str], value: Instant) -> str:
    """Return an instant in some parts of a pattern."""
    moment = Moment.of(value.epoch_millis)
    return "".join(part if isinstance(part, str) else _field_text(part, moment) for part in parts)


def _read_part(part: Letters | str, text: str, start: int, fields: dict[CalendarField, int]) -> int | None:
    if isinstance(part, str):
        return start + len(part) if text.startswith(part, start) else None
    return read_field(part, text, start, fields)


def _eighty_years_ago() -> int:
    now = Moment.of(int(time.time() * 1000))
    return from_civil(now.year - 80, now.month, now.day) * MILLIS_PER_DAY + now.millis


def _field_text(letters: Letters, moment: Moment) -> str:
    name = _NAMES.get(letters.letter)
    if name is not None and not letters.is_numeric:
        return name(letters.count, moment)
    value = _NUMBERS[letters.letter](moment)
    if letters.letter in "yY" and letters.count == 2:
        return _java_remainder(value, 100)
    return _padded(value, letters.count)


def _padded(value: int, count: int) -> str:
    return f"{value:0{count}}" if value >= 0 else f"-{-value:0{count}}"


def _java_remainder(value: int, size: int) -> str:
    return _padded(abs(value) % size * (1 if value >= 0 else -1), 2)


def _year_of_era(moment: Moment) -> int:
    return moment.year if moment.year > 0 else 1 - moment.year


_NUMBERS: dict[str, Callable[[Moment], int]] = {
    "y": _year_of_era,
    "Y": lambda moment: moment.week_year,
    "M": lambda moment: moment.month,
    "L": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "D": lambda moment: moment.day_of_year,
    "w": lambda moment: moment.week_of_year,
    "W": lambda moment: moment.week_of_month,
    "F": lambda moment: (moment.day - 1) // 7 + 1,
    "u": lambda moment: (weekday(moment.day_number) + 5) % 7 + 1,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "m": lambda moment: moment.millis // 60_000 % 60,
    "s": lambda moment: moment.millis // 1000 % 60,
    "S": lambda moment: moment.millis % 1000,
}
_NAMES: dict[str, Callable[[int, Moment], str]] = {
    "G": lambda count, moment: ERAS[moment.year > 0],
    "M": lambda count, moment: (LONG_MONTHS if count > 3 else SHORT_MONTHS)[moment.month - 1],
    "L": lambda count, moment: (LONG_MONTHS if count > 3 else SHORT_MONTHS)[moment.month - 1],
    "E": lambda count, moment: (LONG_WEEKDAYS if count > 3 else SHORT_WEEKDAYS)[weekday(moment.day_number) - 1],
    "a": lambda count, moment: AM_PM[moment.hour >= 12],
    "z": lambda count, moment: "Coordinated Universal Time" if count > 3 else "UTC",
    "Z": lambda count, moment: "+0000",
    "X": lambda count, moment: "Z",
}
