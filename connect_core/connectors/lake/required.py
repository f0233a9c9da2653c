"""Values of required fields within nested columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["ensure_there", "filled", "has_required", "nulls"]


def ensure_there(part: pa.Field, values: pa.Array) -> None:
    """Raise ArrowInvalid if a required field has no value."""
    if not part.nullable and values.null_count:
        raise pa.ArrowInvalid(f"{part.name} is required in it, and a row has no value for it")


def has_required(kind: pa.DataType) -> bool:
    """Return whether a type has required fields of structs; a map's key is one."""
    parts = [kind.field(number) for number in range(kind.num_fields)]
    is_here = pa.types.is_struct(kind) and not all(part.nullable for part in parts)
    return is_here or any(has_required(part.type) for part in parts)


def filled(part: pa.Field, values: pa.Array) -> pa.Array:
    """Return the values of a field of structs; what a null struct has of a required one is some value.

    Nobody sees it, but Arrow writes no file with a null there.
    """
    if part.nullable or not values.null_count:
        return values
    some = pa.array([_some(part.type)], part.type)
    places = np.where(values.is_null().to_numpy(zero_copy_only=False), len(values), np.arange(len(values)))
    return pa.concat_arrays([values, some]).take(pa.array(places))


def nulls(count: int, kind: pa.DataType) -> pa.Array:
    """Return nulls of a type."""
    if not pa.types.is_struct(kind):
        return pa.nulls(count, kind)
    parts = [filled(part, nulls(count, part.type)) for part in kind.fields]
    return pa.StructArray.from_arrays(parts, fields=list(kind.fields), mask=pa.array(np.ones(count, bool)))


def _some(kind: pa.DataType) -> Any:
    if isinstance(kind, pa.BaseExtensionType):
        return _some(kind.storage_type)
    if pa.types.is_struct(kind):
        return {part.name: None if part.nullable else _some(part.type) for part in kind.fields}
    if pa.types.is_nested(kind):
        return []
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_fixed_size_binary(kind):
        return bytes(kind.byte_width)
    if pa.types.is_string(kind):
        return ""
    return b"" if pa.types.is_binary(kind) else 0
