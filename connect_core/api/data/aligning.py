"""Converts parsed parts of a list or map to their common schema."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from connect_core.api.data.logical import Date, Time, Timestamp
from connect_core.api.data.schema import Schema, SchemaType
from connect_core.errors import DataError
from connect_core.java.instant import Instant
from connect_core.java.narrowing import to_double, to_long
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64, wrap

__all__ = ["align"]


def align(schema: Schema, value: Any) -> Any:
    """Return a parsed value as a value of the common schema.

    Raise DataError for null and for dates among numbers. Connect: ``Values.convertTo``.
    """
    if value is None:
        raise DataError("Unable to convert a null value to a schema that requires a value")
    dated = _DATED.get(schema.name)
    if dated is not None:
        return value if isinstance(value, Instant) else dated(value)
    convert = _NUMBERS.get(schema.type)
    if convert is None:
        return value
    if not isinstance(value, int | float | decimal.Decimal):
        raise DataError(f"Unable to convert {value} to {schema}")
    return convert(value)


_DATED: dict[str | None, Callable[[Any], Instant]] = {
    Date.LOGICAL_NAME: lambda number: Date.to_logical(Date.SCHEMA, wrap(to_long(number), 32)),
    Time.LOGICAL_NAME: lambda number: Time.to_logical(Time.SCHEMA, wrap(to_long(number), 32)),
    Timestamp.LOGICAL_NAME: lambda number: Instant(to_long(number)),
}
_NUMBERS: dict[SchemaType, Callable[[Any], Any]] = {
    SchemaType.INT8: lambda number: Int8(wrap(to_long(number), 8)),
    SchemaType.INT16: lambda number: Int16(wrap(to_long(number), 16)),
    SchemaType.INT32: lambda number: Int32(wrap(to_long(number), 32)),
    SchemaType.INT64: lambda number: Int64(to_long(number)),
    SchemaType.FLOAT32: lambda number: Float32(to_double(number)),
    SchemaType.FLOAT64: lambda number: Float64(to_double(number)),
}
