"""Java's calendar: Julian before 1582-10-15, Gregorian since.

Days count from 1970-01-01; year 0 is 1 BC, as in astronomy.
"""

from __future__ import annotations

__all__ = ["CUTOVER_DAY", "CUTOVER_YEAR", "from_civil", "gregorian_day", "julian_day", "to_civil"]

CUTOVER_DAY = -141_427
CUTOVER_YEAR = 1582
"""The first Gregorian day, and its year."""


def to_civil(days: int) -> tuple[int, int, int]:
    """Return the (year, month, day) of a day."""
    if days < CUTOVER_DAY:
        return _shift(*divmod(days + 719_470, 1461), century=0)
    era, day_of_era = divmod(days + 719_468, 146_097)
    century = min(day_of_era // 36_524, 3)
    return _shift(*divmod(day_of_era - century * 36_524, 1461), century=era * 4 + century)


def _shift(cycle: int, day: int, century: int) -> tuple[int, int, int]:
    year = min(day // 365, 3)
    day -= year * 365
    month = (5 * day + 2) // 153
    year += cycle * 4 + century * 100
    return year + month // 10, (month + 2) % 12 + 1, day - (153 * month + 2) // 5 + 1


def from_civil(year: int, month: int, day: int) -> int:
    """Return the day of a date; months and days beyond their range carry over.

    As in a lenient ``GregorianCalendar``: the year before carrying determines which
    calendar applies, and the ten missing days of 1582 are read as Julian.
    """
    if year >= CUTOVER_YEAR:
        found = gregorian_day(year, month, day)
        if found >= CUTOVER_DAY:
            return found
    return julian_day(year, month, day)


def gregorian_day(year: int, month: int, day: int) -> int:
    """Return the day of a date of the Gregorian calendar, with carry."""
    year, offset = _since_march(year, month)
    return 365 * year + year // 4 - year // 100 + year // 400 + offset + day - 719_469


def julian_day(year: int, month: int, day: int) -> int:
    """Return the day of a date of the Julian calendar, with carry."""
    year, offset = _since_march(year, month)
    return 365 * year + year // 4 + offset + day - 719_471


def _since_march(year: int, month: int) -> tuple[int, int]:
    carry, index = divmod(month - 1, 12)
    return year + carry - (index < 2), (153 * ((index - 2) % 12) + 2) // 5
