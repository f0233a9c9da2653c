"""Converts values of database drivers to Connect's."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from connect_core.api.data import Date, Decimal, Float32, Instant, Schema, SchemaType, Time, Timestamp
from connect_core.connectors.jdbc.source.columns import ReadColumn
from connect_core.errors import DataError

__all__ = ["ValueReader", "in_zone", "value_reader"]

ValueReader = Callable[[Any], Any]
"""From a driver's value, never null, to Connect's. Raises ValueError, TypeError or ArithmeticError."""

_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_DIGITS = decimal.Context(prec=2000)
_DAY = 86_400_000
_BUFFERS = (bytes, bytearray, memoryview)


def value_reader(column: ReadColumn, zone: tzinfo) -> ValueReader:
    """Return a function that converts a column's values to Connect's, and nulls to nulls.

    It raises DataError, naming the column, for a value that its schema cannot hold.
    """
    read = _reader(column.schema, UTC if column.is_zoned else zone)

    def checked(value: Any) -> Any:
        if value is None:
            if not column.schema.optional:
                raise DataError(f"column {column.name} is null, though it was NOT NULL when it was described")
            return None
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise DataError(f"column {column.name} holds {_shown(value)}: {error}") from error

    return checked


def in_zone(value: datetime, zone: tzinfo) -> datetime:
    """Return a datetime in UTC; one without a zone is in ``zone``.

    In an hour that occurs twice, it is the first; in an hour that is skipped, the clock has advanced, so that 02:30
    means 03:30.
    """
    aware = value if value.tzinfo is not None else value.replace(tzinfo=zone, fold=0)
    return aware.astimezone(UTC)


def _reader(schema: Schema, zone: tzinfo) -> ValueReader:
    logical = _LOGICAL.get(schema.name)
    if logical is not None:
        return logical(schema, zone)
    if schema.type in _BITS:
        return _integer_reader(_BITS[schema.type])
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return _array_reader(schema.value_schema, zone)
    return _PRIMITIVES[schema.type]


def _integer_reader(bits: int) -> ValueReader:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def read(value: Any) -> int:
        number = int(value)
        if number != value and not isinstance(value, str):
            raise ValueError("it is not a whole number")
        if not least <= number <= most:
            raise ValueError(f"it does not fit {bits} bits")
        return number

    return read


def _array_reader(element: Schema, zone: tzinfo) -> ValueReader:
    read = _reader(element, zone)

    def read_all(values: Any) -> list[Any]:
        if any(isinstance(value, list) for value in values):
            raise ValueError("the column's type does not tell arrays of arrays apart; cast it to text in a query")
        return [None if value is None else read(value) for value in values]

    return read_all


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return bytes(value).decode() if isinstance(value, _BUFFERS) else str(value)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, bytes):
        return any(value)
    if isinstance(value, str):
        raise ValueError("it is not a boolean")
    return bool(value)


def _float32(value: Any) -> Float32:
    return Float32(float(value))


_PRIMITIVES: dict[SchemaType, ValueReader] = {
    SchemaType.BOOLEAN: _boolean,
    SchemaType.STRING: _text,
    SchemaType.BYTES: _bytes,
    SchemaType.FLOAT32: _float32,
    SchemaType.FLOAT64: float,
}


def _decimal_reader(schema: Schema, zone: tzinfo) -> ValueReader:
    scale = Decimal.scale(schema)
    unit = decimal.Decimal(1).scaleb(-scale)

    def read(value: Any) -> decimal.Decimal:
        number = value if isinstance(value, decimal.Decimal) else decimal.Decimal(str(value))
        if not number.is_finite():
            raise ValueError("a Connect Decimal must be finite; read the column as text in a query, or as FLOAT64")
        scaled = number.quantize(unit, context=_DIGITS)
        if scaled != number:
            raise ValueError(f"it has more than {scale} digits after the point")
        return scaled if scaled else scaled.copy_abs()

    return read


def _date_reader(schema: Schema, zone: tzinfo) -> ValueReader:
    def read(value: Any) -> Instant:
        if isinstance(value, datetime):
            value = value.date()
        elif isinstance(value, str):
            value = datetime.fromisoformat(value).date()
        elif isinstance(value, int | float):
            return Instant(int(value) // _DAY * _DAY)
        if not isinstance(value, date):
            raise ValueError("it is not a date")
        return Instant.of(value)

    return read


def _time_reader(schema: Schema, zone: tzinfo) -> ValueReader:
    def read(value: Any) -> Instant:
        if isinstance(value, str):
            value = time.fromisoformat(value)
        if isinstance(value, timedelta):
            millis = value // timedelta(milliseconds=1)
            if not 0 <= millis < _DAY:
                raise ValueError("it is not a time of day")
            return Instant(millis)
        if isinstance(value, int):
            return Instant(value % _DAY)
        return Instant.of(value)

    return read


def _timestamp_reader(schema: Schema, zone: tzinfo) -> ValueReader:
    def read(value: Any) -> Instant:
        if isinstance(value, int | float):
            return Instant(int(value))
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        return Instant.of(in_zone(value, zone))

    return read


_LOGICAL: dict[str | None, Callable[[Schema, tzinfo], ValueReader]] = {
    Decimal.LOGICAL_NAME: _decimal_reader,
    Date.LOGICAL_NAME: _date_reader,
    Time.LOGICAL_NAME: _time_reader,
    Timestamp.LOGICAL_NAME: _timestamp_reader,
}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
