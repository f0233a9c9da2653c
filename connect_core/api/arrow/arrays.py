"""Conversion of values to one Arrow column, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.reading import read_column
from connect_core.api.arrow.schemaless import read_schemaless, write_schemaless
from connect_core.api.arrow.writing import NotColumnar, write_column
from connect_core.api.data.schema import Schema

__all__ = ["to_arrow_array", "to_python"]


def to_arrow_array(schema: Schema | None, values: Sequence[Any]) -> pa.Array | None:
    """Return the values as one column, or ``None`` if a column cannot hold them.

    ``None`` as schema: all values are null, or maps with the same keys in the
    same order and one type per key. ``to_python`` returns equal values.
    """
    try:
        return write_schemaless(values) if schema is None else write_column(schema, values)
    except (NotColumnar, RecursionError, UnicodeEncodeError):
        # Arrow's names of fields are UTF-8, which lone surrogates are not; records may be nested deeper than columns.
        return None


def to_python(schema: Schema | None, array: pa.Array) -> list[Any]:
    """Return a column's values as Connect values; see ``to_arrow_array``."""
    return read_schemaless(array) if schema is None else read_column(schema, array)
