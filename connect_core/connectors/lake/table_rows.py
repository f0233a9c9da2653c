"""Rows of a batch as an Arrow table with types that a table format has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.columns import stored, to_type
from connect_core.connectors.filesystem.rows import VALUE, Rows
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import DataError

__all__ = ["PLACEHOLDER", "arrow_rows"]

PLACEHOLDER = VALUE
"""The only column of rows without columns, of Arrow's type of nulls: a table that exists need not get it."""
_DAYS = (-719_162, 2_932_896)
_MILLIS = (-62_135_596_800_000, 253_402_300_799_999)
"""The years 1 to 9999, beyond which the libraries cannot tell the least and greatest value of a file."""


def arrow_rows(rows: Rows) -> pa.Table:
    """Return rows without the columns of only nulls, which have no type yet. Raises DataError.

    Lists that are all empty are lists of Arrow's type of nulls: it is the table that knows what they would hold.
    """
    known = dict(stored(rows.columns))
    typed = tuple((name, kind) for name, kind in rows.columns if known.get(name) == kind)
    found = dict(zip(dict(typed), rows.cast(typed), strict=True))
    schema = pa.schema([pa.field(name, to_type(kind)) for name, kind in rows.columns if kind != "null"])
    partly = set(schema.names) - found.keys()
    for (name, _), array in zip(rows.columns, rows.arrays, strict=True):
        if name in partly:
            found[name] = _as_found(array, schema.field(name))
    for name, array in found.items():
        _check_times(name, array)
    if not found:
        return pa.table({PLACEHOLDER: pa.nulls(rows.length)})
    return pa.Table.from_arrays([found[name] for name in schema.names], schema=schema)


def _as_found(array: pa.Array, part: pa.Field) -> pa.Array:
    """Return values in a type that is not known in full."""
    column = fitted(pa.table({part.name: array}), pa.schema([part]), Evolution(False)).column(0)
    return column.chunk(0)


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
