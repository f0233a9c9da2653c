"""Arrow columns cast to another primitive type with the results of ``cast_value``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.data import SchemaType
from connect_core.java.column_text import column_text

__all__ = ["cast_column"]

_TYPES: dict[SchemaType, pa.DataType] = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
}
_INTEGER = "^[+-]?[0-9]{1,18}$"
_DECIMAL = r"^[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?$"
_DAY = 86_400_000
_LATEST = 253_402_300_799_999


def cast_column(column: pa.Array, target: SchemaType) -> pa.Array | None:
    """Return a column cast to another type; ``None`` if one row would fail or only records can be cast."""
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), _TYPES[target])
    cast = next((cast for is_kind, cast in _SOURCES if is_kind(kind)), None)
    return None if cast is None else cast(column, target)


def _from_integers(column: pa.Array, target: SchemaType) -> pa.Array:
    if target is SchemaType.STRING:
        return column_text(column)
    if target is SchemaType.BOOLEAN:
        return pc.not_equal(column, pa.scalar(0, column.type))
    return column.cast(_TYPES[target], safe=False)


def _from_booleans(column: pa.Array, target: SchemaType) -> pa.Array:
    if target is SchemaType.BOOLEAN:
        return column
    return column_text(column) if target is SchemaType.STRING else column.cast(pa.int8()).cast(_TYPES[target])


def _from_floats(column: pa.Array, target: SchemaType) -> pa.Array:
    if target is SchemaType.STRING:
        return column_text(column)
    if target in (SchemaType.FLOAT32, SchemaType.FLOAT64):
        return column.cast(_TYPES[target], safe=False)
    if target is SchemaType.BOOLEAN:
        return pc.greater_equal(pc.abs(pc.if_else(pc.is_nan(column), pa.scalar(0.0, column.type), column)), 1)
    bits = 64 if target is SchemaType.INT64 else 32
    values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    whole = pa.array(_saturated(values, bits), mask=column.is_null().to_numpy(zero_copy_only=False))
    return whole.cast(_TYPES[target], safe=False)


def _saturated(values: np.ndarray, bits: int) -> np.ndarray:
    limit = 2.0 ** (bits - 1)
    high = values >= limit
    safe = np.where(np.isnan(values) | high, 0, np.maximum(values, -limit))
    whole = safe.astype(np.int64)
    whole[high] = (1 << bits - 1) - 1
    return whole


def _from_strings(column: pa.Array, target: SchemaType) -> pa.Array | None:
    if target is SchemaType.STRING:
        return column
    if target is SchemaType.BOOLEAN:
        return pc.equal(pc.utf8_lower(column), "true")
    if target in (SchemaType.FLOAT32, SchemaType.FLOAT64):
        return _unsigned(column).cast(_TYPES[target]) if _all_match(column, _DECIMAL) else None
    if not _all_match(column, _INTEGER):
        return None
    try:
        return _unsigned(column).cast(pa.int64()).cast(_TYPES[target])
    except pa.ArrowInvalid:
        return None


def _unsigned(column: pa.Array) -> pa.Array:
    return pc.ascii_ltrim(column, characters="+")


def _all_match(column: pa.Array, pattern: str) -> bool:
    return pl.Series(column).str.contains(pattern).all()


def _from_bytes(column: pa.Array, target: SchemaType) -> pa.Array | None:
    if target is not SchemaType.STRING:
        return None
    return pl.Series(column).bin.encode("base64").to_arrow().cast(pa.string())


def _from_dates(column: pa.Array, target: SchemaType) -> pa.Array | None:
    if pa.types.is_timestamp(column.type) and column.type.unit != "ms":
        return None
    stored = column.view(pa.int64() if pa.types.is_timestamp(column.type) else pa.int32())
    if target is not SchemaType.STRING:
        return _from_integers(stored, target)
    millis = stored.cast(pa.int64())
    return _date_text(pc.multiply(millis, _DAY) if pa.types.is_date(column.type) else millis)


def _date_text(millis: pa.Array) -> pa.Array | None:
    """Format instants up to the end of 1970-01-01 as times, midnights as dates, others in full."""
    latest = pc.max(millis).as_py()
    if latest is not None and latest > _LATEST:
        return None
    stamps = millis.view(pa.timestamp("ms"))
    days = pc.floor(pc.divide(millis.cast(pa.float64(), safe=False), float(_DAY))).cast(pa.int64())
    rest = pc.subtract(millis, pc.multiply(days, _DAY))
    times = pc.binary_join_element_wise(rest.cast(pa.int32()).view(pa.time32("ms")).cast(pa.string()), "Z", "")
    dates = pc.strftime(stamps, format="%Y-%m-%d")
    full = pc.binary_join_element_wise(dates, times, "T")
    return pc.if_else(pc.less(millis, _DAY), times, pc.if_else(pc.equal(rest, 0), dates, full))


_SOURCES: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array, SchemaType], pa.Array | None]], ...] = (
    (pa.types.is_integer, _from_integers),
    (pa.types.is_floating, _from_floats),
    (pa.types.is_boolean, _from_booleans),
    (pa.types.is_string, _from_strings),
    (pa.types.is_binary, _from_bytes),
    (pa.types.is_date32, _from_dates),
    (pa.types.is_time32, _from_dates),
    (pa.types.is_timestamp, _from_dates),
)
