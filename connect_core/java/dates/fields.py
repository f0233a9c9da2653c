"""From calendar fields to an instant, as a lenient GregorianCalendar resolves them.

Connect: ``java.util.Calendar``. Fields set later take precedence over earlier ones;
weeks start on Sunday and the first one contains January 1 (locale en_US).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from connect_core.java.dates.calendar import CUTOVER_DAY, CUTOVER_YEAR, from_civil, gregorian_day, julian_day, to_civil
from connect_core.java.instant import MILLIS_PER_DAY

__all__ = ["CalendarField", "Moment", "first_week_start", "resolve", "weekday"]


class CalendarField(Enum):
    """The fields of a date; months count from 1, Sunday is day 1."""

    ERA = auto()
    YEAR = auto()
    WEEK_YEAR = auto()
    MONTH = auto()
    DAY_OF_MONTH = auto()
    DAY_OF_YEAR = auto()
    WEEK_OF_YEAR = auto()
    WEEK_OF_MONTH = auto()
    DAY_OF_WEEK = auto()
    DAY_OF_WEEK_IN_MONTH = auto()
    AM_PM = auto()
    HOUR = auto()
    HOUR_OF_DAY = auto()
    MINUTE = auto()
    SECOND = auto()
    MILLISECOND = auto()
    ZONE_OFFSET = auto()
    AMBIGUOUS_CENTURY = auto()
    """Marks a two-digit year that lies both 80 years ago and 20 years ahead."""


F = CalendarField
_UNSET = -1


def weekday(day: int) -> int:
    """Return the day of the week: 1 is Sunday, 7 Saturday."""
    return (day + 4) % 7 + 1


def first_week_start(first: int) -> int:
    """Return the Sunday that begins the week of a month's or year's first day."""
    return first - (weekday(first) - 1)


def resolve(fields: Mapping[CalendarField, int]) -> int:
    """Return the milliseconds since 1970 of fields in the order they were set."""
    stamps = {field: stamp for stamp, field in enumerate(fields)}
    carried, millis = divmod(_time_of_day(fields, stamps), MILLIS_PER_DAY)
    if F.WEEK_YEAR in fields and stamps[F.WEEK_YEAR] > stamps.get(F.YEAR, _UNSET):
        day = _week_date(fields) + carried
    else:
        day = _day(fields, stamps, carried)
    return day * MILLIS_PER_DAY + millis - fields.get(F.ZONE_OFFSET, 0)


def _time_of_day(fields: Mapping[CalendarField, int], stamps: Mapping[CalendarField, int]) -> int:
    of_day, of_half = stamps.get(F.HOUR_OF_DAY, _UNSET), stamps.get(F.HOUR, _UNSET)
    half = stamps.get(F.AM_PM, _UNSET)
    both = max(of_half, half) if of_half != _UNSET and half != _UNSET else _UNSET
    if of_day != _UNSET and of_day >= both:
        hours = fields[F.HOUR_OF_DAY]
    else:
        hours = fields.get(F.HOUR, 0) + 12 * fields.get(F.AM_PM, 0)
    minutes = hours * 60 + fields.get(F.MINUTE, 0)
    return (minutes * 60 + fields.get(F.SECOND, 0)) * 1000 + fields.get(F.MILLISECOND, 0)


def _day(fields: Mapping[CalendarField, int], stamps: Mapping[CalendarField, int], carried: int) -> int:
    year = fields.get(F.YEAR, 1970)
    if fields.get(F.ERA, 1) == 0:
        year = 1 - year
    way = _best_way(stamps)
    gregorian = _day_by(way, year, fields, gregorian_day) + carried
    julian = _day_by(way, year, fields, julian_day) + carried
    of_year = way in (F.DAY_OF_YEAR, F.WEEK_OF_YEAR)
    if year < CUTOVER_YEAR or (year == CUTOVER_YEAR and of_year):
        return julian
    return gregorian if gregorian >= CUTOVER_DAY else julian


def _day_by(
    way: CalendarField, year: int, fields: Mapping[CalendarField, int], day_of: Callable[[int, int, int], int]
) -> int:
    if way is F.DAY_OF_YEAR:
        return day_of(year, 1, fields[F.DAY_OF_YEAR])
    if way is F.WEEK_OF_YEAR:
        return _in_week(day_of(year, 1, 1), fields[F.WEEK_OF_YEAR], fields)
    month = fields.get(F.MONTH, 1)
    if way is F.DAY_OF_MONTH:
        return day_of(year, month, fields.get(F.DAY_OF_MONTH, 1))
    if way is F.WEEK_OF_MONTH:
        return _in_week(day_of(year, month, 1), fields[F.WEEK_OF_MONTH], fields)
    return _weekday_in_month(day_of(year, month, 1), day_of(year, month + 1, 1), fields)


def _best_way(stamps: Mapping[CalendarField, int]) -> CalendarField:
    """Choose the fields that determine the day: the most recent complete combination."""
    day_of_week = stamps.get(F.DAY_OF_WEEK, _UNSET)
    ages = {field: stamps.get(field, _UNSET) for field in (F.DAY_OF_MONTH, F.DAY_OF_YEAR)}
    for field in _WEEK_FIELDS:
        stamp = stamps.get(field, _UNSET)
        ages[field] = _UNSET if stamp == _UNSET or day_of_week == _UNSET else max(stamp, day_of_week)
    if max(ages.values()) == _UNSET:
        for field in _WEEK_FIELDS:
            ages[field] = stamps.get(field, _UNSET)
        ages[F.DAY_OF_WEEK_IN_MONTH] = max(ages[F.DAY_OF_WEEK_IN_MONTH], day_of_week)
    best = max(ages.values())
    if best == _UNSET or ages[F.DAY_OF_MONTH] == best:
        return F.DAY_OF_MONTH
    return _best_of_weeks(best, ages, stamps)


_WEEK_FIELDS = (F.WEEK_OF_MONTH, F.DAY_OF_WEEK_IN_MONTH, F.WEEK_OF_YEAR)


def _best_of_weeks(best: int, ages: Mapping[CalendarField, int], stamps: Mapping[CalendarField, int]) -> CalendarField:
    in_year = stamps.get(F.WEEK_OF_YEAR, _UNSET)
    in_month = [
        field
        for field in (F.WEEK_OF_MONTH, F.DAY_OF_WEEK_IN_MONTH)
        if ages[field] == best and stamps.get(field, _UNSET) >= in_year
    ]
    if in_month:
        return max(in_month, key=lambda field: (stamps.get(field, _UNSET), field is F.WEEK_OF_MONTH))
    return F.DAY_OF_YEAR if ages[F.DAY_OF_YEAR] == best else F.WEEK_OF_YEAR


def _in_week(first: int, week: int, fields: Mapping[CalendarField, int]) -> int:
    """Return the day in the given week of a month or year, by default its Sunday."""
    return first_week_start(first) + (fields.get(F.DAY_OF_WEEK, 1) - 1) % 7 + 7 * (week - 1)


def _weekday_in_month(first: int, next_first: int, fields: Mapping[CalendarField, int]) -> int:
    number, wanted = fields.get(F.DAY_OF_WEEK_IN_MONTH, 1), fields.get(F.DAY_OF_WEEK, 1)
    last = first + 7 * number - 1 if number >= 0 else next_first - 1 + 7 * (number + 1)
    return last - (weekday(last) - wanted) % 7


def _week_date(fields: Mapping[CalendarField, int]) -> int:
    week, day_of_week = fields.get(F.WEEK_OF_YEAR, 1), fields.get(F.DAY_OF_WEEK, 1)
    if not 1 <= day_of_week <= 7:
        weeks, day_of_week = divmod(day_of_week - 1, 7)
        week, day_of_week = week + weeks, (day_of_week + 1) % 7 + 1
    start = first_week_start(from_civil(fields[F.WEEK_YEAR], 1, 1))
    return start + day_of_week - 1 + 7 * (week - 1)


@dataclass(frozen=True, slots=True)
class Moment:
    """The calendar fields of an instant."""

    year: int
    month: int
    day: int
    day_number: int
    millis: int

    @classmethod
    def of(cls, epoch_millis: int) -> Moment:
        """Return the fields of an instant in UTC."""
        day_number, millis = divmod(epoch_millis, MILLIS_PER_DAY)
        return cls(*to_civil(day_number), day_number, millis)

    @property
    def hour(self) -> int:
        """Hours since midnight."""
        return self.millis // 3_600_000

    @property
    def day_of_year(self) -> int:
        """The number of the day in the year, from 1."""
        return self.day_number - from_civil(self.year, 1, 1) + 1

    @property
    def week_year(self) -> int:
        """The year the week belongs to: a week that contains January 1 belongs to the new year."""
        return self.year + (self.day_number >= first_week_start(from_civil(self.year + 1, 1, 1)))

    @property
    def week_of_year(self) -> int:
        """The number of the week in its week year."""
        return (self.day_number - first_week_start(from_civil(self.week_year, 1, 1))) // 7 + 1

    @property
    def week_of_month(self) -> int:
        """The number of the week in the month."""
        return (self.day_number - first_week_start(self.day_number - self.day + 1)) // 7 + 1
