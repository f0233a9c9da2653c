"""Helpers that assemble Arrow arrays for converters."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_array, to_arrow_type
from connect_core.api.data import Schema

__all__ = ["default_array", "integers_of", "logical_array", "scatter", "struct_of"]


def default_array(schema: Schema) -> pa.Array | None:
    """Return a schema's default as an array of length one."""
    return to_arrow_array(schema, [schema.default])


def logical_array(schema: Schema, integers: pa.Int64Array) -> pa.Array | None:
    """Return days or milliseconds as instants, ``None`` if the schema has an unusual type."""
    kind = to_arrow_type(schema)
    if pa.types.is_timestamp(kind):
        return integers.view(kind)
    return integers.cast(pa.int32()).view(kind) if pa.types.is_date32(kind) or pa.types.is_time32(kind) else None


def integers_of(array: pa.Array) -> pa.Array | None:
    """Return instants as the days or milliseconds stored, ``None`` for another type."""
    if pa.types.is_timestamp(array.type) and array.type.unit == "ms":
        return array.view(pa.int64())
    is_small = pa.types.is_date32(array.type) or (pa.types.is_time32(array.type) and array.type.unit == "ms")
    return array.view(pa.int32()) if is_small else None


def struct_of(fields: Mapping[str, pa.Array], length: int, like: pa.Array | None = None) -> pa.StructArray:
    """Return columns as one struct array, null where ``like`` is."""
    kind = pa.struct([pa.field(name, column.type) for name, column in fields.items()])
    validity = None if like is None or not like.null_count else pc.is_valid(like).buffers()[1]
    return pa.Array.from_buffers(kind, length, [validity], children=list(fields.values()))


def scatter(array: pa.Array, present: pa.BooleanArray) -> pa.Array:
    """Return the values of ``array``, in order, where ``present`` is true, and nulls elsewhere."""
    place = pc.subtract(pc.cumulative_sum(present.cast(pa.int64())), 1)
    return array.take(pc.if_else(present, place, pa.scalar(None, pa.int64())))
