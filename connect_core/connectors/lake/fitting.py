"""Converts Arrow columns to a table's own types without rounding, truncation or overflow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.lake.exact import exactly
from connect_core.connectors.lake.required import ensure_there, filled, has_required, nulls
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import DataError

__all__ = ["fitted"]


def fitted(rows: pa.Table, schema: pa.Schema, evolution: Evolution) -> pa.Table:
    """Return rows with a table's columns, by name; fields without a column are left out. Raises DataError."""
    present = {_key(name, evolution): rows.column(number) for number, name in enumerate(rows.column_names)}
    columns = []
    for part in schema:
        found = present.get(_key(part.name, evolution))
        with _naming(part.name):
            column = nulls(len(rows), part.type) if found is None else _combined(found, part.type, evolution)
        if not part.nullable and column.null_count:
            raise DataError(f"column {part.name} is required, and a row has no value for it")
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def _combined(column: pa.ChunkedArray, target: pa.DataType, evolution: Evolution) -> pa.Array:
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, array.type)
    return _cast(array, target, evolution)


def _cast(array: pa.Array, target: pa.DataType, evolution: Evolution) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type == target and not has_required(target):
        return array
    if array.null_count == len(array):
        return nulls(len(array), target)
    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        return _struct(array, target, evolution)
    if pa.types.is_list(target) and pa.types.is_list(array.type):
        offsets, mask = _offsets(array)
        values = _cast(array.flatten(), target.value_type, evolution)
        ensure_there(target.value_field, values)
        return pa.ListArray.from_arrays(offsets, values, type=target, mask=mask)
    if pa.types.is_map(target) and pa.types.is_map(array.type):
        return _map(array, target, evolution)
    if _is_guess(array.type, target):
        raise pa.ArrowInvalid(f"{array.type} is no {target}")
    return exactly(array, target)


def _is_guess(found: pa.DataType, target: pa.DataType) -> bool:
    """Return whether Arrow would convert between different kinds of value: text to a number, a boolean to 1."""
    if pa.types.is_string(target):
        return bool(pa.types.is_binary(found))
    is_text = pa.types.is_string(found) or pa.types.is_binary(found)
    return bool(is_text or pa.types.is_boolean(found) != pa.types.is_boolean(target))


def _struct(array: pa.StructArray, target: pa.StructType, evolution: Evolution) -> pa.StructArray:
    present = {_key(name, evolution): part for name, part in zip(array.type.names, array.flatten(), strict=True)}
    children = []
    for part in target.fields:
        found = present.get(_key(part.name, evolution))
        child = nulls(len(array), part.type) if found is None else _cast(found, part.type, evolution)
        ensure_there(part, child.filter(array.is_valid()) if child.null_count else child)
        children.append(filled(part, child))
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(target.fields), mask=mask)


def _map(array: pa.MapArray, target: pa.MapType, evolution: Evolution) -> pa.MapArray:
    offsets, mask = _offsets(array)
    begin, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    if end - begin != offsets[-1].as_py():
        array = pa.concat_arrays([pa.array(array.to_pylist(), array.type)])
        begin, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    keys = _cast(array.keys.slice(begin, end - begin), target.key_type, evolution)
    items = _cast(array.items.slice(begin, end - begin), target.item_type, evolution)
    ensure_there(target.item_field, items)
    return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=mask)


def _offsets(array: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    if pa.types.is_map(array.type):
        array_offsets = array.offsets.to_numpy()
        lengths = np.diff(array_offsets)
        if array.null_count:
            lengths = np.where(array.is_valid().to_numpy(zero_copy_only=False), lengths, 0)
    else:
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(array) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.array(offsets), array.is_null() if array.null_count else None


def _key(name: str, evolution: Evolution) -> str:
    return name.lower() if evolution.ignores_case else name


@contextmanager
def _naming(field: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(f"field {field} holds a value that its column cannot: {error}") from error
