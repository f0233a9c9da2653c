"""Arrays in the one form that Arrow's ORC writer writes rightly, seen up to version 26.

It takes the rows of a slice of structs from their beginning when some are null, and puts what follows a null struct
within a struct in wrong places: unless nothing is sliced, and all parts of a null struct are null themselves.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["aligned"]


def aligned(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return equal values; columns without structs as they are."""
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
