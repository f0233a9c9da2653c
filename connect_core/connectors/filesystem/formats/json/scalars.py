"""Dates, times and decimals in JSON in the form of Connect's JsonConverter, if configured."""

from __future__ import annotations

import base64
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from connect_core.connectors.filesystem.formats.maps import Form, Scalars

__all__ = ["DECIMALS", "TIMES", "scalars_of"]

TIMES = ("iso8601", "number")
DECIMALS = ("NUMERIC", "BASE64")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def scalars_of(times: str, decimals: str) -> Scalars | None:
    """Return the conversion of scalars; ``None``: they are unchanged."""
    forms: dict[str, Form] = {}
    if times == "number":
        forms |= {"timestamp": _millis, "date32": _days, "time32": _millis_of_day}
    if decimals == "BASE64":
        forms |= {"decimal128": _unscaled, "decimal256": _unscaled}
    # A kind may have parameters: timestamp[ms, tz=UTC], decimal128(38, 2).
    return (lambda kind: forms.get(kind.partition("[")[0].partition("(")[0])) if forms else None


def _millis(value: datetime) -> int:
    return (value - _EPOCH) // _MILLISECOND


def _days(value: date) -> int:
    return (value - _EPOCH.date()).days


def _millis_of_day(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _unscaled(value: Decimal) -> str:
    """Return the digits as a two's complement number in base64, like Connect's ``Decimal.fromLogical``."""
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    length = ((number + 1 if number < 0 else number).bit_length() + 8) // 8
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()
