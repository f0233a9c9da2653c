"""Connect values as Arrow columns, if Arrow can represent them without loss."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa

from connect_core.api.arrow.types import decimal_scale, has_plain_keys, to_arrow_type
from connect_core.api.data.logical import Decimal
from connect_core.api.data.schema import LOGICAL_CLASSES, Schema, SchemaType
from connect_core.api.data.struct import Struct
from connect_core.errors import DataError
from connect_core.java.decimals import unscaled_and_scale
from connect_core.java.instant import MILLIS_PER_DAY
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64

__all__ = ["NotColumnar", "null_mask", "offsets", "scalar_column", "struct_column", "write_column"]

Values = Sequence[Any]
_NULL = type(None)
_CLASSES: dict[SchemaType, frozenset[type]] = {
    SchemaType.INT8: frozenset((int, Int8)),
    SchemaType.INT16: frozenset((int, Int16)),
    SchemaType.INT32: frozenset((int, Int32)),
    SchemaType.INT64: frozenset((int, Int64)),
    SchemaType.FLOAT32: frozenset((float, Float32)),
    SchemaType.FLOAT64: frozenset((float, Float64)),
    SchemaType.BOOLEAN: frozenset((bool,)),
    SchemaType.STRING: frozenset((str,)),
    SchemaType.BYTES: frozenset((bytes,)),
    SchemaType.STRUCT: frozenset((Struct,)),
    SchemaType.ARRAY: frozenset((list,)),
    SchemaType.MAP: frozenset((dict,)),
}


class NotColumnar(DataError):
    """Raised when a value has no representation in its Arrow column."""


def write_column(schema: Schema, values: Values, absent: int = 0) -> pa.Array:
    """Return values as a column of the schema's Arrow type.

    ``absent`` is the number of nulls that stem from a null parent. Raise NotColumnar
    for values that Arrow would change, nulls that are not allowed, and buffers.
    """
    classes = LOGICAL_CLASSES.get(schema.name) or _CLASSES[schema.type]
    found = set(map(type, values))
    if _NULL in found:
        found.discard(_NULL)
        required = not schema.optional and schema.default is None
        if required and sum(value is None for value in values) > absent:
            raise NotColumnar(f"found null where {schema} is required")
    if not found <= classes:
        raise NotColumnar(f"{found - classes} is not what {schema} becomes in columns")
    if schema.name in LOGICAL_CLASSES:
        return _write_logical(schema, values)
    return _WRITERS.get(schema.type, _write_primitive)(schema, values)


def _write_primitive(schema: Schema, values: Values) -> pa.Array:
    return scalar_column(values, to_arrow_type(schema))


def scalar_column(values: Values, kind: pa.DataType) -> pa.Array:
    """Return plain values as a column. Raise NotColumnar for values that overflow it."""
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise NotColumnar(f"a value does not fit {kind}") from error


def _write_logical(schema: Schema, values: Values) -> pa.Array:
    kind = to_arrow_type(schema)
    if schema.name == Decimal.LOGICAL_NAME:
        return _write_decimals(schema, values, kind)
    millis = [None if value is None else value.epoch_millis for value in values]
    if pa.types.is_timestamp(kind):
        return scalar_column(millis, pa.int64()).view(kind)
    known = [value for value in millis if value is not None]
    if pa.types.is_date32(kind) and not any(value % MILLIS_PER_DAY for value in known):
        days = [None if value is None else value // MILLIS_PER_DAY for value in millis]
        return scalar_column(days, pa.int32()).view(kind)
    if pa.types.is_time32(kind) and all(0 <= value < MILLIS_PER_DAY for value in known):
        return scalar_column(millis, pa.int32()).view(kind)
    if known:
        raise NotColumnar(f"a value does not fit {kind}")
    return pa.nulls(len(values), kind)


def _write_decimals(schema: Schema, values: Values, kind: pa.DataType) -> pa.Array:
    scale = decimal_scale(schema)
    known = [value for value in values if value is not None]
    if known and (scale is None or schema.type is not SchemaType.BYTES):
        raise NotColumnar(f"{schema} has no valid scale")
    if any(value.as_tuple().exponent != -(scale or 0) for value in known):
        raise NotColumnar(f"a decimal is not of scale {scale}")
    if not pa.types.is_binary(kind):
        return scalar_column(values, kind)
    return scalar_column([None if value is None else _unscaled_bytes(value) for value in values], kind)


def _unscaled_bytes(value: decimal.Decimal) -> bytes:
    unscaled, _ = unscaled_and_scale(value)
    return unscaled.to_bytes((unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True)


def _write_structs(schema: Schema, values: Values) -> pa.Array:
    known = [value for value in values if value is not None]
    if any(value.schema is not schema and value.schema != schema for value in known):
        raise NotColumnar("a struct has another schema than its column")
    absent = len(values) - len(known)
    empty = (None,) * len(schema.fields)
    rows = [empty if value is None else value.values for value in values]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema.fields)
    children = [
        write_column(field.schema, column, absent) for field, column in zip(schema.fields, columns, strict=True)
    ]
    return struct_column(to_arrow_type(schema), children, values)


def struct_column(kind: pa.StructType, children: Sequence[pa.Array], values: Values) -> pa.Array:
    """Return children as a struct column, null where ``values`` is."""
    if not children:
        return pa.array([None if value is None else {} for value in values], kind)
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=null_mask(values))


def null_mask(values: Values) -> pa.Array | None:
    """Return a mask of the null values, ``None`` if there are none."""
    nulls = [value is None for value in values]
    return pa.array(nulls, pa.bool_()) if True in nulls else None


def offsets(values: Values) -> pa.Array:
    """Return the start of each list or map in the concatenation of all."""
    return pa.array(accumulate((0 if value is None else len(value) for value in values), initial=0), pa.int32())


def _write_lists(schema: Schema, values: Values) -> pa.Array:
    flat = list(chain.from_iterable(value for value in values if value is not None))
    child = _write_part(schema.value_schema, flat)
    kind = to_arrow_type(schema)
    return pa.ListArray.from_arrays(offsets(values), child, type=kind, mask=null_mask(values))


def _write_maps(schema: Schema, values: Values) -> pa.Array:
    known = [value for value in values if value is not None]
    keys = _write_part(schema.key_schema, list(chain.from_iterable(known)))
    items = _write_part(schema.value_schema, list(chain.from_iterable(value.values() for value in known)))
    kind, starts, mask = to_arrow_type(schema), offsets(values), null_mask(values)
    if has_plain_keys(schema):
        return pa.MapArray.from_arrays(starts, keys, items, type=kind, mask=mask)
    entries = pa.StructArray.from_arrays([keys, items], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(starts, entries, type=kind, mask=mask)


def _write_part(schema: Schema | None, values: Values) -> pa.Array:
    if schema is not None:
        return write_column(schema, values)
    if any(value is not None for value in values):
        raise NotColumnar("a list or map without an element schema contains values")
    return pa.nulls(len(values))


_WRITERS: dict[SchemaType, Callable[[Schema, Values], pa.Array]] = {
    SchemaType.STRUCT: _write_structs,
    SchemaType.ARRAY: _write_lists,
    SchemaType.MAP: _write_maps,
}
