"""Decimals, days, times of day and points in time, and the messages that represent them."""

from __future__ import annotations

import decimal
from typing import Any

from connect_core.api.data import Date as ConnectDate
from connect_core.api.data import Decimal, Instant, Schema, Time, Timestamp
from connect_core.errors import DataError
from connect_core.java.dates.calendar import from_civil, to_civil
from connect_core.java.decimals import of_unscaled, unscaled_and_scale
from connect_core.java.instant import MILLIS_PER_DAY

__all__ = ["LOGICAL_READERS", "LOGICAL_WRITERS", "SECONDS_LIMITS", "day_of", "decimal_of"]

SECONDS_LIMITS = (-62_135_596_800, 253_402_300_799)
"""The years 1 to 9999, the range of a Timestamp."""

_NANOS_PER_MILLI = 1_000_000


def decimal_of(unscaled: bytes, precision: int, scale: int) -> decimal.Decimal:
    """Return the decimal of a message's fields. Raise DataError if there are no digits."""
    if not unscaled:
        raise DataError("A Protobuf decimal has no digits")
    found = of_unscaled(int.from_bytes(unscaled, "big", signed=True), scale)
    if precision and len(found.as_tuple().digits) > precision:
        return decimal.Context(prec=precision, rounding=decimal.ROUND_HALF_UP).plus(found)
    return found


def day_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a message's fields. Raise DataError if there is no such day."""
    found = from_civil(year, month, day)
    if year < 1 or to_civil(found) != (year, month, day):
        raise DataError(f"There is no date {year}-{month}-{day}")
    return found


def _read_decimal(schema: Schema, message: Any) -> decimal.Decimal:
    return decimal_of(message.value, message.precision, message.scale)


def _read_date(schema: Schema, message: Any) -> Instant:
    return Instant(day_of(message.year, message.month, message.day) * MILLIS_PER_DAY)


def _read_time(schema: Schema, message: Any) -> Instant:
    limits = (message.hours, 24), (message.minutes, 60), (message.seconds, 60), (message.nanos, 1_000_000_000)
    if not all(0 <= part < limit for part, limit in limits):
        raise DataError(f"There is no time of day {message.hours}:{message.minutes}:{message.seconds}")
    seconds = (message.hours * 60 + message.minutes) * 60 + message.seconds
    return Instant(seconds * 1000 + message.nanos // _NANOS_PER_MILLI)


def _read_timestamp(schema: Schema, message: Any) -> Instant:
    seconds, nanos = message.seconds, message.nanos
    if not (SECONDS_LIMITS[0] <= seconds <= SECONDS_LIMITS[1] and 0 <= nanos < 1_000_000_000):
        raise DataError(f"A Protobuf timestamp is out of range: {seconds} s, {nanos} ns")
    return Instant(seconds * 1000 + nanos // _NANOS_PER_MILLI)


def _write_decimal(schema: Schema, value: Any) -> dict[str, Any]:
    if not isinstance(value, decimal.Decimal):
        raise _invalid("Decimal", value)
    unscaled, scale = unscaled_and_scale(value)
    data = unscaled.to_bytes((unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True)
    return {"value": data, "precision": len(str(abs(unscaled))), "scale": scale}


def _write_date(schema: Schema, value: Any) -> dict[str, Any]:
    if not isinstance(value, Instant):
        raise _invalid("Date", value)
    year, month, day = to_civil(ConnectDate.from_logical(ConnectDate.SCHEMA, value))
    if not 1 <= year <= 9999:
        raise DataError(f"Protobuf has no date in the year {year}")
    return {"year": year, "month": month, "day": day}


def _write_time(schema: Schema, value: Any) -> dict[str, Any]:
    if not isinstance(value, Instant):
        raise _invalid("Time", value)
    seconds, millis = divmod(Time.from_logical(Time.SCHEMA, value) % MILLIS_PER_DAY, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return {"hours": hours, "minutes": minutes, "seconds": seconds, "nanos": millis * _NANOS_PER_MILLI}


def _write_timestamp(schema: Schema, value: Any) -> dict[str, Any]:
    if not isinstance(value, Instant):
        raise _invalid("Timestamp", value)
    seconds, millis = divmod(value.epoch_millis, 1000)
    if not SECONDS_LIMITS[0] <= seconds <= SECONDS_LIMITS[1]:
        raise DataError(f"Protobuf has no timestamp of {value.epoch_millis} ms")
    return {"seconds": seconds, "nanos": millis * _NANOS_PER_MILLI}


def _invalid(kind: str, value: Any) -> DataError:
    return DataError(f"Invalid type for {kind}: class {type(value).__name__}")


LOGICAL_READERS = {
    Decimal.LOGICAL_NAME: _read_decimal,
    ConnectDate.LOGICAL_NAME: _read_date,
    Time.LOGICAL_NAME: _read_time,
    Timestamp.LOGICAL_NAME: _read_timestamp,
}
LOGICAL_WRITERS = {
    Decimal.LOGICAL_NAME: _write_decimal,
    ConnectDate.LOGICAL_NAME: _write_date,
    Time.LOGICAL_NAME: _write_time,
    Timestamp.LOGICAL_NAME: _write_timestamp,
}
