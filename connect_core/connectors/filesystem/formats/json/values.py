"""Values as JSON that can be read back: ISO dates and times, numbers in full, bytes in base64."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import orjson

from connect_core.api.data import Float32, Instant
from connect_core.errors import DataError
from connect_core.java.text import float32_text

__all__ = ["json_bytes", "shortest"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EXACT = frozenset((str, bool, type(None)))
_LARGEST = 2**63


def json_bytes(value: Any) -> bytes:
    """Return a value as one line of JSON in UTF-8. Raises DataError for values without a JSON form."""
    try:
        return orjson.dumps(_plain(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"the value cannot be written as JSON: {error}") from error


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _EXACT:
        return value
    if kind is dict:
        return _object(value)
    form = _FORMS.get(kind) or next((form for base, form in _FORMS.items() if isinstance(value, base)), None)
    if form is None:
        raise DataError(f"a value of the type {kind.__name__} cannot be written as JSON")
    return form(value)


def _object(value: dict[Any, Any]) -> dict[str, Any]:
    named = {_name(name): _plain(part) for name, part in value.items()}
    if len(named) != len(value):
        raise DataError("two keys of a map, such as 1 and '1', have the same text, which names a field in JSON")
    return named


def _name(name: Any) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, int | float):
        return json.dumps(name)
    raise DataError(f"a map has the key {name!r}, which is neither a text nor a number and cannot name a JSON field")


def _float(value: float) -> Any:
    # JSON has no numbers for these; a null would hide that there was a value.
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def shortest(value: float) -> float:
    """Return the number of the fewest digits that is this one in 32 bits: 0.1 for 0.10000000149011612."""
    return float(float32_text(value))


def _integer(value: int) -> Any:
    return int(value) if -_LARGEST <= value < _LARGEST else orjson.Fragment(str(int(value)).encode())


def _decimal(value: Decimal) -> Any:
    return orjson.Fragment(format(value, "f").encode()) if value.is_finite() else str(value)


def _instant(value: Instant) -> str:
    try:
        return _moment(_EPOCH + timedelta(milliseconds=value.epoch_millis))
    except OverflowError as error:
        raise DataError(f"{value.epoch_millis} ms is outside the years 1 to 9999 that JSON supports") from error


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


_FORMS: dict[type, Callable[[Any], Any]] = {
    bool: bool,
    int: _integer,
    float: _float,
    Float32: lambda value: _float(shortest(value)),
    str: str,
    dict: _object,
    list: lambda values: [_plain(part) for part in values],
    bytes: _base64,
    memoryview: lambda value: _base64(bytes(value)),
    bytearray: lambda value: _base64(bytes(value)),
    Decimal: _decimal,
    Instant: _instant,
    datetime: _moment,
    date: date.isoformat,
    time: lambda value: value.isoformat(timespec="milliseconds"),
}
