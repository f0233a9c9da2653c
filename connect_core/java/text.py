"""Values as text in the format of Java's ``toString``."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from connect_core.java.dates.calendar import to_civil
from connect_core.java.dates.names import SHORT_MONTHS, SHORT_WEEKDAYS
from connect_core.java.float_digits import float32_digits, float64_digits
from connect_core.java.instant import Instant
from connect_core.java.numbers import Float32, Float64, round_to_float32

__all__ = ["decimal_text", "float32_text", "float64_text", "to_text"]


def to_text(value: Any) -> str:
    """Return the text of Java's ``String.valueOf`` for a Connect value.

    ``null``, ``true``, ``1.0E10``, ``[a, b]``, ``{k=v}``; plain floats are formatted
    as doubles. Bytes have no text of their own: ``[B@0``.
    """
    form = _FORMS.get(type(value))
    if form is not None:
        return form(value)
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}"
    if isinstance(value, list | dict):
        return _list_text(value) if isinstance(value, list) else _dict_text(value)
    return str(value)


def float64_text(value: float) -> str:
    """Return ``Double.toString``: ``0.1``, ``1.0E10``, ``NaN``, ``Infinity``."""
    if 1e-3 <= value < 1e7 or -1e7 < value <= -1e-3:
        return float.__repr__(value)
    return _special(value) or _signed(value, _placed(*float64_digits(abs(value))))


def float32_text(value: float) -> str:
    """Return ``Float.toString`` of the nearest binary32 value."""
    number = round_to_float32(value)
    if 1e-3 <= number < 1e6 or -1e6 < number <= -1e-3:
        return _plain_float32(number)
    return _special(number) or _signed(number, _placed(*float32_digits(abs(number))))


def decimal_text(value: decimal.Decimal) -> str:
    """Return ``BigDecimal.toString``; there is no negative zero."""
    return str(value if value else abs(value))


def _special(value: float) -> str | None:
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    if math.isfinite(value):
        return None
    return "NaN" if math.isnan(value) else _signed(value, "Infinity")


def _signed(value: float, text: str) -> str:
    return f"-{text}" if value < 0 else text


def _plain_float32(value: float) -> str:
    texts = (f"{value:.{digits}g}" for digits in range(6, 10))
    text = next(text for text in texts if round_to_float32(float(text)) == value)
    return text if "." in text else f"{text}.0"


def _placed(figures: str, point: int) -> str:
    if -3 < point <= 0:
        return f"0.{'0' * -point}{figures}"
    if 0 < point <= 7:
        return f"{figures[:point].ljust(point, '0')}.{figures[point:] or '0'}"
    return f"{figures[0]}.{figures[1:] or '0'}E{point - 1}"


def _date_text(value: Instant) -> str:
    days, millis = divmod(value.epoch_millis, 86_400_000)
    year, month, day = to_civil(days)
    hours, rest = divmod(millis // 1000, 3600)
    clock = f"{hours:02}:{rest // 60:02}:{rest % 60:02}"
    year = year if year > 0 else 1 - year
    return f"{SHORT_WEEKDAYS[(days + 4) % 7]} {SHORT_MONTHS[month - 1]} {day:02} {clock} UTC {year:04}"


def _list_text(value: list[Any]) -> str:
    return f"[{', '.join(map(to_text, value))}]"


def _dict_text(value: dict[Any, Any]) -> str:
    return f"{{{', '.join(f'{to_text(key)}={to_text(item)}' for key, item in value.items())}}}"


_FORMS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    float: float64_text,
    Float64: float64_text,
    Float32: float32_text,
    decimal.Decimal: decimal_text,
    Instant: _date_text,
    list: _list_text,
    tuple: _list_text,
    dict: _dict_text,
    bytes: lambda value: "[B@0",
    memoryview: lambda value: f"java.nio.HeapByteBuffer[pos=0 lim={len(value)} cap={len(value)}]",
}
