"""Arrow columns as the text of Java's ``toString``, dates and decimals included."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.data import Schema
from connect_core.api.data.schema import LOGICAL_CLASSES
from connect_core.java.column_text import column_text

__all__ = ["java_text"]

_DAY = 86_400_000
_EARLIEST, _LATEST = -12_212_553_600_000, 253_402_300_799_999


def java_text(schema: Schema | None, column: pa.Array) -> pa.Array | None:
    """Return the text of every row, ``None`` if only records can say it; nulls stay null."""
    if pa.types.is_decimal128(column.type):
        return column.cast(pa.string())
    if not pa.types.is_temporal(column.type):
        return None if schema is not None and schema.name in LOGICAL_CLASSES else column_text(column)
    millis = _millis(column)
    limits = None if millis is None else pc.min_max(millis).as_py()
    if limits is None or (limits["min"] is not None and (limits["min"] < _EARLIEST or limits["max"] > _LATEST)):
        return None
    seconds = pc.floor(pc.divide(pc.cast(millis, pa.float64()), 1000.0)).cast(pa.int64()).view(pa.timestamp("s"))
    return pc.strftime(seconds, "%a %b %d %H:%M:%S UTC %Y")


def _millis(column: pa.Array) -> pa.Array | None:
    if pa.types.is_timestamp(column.type):
        return column.view(pa.int64()) if column.type.unit == "ms" else None
    stored = column.view(pa.int32()).cast(pa.int64())
    return pc.multiply(stored, _DAY) if pa.types.is_date(column.type) else stored
