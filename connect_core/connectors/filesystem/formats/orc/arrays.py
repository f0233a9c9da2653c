"""Arrays in the only form that Arrow's ORC writer writes correctly, as of version 26.

The writer takes the rows of a sliced struct array from its beginning if some are null, and misplaces what follows a
null struct within a struct, unless nothing is sliced, and all fields of a null struct are null themselves.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["aligned"]


def aligned(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return equal values in this form; columns without structs unchanged."""
    if not _has_struct(column.type):
        return column
    return pa.chunked_array([_aligned(chunk) for chunk in column.chunks], column.type)


def _has_struct(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) or any(_has_struct(kind.field(at).type) for at in range(kind.num_fields))


def _aligned(array: pa.Array) -> pa.Array:
    kind = array.type
    if not _has_struct(kind):
        return _copied(array) if array.offset else array
    if pa.types.is_struct(kind):
        parts = [_aligned(part) for part in array.flatten()]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())
    whole = _copied(array)
    if pa.types.is_map(kind):
        keys, items = _aligned(whole.keys), _aligned(whole.items)
        return pa.MapArray.from_arrays(whole.offsets, keys, items, kind, mask=whole.is_null())
    return pa.ListArray.from_arrays(whole.offsets, _aligned(whole.values), kind, mask=whole.is_null())


def _copied(array: pa.Array) -> pa.Array:
    return array.take(pa.array(np.arange(len(array))))
