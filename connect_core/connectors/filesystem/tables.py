"""Rows as Arrow tables with exactly the columns of a file."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connect_core.connectors.filesystem.columns import ColumnKinds, to_type
from connect_core.connectors.filesystem.rows import VALUE

__all__ = ["stored_schema", "table_of"]


def stored_schema(columns: ColumnKinds) -> pa.Schema:
    """Return the schema of a file: one null column if there are no others."""
    if not columns:
        return pa.schema([pa.field(VALUE, pa.null())])
    return pa.schema([pa.field(name, to_type(kind)) for name, kind in columns])


def table_of(chunks: Sequence[Sequence[pa.Array]], columns: ColumnKinds, rows: int) -> pa.Table:
    """Return a table of columns given in chunks; without columns it has a null column, which keeps the row count."""
    schema = stored_schema(columns)
    given = chunks if columns else [[pa.nulls(rows)]]
    arrays = [pa.chunked_array(list(chunk), part.type) for chunk, part in zip(given, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
