"""Dates and times as numbers of days and milliseconds, which have no last year."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["plain_type"]


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return a type with numbers in place of dates and times, as Python's own end with the year 9999."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pa.types.is_timestamp(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_temporal(kind) else kind
