"""Changes of the topic column, computed once per distinct topic."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import pyarrow as pa

__all__ = ["encoded", "mapped", "remembered"]

_Found = TypeVar("_Found")
_TOPICS = 1024


def encoded(column: pa.Array) -> pa.DictionaryArray:
    """Return a column with its distinct values in a dictionary."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def mapped(column: pa.Array, change: Callable[[str], object], kind: pa.DataType) -> pa.Array:
    """Return ``change`` of every row's text, called once per distinct text; nulls stay null."""
    codes = encoded(column)
    changed = [None if text is None else change(text) for text in codes.dictionary.to_pylist()]
    return pa.array(changed, kind).take(codes.indices)


def remembered(change: Callable[[str], _Found]) -> Callable[[str], _Found]:
    """Return ``change`` with a cache of its last results: records have few topics, and matching is slow."""
    return lru_cache(_TOPICS)(change)
