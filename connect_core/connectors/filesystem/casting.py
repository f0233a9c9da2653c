"""Converts Arrow columns to another kind, with nulls for missing fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.columns import most_of, to_type

__all__ = ["cast_array", "entries"]


def cast_array(array: pa.Array, kind: Any) -> pa.Array:
    """Return the values converted to a kind that can hold them. Raises ArrowInvalid for one that does not fit."""
    target = to_type(kind)
    if array.type == target:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        return _cast_struct(array, kind)
    if pa.types.is_list(target) and pa.types.is_list(array.type):
        return _cast_list(array, kind)
    if pa.types.is_map(target) and pa.types.is_map(array.type):
        return _cast_map(array, kind)
    if pa.types.is_decimal(target) and pa.types.is_decimal(array.type):
        _check_decimals(array, target)
    return array.cast(target)


def _check_decimals(array: pa.Array, target: pa.DataType) -> None:
    """Raise ArrowInvalid for a number with too many digits: Arrow itself returns a wrong one, without an error."""
    most = most_of(target)
    if most_of(array.type) <= most:
        return
    for number in pc.min_max(array).as_py().values():
        if number is not None and number.copy_abs() >= most:
            raise pa.ArrowInvalid(f"{number:f} has too many digits for {target}")


def _cast_struct(array: pa.StructArray, kind: Any) -> pa.StructArray:
    present = dict(zip(array.type.names, array.flatten(), strict=True))
    children = [
        cast_array(present[name], part) if name in present else pa.nulls(len(array), to_type(part))
        for name, part in kind[1]
    ]
    if not children:
        return array.cast(to_type(kind)) if not present else pa.nulls(len(array), to_type(kind))
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(to_type(kind)), mask=mask)


def _cast_list(array: pa.ListArray, kind: Any) -> pa.ListArray:
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    offsets = np.zeros(len(array) + 1, np.int32)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    mask = array.is_null() if array.null_count else None
    values = cast_array(array.flatten(), kind[1])
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=to_type(kind), mask=mask)


def entries(array: pa.MapArray) -> tuple[pa.Array, pa.Array]:
    """Return the keys and values of all maps; Arrow itself does not leave out those outside a slice."""
    first, last = (array.offsets[at].as_py() for at in (0, -1))
    return array.keys.slice(first, last - first), array.items.slice(first, last - first)


def _cast_map(array: pa.MapArray, kind: Any) -> pa.MapArray:
    keys, values = (cast_array(part, to) for part, to in zip(entries(array), kind[1:], strict=True))
    offsets = array.offsets.to_numpy()
    mask = array.is_null() if array.null_count else None
    return pa.MapArray.from_arrays(pa.array(offsets - offsets[0]), keys, values, type=to_type(kind), mask=mask)
