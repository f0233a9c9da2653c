"""Rows of a batch as an Arrow table with types that a table format has."""

from __future__ import annotations

import pyarrow as pa

from connect_core.connectors.filesystem.columns import stored, to_type
from connect_core.connectors.filesystem.rows import VALUE, Rows

__all__ = ["PLACEHOLDER", "arrow_rows"]

PLACEHOLDER = VALUE
"""The only column of a table whose rows have no columns; it is always null."""


def arrow_rows(rows: Rows) -> pa.Table:
    """Return rows with typed columns only: a column with only nulls has no type yet. Raises DataError."""
    columns = stored(rows.columns)
    if not columns:
        return pa.table({PLACEHOLDER: pa.nulls(rows.length, pa.string())})
    schema = pa.schema([pa.field(name, to_type(kind)) for name, kind in columns])
    return pa.Table.from_arrays(rows.cast(columns), schema=schema)
