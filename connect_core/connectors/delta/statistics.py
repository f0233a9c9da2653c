"""Statistics of a Parquet file in the form of Delta's log, for readers that skip files."""

from __future__ import annotations

from datetime import date
from math import isfinite
from typing import Any

import pyarrow.parquet as pq

__all__ = ["statistics_of"]

_COLUMNS = 32
_LONGEST = 32


def statistics_of(metadata: pq.FileMetaData) -> dict[str, Any]:
    """Return rows, nulls, minimum and maximum values of the first columns that are not nested."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for number in range(min(metadata.num_columns, _COLUMNS)):
        found = [metadata.row_group(group).column(number) for group in range(metadata.num_row_groups)]
        name = found[0].path_in_schema if found else ""
        parts = [column.statistics for column in found]
        if metadata.schema.column(number).max_repetition_level or name not in metadata.schema.to_arrow_schema().names:
            continue
        if all(part is not None and part.has_null_count for part in parts):
            nulls[name] = sum(part.null_count for part in parts)
        bounds = [part for part in parts if part is not None and part.has_min_max]
        is_whole = len(bounds) == len(parts) and all(_is_told(part.min) and _is_told(part.max) for part in bounds)
        if bounds and is_whole:
            least[name] = _json(min(part.min for part in bounds))
            greatest[name] = _json(max(part.max for part in bounds))
    return {"numRecords": metadata.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}


def _is_told(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    if isinstance(value, float):
        # JSON has no infinity; Parquet stores no bounds for NaN.
        return isfinite(value)
    return type(value) in (int, date)


def _json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
