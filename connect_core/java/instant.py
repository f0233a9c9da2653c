"""A point in time to the millisecond: the value of Date, Time and Timestamp."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

__all__ = ["MILLIS_PER_DAY", "Instant"]

MILLIS_PER_DAY = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """Milliseconds since 1970-01-01T00:00Z, without bounds. Connect: ``java.util.Date``."""

    epoch_millis: int

    @classmethod
    def of(cls, value: datetime | date | time) -> Instant:
        """Return the instant of a datetime (naive: UTC), a day or a time of day.

        Microseconds are truncated toward the past; a time of day lies on 1970-01-01.
        """
        if isinstance(value, time):
            value = datetime.combine(date(1970, 1, 1), value)
        elif not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return cls((aware - _EPOCH) // _MILLISECOND)

    def to_datetime(self) -> datetime:
        """Return the same instant in UTC. Raise OverflowError outside years 1..9999."""
        return _EPOCH + timedelta(milliseconds=self.epoch_millis)

    def __repr__(self) -> str:
        return f"Instant({self.epoch_millis})"
