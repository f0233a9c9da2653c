"""Connect schemas as Arrow types and back, without loss.

A field carries metadata only if its Arrow type alone would mean another
schema. Logical types become Arrow's own: date32, time32, timestamp and decimals
of 38 digits (76 for scales beyond 38, unscaled bytes beyond 76).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa

from connect_core.api.arrow.metadata import METADATA_KEY, read_schema, write_traits
from connect_core.api.data.logical import Date, Decimal, Time, Timestamp
from connect_core.api.data.schema import Field, Schema, SchemaTraits, SchemaType
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.numbers import parse_integer

__all__ = ["decimal_scale", "from_arrow_field", "has_plain_keys", "to_arrow_field", "to_arrow_type"]

_PRIMITIVES: dict[SchemaType, pa.DataType] = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
    SchemaType.BYTES: pa.binary(),
}
_LOGICAL: dict[tuple[str | None, SchemaType], pa.DataType] = {
    (Date.LOGICAL_NAME, SchemaType.INT32): pa.date32(),
    (Time.LOGICAL_NAME, SchemaType.INT32): pa.time32("ms"),
    (Timestamp.LOGICAL_NAME, SchemaType.INT64): pa.timestamp("ms", tz="UTC"),
}
_SMALL_DECIMAL, _LARGE_DECIMAL = 38, 76


@lru_cache(maxsize=4096)
def to_arrow_type(schema: Schema) -> pa.DataType:
    """Return the Arrow type of a schema's values, nested metadata included."""
    if schema.type is SchemaType.STRUCT:
        return pa.struct([to_arrow_field(field.schema, field.name) for field in schema.fields])
    if schema.type is SchemaType.ARRAY:
        return pa.list_(_part(schema.value_schema, "item"))
    if schema.type is SchemaType.MAP:
        key, value = _part(schema.key_schema, "key"), _part(schema.value_schema, "value")
        if has_plain_keys(schema):
            return pa.map_(key, value)
        return pa.list_(pa.field("entry", pa.struct([key, value]), nullable=False))
    if schema.name == Decimal.LOGICAL_NAME and schema.type is SchemaType.BYTES:
        return _decimal_type(decimal_scale(schema))
    return _LOGICAL.get((schema.name, schema.type)) or _PRIMITIVES[schema.type]


def to_arrow_field(schema: Schema, name: str = "value") -> pa.Field:
    """Return the Arrow field of a schema; ``from_arrow_field`` gives the schema back."""
    nullable = schema.optional or schema.default is not None
    field = pa.field(name, to_arrow_type(schema), nullable=nullable)
    if from_arrow_field(field) == schema:
        return field
    return field.with_metadata({METADATA_KEY: write_traits(schema)})


def from_arrow_field(field: pa.Field) -> Schema:
    """Return the schema of a field, from any producer.

    Unsigned integers become the next wider type, times are truncated to
    milliseconds. Raise DataError for a type that Connect does not have.
    """
    metadata = None if field.metadata is None else field.metadata.get(METADATA_KEY)
    if metadata is not None:
        return read_schema(metadata, _parts(field.type))
    known = _known(field.type)
    return known.replace(optional=field.nullable) if known.optional != field.nullable else known


def has_plain_keys(schema: Schema) -> bool:
    """Return whether a map's keys are never null, as Arrow's map type requires."""
    return schema.key_schema is not None and not schema.key_schema.optional and schema.key_schema.default is None


def decimal_scale(schema: Schema) -> int | None:
    """Return the scale of a Decimal schema, ``None`` if it has no valid one."""
    try:
        return parse_integer((schema.parameters or {}).get(Decimal.SCALE_FIELD, ""), 32)
    except NumberFormatError:
        return None


def _decimal_type(scale: int | None) -> pa.DataType:
    if scale is None or not 0 <= scale <= _LARGE_DECIMAL:
        return pa.binary()
    if scale <= _SMALL_DECIMAL:
        return pa.decimal128(_SMALL_DECIMAL, scale)
    return pa.decimal256(_LARGE_DECIMAL, scale)


def _part(schema: Schema | None, name: str) -> pa.Field:
    return pa.field(name, pa.null()) if schema is None else to_arrow_field(schema, name)


def _from_part(field: pa.Field) -> Schema | None:
    return None if pa.types.is_null(field.type) else from_arrow_field(field)


def _parts(kind: pa.DataType) -> SchemaTraits:
    if pa.types.is_struct(kind):
        fields = (kind.field(index) for index in range(kind.num_fields))
        return {"fields": tuple(Field(field.name, i, from_arrow_field(field)) for i, field in enumerate(fields))}
    if pa.types.is_map(kind):
        return {"key_schema": _from_part(kind.key_field), "value_schema": _from_part(kind.item_field)}
    if not _is_list(kind):
        return {}
    entry = kind.value_field
    if entry.name == "entry" and pa.types.is_struct(entry.type):
        return {"key_schema": _from_part(entry.type.field(0)), "value_schema": _from_part(entry.type.field(1))}
    return {"value_schema": _from_part(entry)}


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _known(kind: pa.DataType) -> Schema:
    if pa.types.is_dictionary(kind):
        return _known(kind.value_type)
    if pa.types.is_decimal(kind):
        return Decimal.schema(kind.scale)
    for is_kind, schema in _INFERRED:
        if is_kind(kind):
            return schema
    for is_kind, type in _NESTED:
        if is_kind(kind):
            return Schema(type, **_parts(kind))
    raise DataError(f"Arrow's type {kind} has no Connect schema; cast the column before handing it over")


_INFERRED: tuple[tuple[Callable[[pa.DataType], bool], Schema], ...] = (
    (pa.types.is_int8, Schema(SchemaType.INT8)),
    (lambda kind: pa.types.is_int16(kind) or pa.types.is_uint8(kind), Schema(SchemaType.INT16)),
    (lambda kind: pa.types.is_int32(kind) or pa.types.is_uint16(kind), Schema(SchemaType.INT32)),
    (lambda kind: pa.types.is_int64(kind) or pa.types.is_uint32(kind), Schema(SchemaType.INT64)),
    (lambda kind: pa.types.is_float16(kind) or pa.types.is_float32(kind), Schema(SchemaType.FLOAT32)),
    (pa.types.is_float64, Schema(SchemaType.FLOAT64)),
    (pa.types.is_boolean, Schema(SchemaType.BOOLEAN)),
    (lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind), Schema(SchemaType.STRING)),
    (pa.types.is_string_view, Schema(SchemaType.STRING)),
    (lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind), Schema(SchemaType.BYTES)),
    (lambda kind: pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind), Schema(SchemaType.BYTES)),
    (pa.types.is_date, Date.SCHEMA),
    (pa.types.is_time, Time.SCHEMA),
    (pa.types.is_timestamp, Timestamp.SCHEMA),
)
_NESTED: tuple[tuple[Callable[[pa.DataType], bool], SchemaType], ...] = (
    (pa.types.is_struct, SchemaType.STRUCT),
    (pa.types.is_map, SchemaType.MAP),
    (_is_list, SchemaType.ARRAY),
)
