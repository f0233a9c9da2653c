"""One field of each value of a batch, in either form of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data
from connect_core.api.data import Struct
from connect_core.errors import DataError

__all__ = ["field_values"]


def field_values(data: Data, path: str) -> Sequence[Any] | pa.Array:
    """Return a field of each value; ``path`` is the field's name, or the path to a nested one: ``a.b``.

    Null if the value is null. Raises DataError if a value has no such field.
    """
    if isinstance(data, Columns):
        return _of_column(data.array, path)
    return [None if value is None else _of_value(value, path) for value in data.values]


def _of_column(array: pa.Array, path: str) -> pa.Array:
    if pa.types.is_null(array.type):
        return array
    if not pa.types.is_struct(array.type):
        raise _missing(path)
    names = array.type.names
    if path in names:
        # flatten() propagates the nulls of the structs to their fields.
        return array.flatten()[names.index(path)]
    head, _, rest = path.partition(".")
    if not rest or head not in names:
        raise _missing(path)
    return _of_column(array.flatten()[names.index(head)], rest)


def _of_value(value: Any, path: str) -> Any:
    if isinstance(value, Struct):
        known = {field.name for field in value.schema.fields}
        return _inner(known, value.get, path)
    if isinstance(value, dict):
        return _inner(value.keys(), value.get, path)
    raise _missing(path)


def _inner(known: Any, get: Any, path: str) -> Any:
    if path in known:
        return get(path)
    head, _, rest = path.partition(".")
    if not rest or head not in known:
        raise _missing(path)
    inner = get(head)
    return None if inner is None else _of_value(inner, rest)


def _missing(path: str) -> DataError:
    return DataError(
        f"the value has no field {path}, which determines its folder; add it with a transform, use another field, or "
        "let errors.tolerance=all skip such records"
    )
