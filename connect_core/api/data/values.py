"""Converts values to the type that a schema or caller requires. Connect: ``Values``."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable
from typing import Any

from connect_core.api.data.logical import Date, Decimal, Time, Timestamp
from connect_core.api.data.parsing import ISO_DATE, ISO_TIME, ISO_TIMESTAMP, parse_string
from connect_core.api.data.schema import Schema
from connect_core.api.data.struct import Struct
from connect_core.errors import DataError, NullValueError, NumberFormatError
from connect_core.java.dates.calendar import from_civil
from connect_core.java.dates.fields import Moment
from connect_core.java.decimals import parse_decimal
from connect_core.java.instant import MILLIS_PER_DAY, Instant
from connect_core.java.narrowing import to_double, to_long
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64, wrap
from connect_core.java.text import float64_text, to_text

__all__ = [
    "convert_to_boolean",
    "convert_to_byte",
    "convert_to_date",
    "convert_to_decimal",
    "convert_to_double",
    "convert_to_float",
    "convert_to_integer",
    "convert_to_list",
    "convert_to_long",
    "convert_to_map",
    "convert_to_short",
    "convert_to_string",
    "convert_to_struct",
    "convert_to_time",
    "convert_to_timestamp",
    "parse_string",
]

_NO_NULL = "Unable to convert a null value to a schema that requires a value"


def convert_to_boolean(schema: Schema | None, value: Any) -> bool | None:
    """Return a value as a boolean: ``"true"``, or a number that is not 0."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        parsed = _parsed(value)
        if isinstance(parsed, bool):
            return parsed
    return _as_long(schema, value) != 0


def convert_to_byte(schema: Schema | None, value: Any) -> Int8 | None:
    """Return a value as an Int8; larger values wrap. Raise DataError."""
    return value if value is None or type(value) is Int8 else Int8(wrap(_as_long(schema, value), 8))


def convert_to_short(schema: Schema | None, value: Any) -> Int16 | None:
    """Return a value as an Int16; larger values wrap. Raise DataError."""
    return value if value is None or type(value) is Int16 else Int16(wrap(_as_long(schema, value), 16))


def convert_to_integer(schema: Schema | None, value: Any) -> Int32 | None:
    """Return a value as an Int32; larger values wrap. Raise DataError."""
    return value if value is None or type(value) is Int32 else Int32(wrap(_as_long(schema, value), 32))


def convert_to_long(schema: Schema | None, value: Any) -> Int64 | None:
    """Return a value as an Int64; floats saturate, other numbers wrap. Raise DataError."""
    return None if value is None else Int64(_as_long(schema, value))


def convert_to_float(schema: Schema | None, value: Any) -> Float32 | None:
    """Return a value as a Float32. Raise DataError."""
    return value if value is None or type(value) is Float32 else Float32(_as_double(schema, value))


def convert_to_double(schema: Schema | None, value: Any) -> Float64 | None:
    """Return a value as a Float64. Raise DataError."""
    return None if value is None else Float64(_as_double(schema, value))


def convert_to_string(schema: Schema | None, value: Any) -> str | None:
    """Return a value as text that ``parse_string`` reads; bytes as base64."""
    return None if value is None else _text(value, embedded=False)


def convert_to_list(schema: Schema | None, value: Any) -> list[Any]:
    """Return a list, or the list that a text represents. Raise DataError."""
    found = _parsed(value)
    if not isinstance(found, list):
        raise _unable(found, "Schema{ARRAY}")
    return found


def convert_to_map(schema: Schema | None, value: Any) -> dict[Any, Any]:
    """Return a map, or the map that a text represents. Raise DataError."""
    found = _parsed(value)
    if not isinstance(found, dict):
        raise _unable(found, "Schema{MAP}")
    return found


def convert_to_struct(schema: Schema | None, value: Any) -> Struct:
    """Return a struct. Raise DataError for anything else."""
    if value is None:
        raise DataError(_NO_NULL)
    if not isinstance(value, Struct):
        raise _unable(value, "Schema{STRUCT}")
    return value


def convert_to_date(schema: Schema | None, value: Any) -> Instant:
    """Return the day of a Date, Timestamp, text, or number of days."""
    found = _parsed(value)
    if isinstance(found, Instant):
        name = None if schema is None else schema.name
        if schema is None or name == Date.LOGICAL_NAME:
            return found
        if name == Timestamp.LOGICAL_NAME:
            return Date.to_logical(Date.SCHEMA, wrap(_quotient(found.epoch_millis, MILLIS_PER_DAY), 32))
    return Date.to_logical(Date.SCHEMA, wrap(_as_long(schema, found), 32))


def convert_to_time(schema: Schema | None, value: Any) -> Instant:
    """Return the time of day of a Time, Timestamp, text, or number of milliseconds."""
    found = _parsed(value)
    if isinstance(found, Instant):
        name = None if schema is None else schema.name
        if schema is None or name == Time.LOGICAL_NAME:
            return found
        if name == Timestamp.LOGICAL_NAME:
            return Time.to_logical(Time.SCHEMA, wrap(_moved_to_1970(found.epoch_millis), 32))
    return Time.to_logical(Time.SCHEMA, wrap(_as_long(schema, found), 32))


def convert_to_timestamp(schema: Schema | None, value: Any) -> Instant:
    """Return the point in time of a Date, Time, Timestamp, text, or milliseconds."""
    found = _parsed(value)
    if isinstance(found, Instant):
        name = None if schema is None else schema.name
        if schema is None or name == Timestamp.LOGICAL_NAME:
            return found
        if name == Date.LOGICAL_NAME:
            return Instant(Date.from_logical(schema, found) * MILLIS_PER_DAY)
    return Instant(_as_long(schema, found))


def convert_to_decimal(schema: Schema | None, value: Any, scale: int) -> decimal.Decimal:
    """Return a decimal; ``scale`` applies to bytes only, other values keep theirs.

    Raise DataError for a value that is not a number, NumberFormatError for such a text.
    """
    if value is None:
        raise DataError(_NO_NULL)
    if isinstance(value, bytes | memoryview):
        return Decimal.to_logical(Decimal.schema(scale), bytes(value))
    if isinstance(value, decimal.Decimal):
        return value
    if _is_number(value):
        return parse_decimal(float64_text(to_double(value)))
    if isinstance(value, str):
        return parse_decimal(value)
    raise _unable(value, f"Schema{{{Decimal.LOGICAL_NAME}:BYTES}}")


def _parsed(value: Any) -> Any:
    if value is None:
        raise DataError(_NO_NULL)
    if not isinstance(value, str):
        return value
    parsed = parse_string(value)
    if parsed.schema is None:
        raise NullValueError('the text "null" contains no value to convert')
    return parsed.value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool)


def _as_long(schema: Schema | None, value: Any) -> int:
    cause: NumberFormatError | None = None
    if _is_number(value):
        return to_long(value)
    if isinstance(value, str):
        try:
            return to_long(parse_decimal(value))
        except NumberFormatError as error:
            cause = error
    if schema is not None and isinstance(value, Instant):
        unit = _UNITS.get(schema.name)
        if unit is not None:
            return unit(schema, value)
    raise _unable(value, "a number" if schema is None else str(schema)) from cause


def _as_double(schema: Schema | None, value: Any) -> float:
    if _is_number(value):
        return to_double(value)
    if isinstance(value, str):
        try:
            return to_double(parse_decimal(value))
        except NumberFormatError as error:
            raise _unable(value, "a number" if schema is None else str(schema)) from error
    return float(_as_long(schema, value))


_UNITS: dict[str | None, Callable[[Schema, Instant], int]] = {
    Date.LOGICAL_NAME: Date.from_logical,
    Time.LOGICAL_NAME: Time.from_logical,
    Timestamp.LOGICAL_NAME: Timestamp.from_logical,
}


def _unable(value: Any, target: str) -> DataError:
    return DataError(f"Unable to convert {to_text(value)} (class {type(value).__name__}) to {target}")


def _quotient(number: int, size: int) -> int:
    return number // size if number >= 0 else -(-number // size)


def _moved_to_1970(epoch_millis: int) -> int:
    """Set the date to January 1, 1970 of the same era, as Connect's calendar does."""
    moment = Moment.of(epoch_millis)
    year = 1970 if moment.year > 0 else 1 - 1970
    return from_civil(year, 1, 1) * MILLIS_PER_DAY + moment.millis


def _text(value: Any, embedded: bool = True) -> str:
    if isinstance(value, bytes | memoryview):
        value = base64.b64encode(value).decode()
        return f'"{value}"' if embedded else value
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"' if embedded else value
    if value is None or isinstance(value, bool) or _is_number(value):
        return to_text(value)
    for kind, form in _FORMS.items():
        if isinstance(value, kind):
            return form(value)
    raise DataError(f"Failed to serialize unexpected value type {type(value).__name__}: {value}")


def _struct_text(value: Struct) -> str:
    fields = (f"{_text(field.name)}:{_text(value.get(field))}" for field in value.schema.fields)
    return f"{{{','.join(fields)}}}"


def _map_text(value: dict[Any, Any]) -> str:
    return f"{{{','.join(f'{_text(key)}:{_text(item)}' for key, item in value.items())}}}"


def _instant_text(value: Instant) -> str:
    if value.epoch_millis < MILLIS_PER_DAY:
        return ISO_TIME.format(value)
    return (ISO_TIMESTAMP if value.epoch_millis % MILLIS_PER_DAY else ISO_DATE).format(value)


_FORMS: dict[type, Callable[[Any], str]] = {
    list: lambda value: f"[{','.join(map(_text, value))}]",
    dict: _map_text,
    Struct: _struct_text,
    Instant: _instant_text,
}
