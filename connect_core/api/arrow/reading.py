"""Arrow columns as Connect values."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from itertools import islice
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.types import decimal_scale, has_plain_keys, to_arrow_type
from connect_core.api.data.logical import Decimal
from connect_core.api.data.schema import LOGICAL_CLASSES, Schema, SchemaType
from connect_core.api.data.struct import Struct
from connect_core.java.decimals import of_unscaled
from connect_core.java.instant import MILLIS_PER_DAY, Instant
from connect_core.java.numbers import Float32

__all__ = ["instants", "read_column", "split"]


def read_column(schema: Schema, array: pa.Array) -> list[Any]:
    """Return the values of a column; integers are plain, FLOAT32 values Float32.

    A column of another Arrow type is cast first: times are truncated to
    milliseconds. Raise ArrowInvalid if anything else would be lost.
    """
    array = _of_kind(array, to_arrow_type(schema))
    read = _read_logical if schema.name in LOGICAL_CLASSES else _READERS.get(schema.type, _read_plain)
    return read(schema, array)


def _of_kind(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind or (array.type.id == kind.id and pa.types.is_nested(kind)):
        return array
    return array.cast(kind, safe=not (pa.types.is_timestamp(kind) or pa.types.is_time(kind)))


def _read_plain(schema: Schema, array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    return values


def _read_logical(schema: Schema, array: pa.Array) -> list[Any]:
    if pa.types.is_date32(array.type):
        return list(instants(array.view(pa.int32()), MILLIS_PER_DAY))
    if pa.types.is_time32(array.type):
        return list(instants(array.view(pa.int32())))
    if pa.types.is_timestamp(array.type):
        return list(instants(array.view(pa.int64())))
    if schema.name == Decimal.LOGICAL_NAME and pa.types.is_binary(array.type):
        scale = decimal_scale(schema) or 0
        return [None if value is None else _decimal(value, scale) for value in array.to_pylist()]
    return _read_plain(schema, array)


def _decimal(unscaled: bytes, scale: int) -> decimal.Decimal:
    return of_unscaled(int.from_bytes(unscaled, "big", signed=True), scale)


def instants(array: pa.Array, unit: int = 1) -> list[Instant | None]:
    """Return integers counting ``unit`` milliseconds as instants."""
    return [None if value is None else Instant(value * unit) for value in array.to_pylist()]


def _read_floats(schema: Schema, array: pa.Array) -> list[Any]:
    return [None if value is None else Float32(value) for value in array.to_pylist()]


def _read_structs(schema: Schema, array: pa.Array) -> list[Any]:
    fields = schema.fields
    columns = [read_column(field.schema, array.field(field.index)) for field in fields]
    rows: Any = zip(*columns, strict=True) if columns else [()] * len(array)
    of_values = Struct.of_values
    if not array.null_count:
        return [of_values(schema, row) for row in rows]
    valid = array.is_valid().to_pylist()
    return [of_values(schema, row) if known else None for row, known in zip(rows, valid, strict=True)]


def _read_lists(schema: Schema, array: pa.Array) -> list[Any]:
    return split(array, _read_part(schema.value_schema, array.flatten()))


def split(array: pa.Array, flat: list[Any]) -> list[Any]:
    """Return the values of a list column's ``flatten()`` as the original lists."""
    values = iter(flat)
    return [None if size is None else list(islice(values, size)) for size in array.value_lengths().to_pylist()]


def _read_maps(schema: Schema, array: pa.Array) -> list[Any]:
    entries = _entries(array) if has_plain_keys(schema) else array.flatten()
    keys = _read_part(schema.key_schema, entries.field(0))
    items = _read_part(schema.value_schema, entries.field(1))
    pairs = zip(keys, items, strict=True)
    sizes = _sizes(array)
    return [None if size is None else dict(islice(pairs, size)) for size in sizes]


def _entries(array: pa.MapArray) -> pa.StructArray:
    """Return the entries of the maps that are not null, one after the other."""
    known = array.drop_null() if array.null_count else array
    starts = known.offsets
    first, size = (starts[0].as_py(), starts[-1].as_py() - starts[0].as_py()) if len(starts) else (0, 0)
    parts = [known.keys.slice(first, size), known.items.slice(first, size)]
    return pa.StructArray.from_arrays(parts, names=["key", "value"])


def _sizes(array: pa.Array) -> list[int | None]:
    starts, valid = array.offsets.to_pylist(), array.is_valid().to_pylist()
    spans = zip(starts, starts[1:], valid, strict=False)
    return [end - start if known else None for start, end, known in spans]


def _read_part(schema: Schema | None, array: pa.Array) -> list[Any]:
    return [None] * len(array) if schema is None else read_column(schema, array)


_READERS: dict[SchemaType, Callable[[Schema, pa.Array], list[Any]]] = {
    SchemaType.FLOAT32: _read_floats,
    SchemaType.STRUCT: _read_structs,
    SchemaType.ARRAY: _read_lists,
    SchemaType.MAP: _read_maps,
}
