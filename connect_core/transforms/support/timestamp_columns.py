"""Columns of timestamps converted with the results of ``Conversion.convert``."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.java.dates.columns import floor_divide, format_column, parse_column
from connect_core.transforms.support.timestamp_forms import MILLIS_PER_DAY, Conversion

__all__ = ["convert_column"]

_TIMESTAMP = pa.timestamp("ms", tz="UTC")
_PER_MILLI = {"nanoseconds": 1_000_000, "microseconds": 1000, "milliseconds": 1}


def convert_column(conversion: Conversion, form: str | None, column: pa.Array, has_schema: bool) -> pa.Array | None:
    """Return a column in the target form, ``None`` if only records can be converted.

    Without a schema, every instant becomes a timestamp, regardless of the target form.
    """
    if column.null_count == len(column):
        return pa.nulls(len(column), _type_of(conversion.target, has_schema) if has_schema else pa.null())
    millis = _to_millis(conversion, form, column)
    return None if millis is None else _from_millis(conversion, millis, has_schema)


def _to_millis(conversion: Conversion, form: str | None, column: pa.Array) -> pa.Int64Array | None:
    kind = column.type
    if pa.types.is_string(kind) and form in (None, "string"):
        return None if conversion.format is None else parse_column(column, conversion.format)
    if pa.types.is_int64(kind) and form in (None, "unix"):
        return _scaled(column, conversion.precision, to_millis=True)
    if pa.types.is_timestamp(kind) and kind.unit == "ms":
        return column.view(pa.int64())
    if pa.types.is_date32(kind):
        return pc.multiply(column.view(pa.int32()).cast(pa.int64()), MILLIS_PER_DAY)
    if pa.types.is_time32(kind) and kind.unit == "ms":
        return column.view(pa.int32()).cast(pa.int64())
    return None


def _from_millis(conversion: Conversion, millis: pa.Int64Array, has_schema: bool) -> pa.Array | None:
    if conversion.target == "string":
        return None if conversion.format is None else format_column(millis, conversion.format)
    if conversion.target == "unix":
        return _scaled(millis, conversion.precision, to_millis=False)
    if conversion.target == "Timestamp":
        return millis.view(_TIMESTAMP)
    days = floor_divide(millis, MILLIS_PER_DAY)
    midnight = pc.multiply(days, MILLIS_PER_DAY)
    kept = midnight if conversion.target == "Date" else pc.subtract(millis, midnight)
    if not has_schema:
        return kept.view(_TIMESTAMP)
    try:
        stored = (days if conversion.target == "Date" else kept).cast(pa.int32())
    except pa.ArrowInvalid:
        return None
    return stored.view(_type_of(conversion.target, has_schema))


def _type_of(target: str, has_schema: bool) -> pa.DataType:
    instant = {"Date": pa.date32(), "Time": pa.time32("ms")} if has_schema else {}
    return {"string": pa.string(), "unix": pa.int64(), **instant}.get(target, _TIMESTAMP)


def _scaled(column: pa.Int64Array, precision: str, to_millis: bool) -> pa.Int64Array | None:
    """Change the unit: division truncates toward zero; ``None``, for the record lane, if a product exceeds 64 bits."""
    unit = 1000 if precision == "seconds" else _PER_MILLI[precision]
    change: Callable[[pa.Array, int], pa.Array] = (
        pc.multiply_checked if to_millis == (precision == "seconds") else pc.divide
    )
    try:
        return change(column, unit)
    except pa.ArrowInvalid:
        return None
