"""Converts columns from ADBC to Connect's, without touching values in Python."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Date, Schema, SchemaType, Time, Timestamp
from connect_core.connectors.jdbc.decimal_texts import decimals_of
from connect_core.connectors.jdbc.source.columns import ReadColumn
from connect_core.connectors.jdbc.wall_clock import from_wall_clock
from connect_core.errors import DataError

__all__ = ["NotColumnar", "connect_array", "plain"]

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY_MICROS = 86_400_000_000


class NotColumnar(Exception):
    """A value needs the record lane: Arrow's type for its column cannot hold it."""


def connect_array(column: ReadColumn, array: pa.Array, zone: ZoneInfo) -> pa.Array:
    """Return a column in the Arrow type of its Connect schema; points in time are truncated to ms.

    Raises NotColumnar, or DataError for a value that Connect cannot hold either.
    """
    try:
        done = _converted(column.schema, plain(array), None if column.is_zoned else zone)
    except pa.ArrowInvalid as error:
        raise NotColumnar(f"column {column.name}: {error}") from error
    except ValueError as error:
        raise DataError(f"column {column.name}: {error}") from error
    if done.null_count and not column.schema.optional:
        raise DataError(f"column {column.name} is null, though it was NOT NULL when it was described")
    return done


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without ADBC's extension type for PostgreSQL's own types."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0)
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _converted(schema: Schema, array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    special = _SPECIAL.get(schema.name)
    if special is not None:
        return special(array, zone)
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return _list(schema, schema.value_schema, array, zone)
    kind = to_arrow_type(schema)
    if array.type == kind:
        return array
    if pa.types.is_string(array.type) and pa.types.is_decimal(kind):
        return decimals_of(array, kind)
    if pa.types.is_string(array.type) and pa.types.is_integer(kind):
        return decimals_of(array, pa.decimal128(38, 0)).cast(kind)
    return array.cast(kind)


def _list(schema: Schema, element: Schema, array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    if not pa.types.is_list(array.type):
        raise pa.ArrowInvalid(f"{array.type} is not a list")
    values = _converted(element, plain(array.values), zone)
    return pa.ListArray.from_arrays(array.offsets, values, to_arrow_type(schema), mask=array.is_null())


def _date(array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    _check_range(array.cast(pa.date32()).view(pa.int32()), _FIRST_DAY, _LAST_DAY)
    return array


def _time(array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    micros = array.cast(pa.time64("us")).view(pa.int64())
    _check_range(micros, 0, _DAY_MICROS - 1)
    return _floored(micros).cast(pa.int32()).view(pa.time32("ms"))


def _timestamp(array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    return _floored(_to_utc(array, zone)).view(pa.timestamp("ms", tz="UTC"))


def _to_utc(array: pa.Array, zone: ZoneInfo | None) -> pa.Array:
    """Return timestamps in microseconds as int64 since 1970 in UTC; those without a zone are in ``zone``."""
    naive = array.cast(pa.timestamp("us", array.type.tz)).view(pa.int64())
    _check_range(naive, _FIRST_DAY * _DAY_MICROS, (_LAST_DAY + 1) * _DAY_MICROS - 1)
    if array.type.tz is not None or zone is None or zone.key == "UTC":
        return naive
    return from_wall_clock(naive, zone)


def _floored(micros: pa.Array) -> pa.Array:
    """Return milliseconds, rounded down; Arrow's own division rounds toward zero."""
    values = micros.fill_null(0).to_numpy()
    mask = micros.is_null().to_numpy(zero_copy_only=False) if micros.null_count else None
    return pa.array(np.floor_divide(values, 1000), pa.int64(), mask=mask)


def _check_range(array: pa.Array, least: int, most: int) -> None:
    found = pc.min_max(array)
    low, high = found["min"].as_py(), found["max"].as_py()
    if low is not None and (low < least or high > most):
        raise ValueError("it contains a time that is infinite or outside the years 1 to 9999; exclude it with a query")


_SPECIAL: dict[str | None, Callable[[pa.Array, ZoneInfo | None], pa.Array]] = {
    Date.LOGICAL_NAME: _date,
    Time.LOGICAL_NAME: _time,
    Timestamp.LOGICAL_NAME: _timestamp,
}
