"""Changes of the topic column, made once a distinct topic."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

__all__ = ["encoded", "mapped"]


def encoded(column: pa.Array) -> pa.DictionaryArray:
    """Return a column with its distinct values in a dictionary."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def mapped(column: pa.Array, change: Callable[[str], object], kind: pa.DataType) -> pa.Array:
    """Return ``change`` of every row's text, called once a distinct text; nulls stay null."""
    codes = encoded(column)
    changed = [None if text is None else change(text) for text in codes.dictionary.to_pylist()]
    return pa.array(changed, kind).take(codes.indices)
