"""Data as columns, including schemaless scalars."""

from __future__ import annotations

from connect_core.api.arrow.scalars import scalar_column
from connect_core.api.batch import Columns, Data, Objects

__all__ = ["columns_of"]


def columns_of(data: Data) -> Columns | None:
    """Return data as columns, ``None`` if that is impossible."""
    columns = data.to_columns()
    if columns is not None or not isinstance(data, Objects) or any(schema is not None for schema in data.schemas):
        return columns
    column = scalar_column(data.values)
    return None if column is None else Columns(None, column)
