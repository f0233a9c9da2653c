"""Rows of a batch as an Arrow table with types that a table format has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.columns import stored, to_type
from connect_core.connectors.filesystem.rows import VALUE, Rows
from connect_core.errors import DataError

__all__ = ["PLACEHOLDER", "arrow_rows"]

PLACEHOLDER = VALUE
"""The only column of a table whose rows have no columns; it is always null."""
_DAYS = (-719_162, 2_932_896)
_MILLIS = (-62_135_596_800_000, 253_402_300_799_999)
"""The years 1 to 9999, beyond which the libraries cannot tell the least and greatest value of a file."""


def arrow_rows(rows: Rows) -> pa.Table:
    """Return rows with typed columns only: a column with only nulls has no type yet. Raises DataError."""
    columns = stored(rows.columns)
    if not columns:
        return pa.table({PLACEHOLDER: pa.nulls(rows.length, pa.string())})
    schema = pa.schema([pa.field(name, to_type(kind)) for name, kind in columns])
    arrays = rows.cast(columns)
    for name, array in zip(schema.names, arrays, strict=True):
        _check_times(name, array)
    return pa.Table.from_arrays(arrays, schema=schema)


def _check_times(name: str, array: pa.Array) -> None:
    """Raise DataError for a time that tables cannot hold, also within structs, lists and maps."""
    kind = array.type
    if pa.types.is_struct(kind):
        for field, part in zip(kind.names, array.flatten(), strict=True):
            _check_times(f"{name}.{field}", part)
    elif pa.types.is_map(kind):
        _check_times(f"{name} (key)", array.keys)
        _check_times(f"{name}[]", array.items)
    elif pa.types.is_list(kind):
        _check_times(f"{name}[]", array.flatten())
    elif pa.types.is_timestamp(kind):
        _check_range(name, array.cast(pa.int64()), _MILLIS)
    elif pa.types.is_date32(kind):
        _check_range(name, array.cast(pa.int32()), _DAYS)


def _check_range(name: str, numbers: pa.Array, limits: tuple[int, int]) -> None:
    found = pc.min_max(numbers)
    least, greatest = found["min"].as_py(), found["max"].as_py()
    if least is not None and (least < limits[0] or greatest > limits[1]):
        raise DataError(f"field {name} holds a date or time outside the years 1 to 9999, which tables cannot hold")
