"""The results of a columnar parser, converted to the columns that records would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Date, Decimal, Schema, SchemaType, Time, Timestamp
from connect_core.converters.arrays import default_array, logical_array, scatter, struct_of
from connect_core.converters.decimals import decimals_of
from connect_core.converters.json.read.shapes import (
    ArrayShape,
    ObjectShape,
    ScalarShape,
    Shape,
    merge,
    name_is_plain,
    shape_of,
)

__all__ = ["arrays_of", "shape_under", "typed_columns"]

_INTEGERS = {SchemaType.INT8: pa.int8(), SchemaType.INT16: pa.int16(), SchemaType.INT32: pa.int32()}
_SHAPES: dict[SchemaType, Shape] = {
    SchemaType.INT8: ScalarShape.INTEGER,
    SchemaType.INT16: ScalarShape.INTEGER,
    SchemaType.INT32: ScalarShape.INTEGER,
    SchemaType.INT64: ScalarShape.INTEGER,
    SchemaType.FLOAT32: ScalarShape.NUMBER,
    SchemaType.FLOAT64: ScalarShape.NUMBER,
    SchemaType.BOOLEAN: ScalarShape.BOOLEAN,
    SchemaType.STRING: ScalarShape.STRING,
    SchemaType.BYTES: ScalarShape.BASE64,
}
_DAY = 86_400_000


def arrays_of(shape: ObjectShape, parsed: pa.StructArray) -> pa.StructArray:
    """Return schemaless rows as a struct array."""
    return struct_of({name: _plain(member, parsed.field(name)) for name, member in shape.members}, len(parsed))


def _plain(shape: Shape, array: pa.Array) -> pa.Array:
    if shape is ScalarShape.NULL:
        return pa.nulls(len(array))
    if shape is ScalarShape.FRACTION:
        # BigDecimal has no negative zero.
        return pc.add(array, 0.0)
    if isinstance(shape, ObjectShape):
        fields = {name: _plain(member, array.field(place)) for place, (name, member) in enumerate(shape.members)}
        return struct_of(fields, len(array), array)
    return _list(array, _plain(shape.item, array.values)) if isinstance(shape, ArrayShape) else array


def _list(array: pa.Array, values: pa.Array) -> pa.ListArray:
    mask = pc.is_null(array) if array.null_count else None
    return pa.ListArray.from_arrays(array.offsets.cast(pa.int32()), values, mask=mask)


def shape_under(schema: Schema | None, node: Any) -> Shape | None:
    """Return the shape that a value needs to be read under a schema as columns.

    ``None``: only records can read it, such as maps, decimals and wrong types.
    """
    if schema is None:
        return shape_of(node)
    if schema.type is SchemaType.STRUCT:
        return _object_under(schema, node)
    if schema.type is SchemaType.ARRAY:
        if node is None:
            return ScalarShape.NULL
        if not isinstance(node, list):
            return None
        item = merge([shape_under(schema.value_schema, item) for item in node])
        return None if item is None else ArrayShape(item)
    if schema.name == Decimal.LOGICAL_NAME:
        return ScalarShape.BASE64 if pa.types.is_decimal128(to_arrow_type(schema)) else None
    return ScalarShape.INTEGER if schema.name in _DATES else _SHAPES.get(schema.type)


def _object_under(schema: Schema, node: Any) -> Shape | None:
    if not isinstance(node, dict) or not all(map(name_is_plain, node)):
        return ScalarShape.NULL if node is None else None
    members: list[tuple[str, Shape]] = []
    for name, value in node.items():
        field = schema.field(name)
        member = shape_of(value) if field is None else shape_under(field.schema, value)
        if member is None:
            return None
        members.append((name, member))
    return ObjectShape(tuple(members)) if members else None


def typed_columns(
    schema: Schema, shape: ObjectShape, parsed: pa.StructArray, replace_nulls: bool, wrapped: bool
) -> pa.Array | None:
    """Return rows under a schema as a column, or ``None`` if records would fail or differ.

    ``wrapped``: the rows are the only member of each object.
    """
    if wrapped:
        ((_, member),) = shape.members
        return _Typed(replace_nulls).column(schema, member, parsed.field(0))
    columns = {name: parsed.field(name) for name, _ in shape.members}
    return _Typed(replace_nulls).struct(schema, shape, columns, len(parsed))


class _Typed:
    def __init__(self, replace_nulls: bool) -> None:
        self._replace_nulls = replace_nulls

    def column(self, schema: Schema, shape: Shape, array: pa.Array) -> pa.Array | None:
        """Return a column with its nulls replaced or kept; ``None`` if nulls are not allowed."""
        column = self.present(schema, shape, array)
        if column is None or not column.null_count:
            return column
        if self._replace_nulls and schema.default is not None:
            default = default_array(schema)
            return None if default is None or default.type != column.type else column.fill_null(default[0])
        return column if schema.optional else None

    def present(self, schema: Schema, shape: Shape, array: pa.Array) -> pa.Array | None:
        """Return a column whose nulls are not replaced yet."""
        if shape is ScalarShape.NULL:
            return pa.nulls(len(array), to_arrow_type(schema))
        if isinstance(shape, ObjectShape):
            return self._nested(schema, shape, array)
        if isinstance(shape, ArrayShape):
            assert schema.value_schema is not None
            values = self.column(schema.value_schema, shape.item, array.values)
            return None if values is None else _list(array, values)
        return _scalar(schema, array)

    def _nested(self, schema: Schema, shape: ObjectShape, array: pa.Array) -> pa.Array | None:
        valid = array.is_valid()
        rows = array.filter(valid) if array.null_count else array
        columns = {name: rows.field(place) for place, (name, _) in enumerate(shape.members)}
        struct = self.struct(schema, shape, columns, len(rows))
        return struct if struct is None or not array.null_count else scatter(struct, valid)

    def struct(
        self, schema: Schema, shape: ObjectShape, columns: dict[str, pa.Array], length: int
    ) -> pa.StructArray | None:
        """Return the fields of a schema as a struct array; fields missing in the rows are null."""
        shapes = dict(shape.members)
        fields: dict[str, pa.Array] = {}
        for field in schema.fields:
            absent = pa.nulls(length, to_arrow_type(field.schema))
            shape_here = shapes.get(field.name, ScalarShape.NULL)
            column = self.column(field.schema, shape_here, columns.get(field.name, absent))
            if column is None:
                return None
            fields[field.name] = column
        return struct_of(fields, length)


def _scalar(schema: Schema, array: pa.Array) -> pa.Array | None:
    if schema.name in _DATES:
        return _date(schema, array)
    if schema.type in _INTEGERS:
        return array.cast(_INTEGERS[schema.type], safe=False)
    if schema.type is SchemaType.FLOAT64:
        return pc.add(array, 0.0)
    if schema.type is SchemaType.FLOAT32:
        return _float32(pc.add(array, 0.0))
    if schema.type is SchemaType.BYTES:
        found = pl.Series(array).str.decode("base64").to_arrow().cast(pa.binary())
        return found if schema.name != Decimal.LOGICAL_NAME else decimals_of(found, to_arrow_type(schema))
    return array


def _float32(array: pa.DoubleArray) -> pa.FloatArray | None:
    """Round doubles; ``None`` if one may lie halfway, so that its lost digits decide."""
    values = array.fill_null(1.0).to_numpy()
    bits = values.view(np.int64)
    halfway = (bits & 0x1FFFFFFF) == 0x10000000
    tiny = (np.abs(values) < 2.0**-126) & (values != 0)
    return None if bool(np.any(halfway | tiny)) else array.cast(pa.float32(), safe=False)


def _date(schema: Schema, array: pa.Int64Array) -> pa.Array | None:
    if schema.name == Timestamp.LOGICAL_NAME:
        return logical_array(schema, array)
    low, high = (0, _DAY - 1) if schema.name == Time.LOGICAL_NAME else (-(1 << 31), (1 << 31) - 1)
    limits = pc.min_max(array).as_py()
    is_within = limits["min"] is None or (limits["min"] >= low and limits["max"] <= high)
    return logical_array(schema, array) if is_within else None


_DATES = (Date.LOGICAL_NAME, Time.LOGICAL_NAME, Timestamp.LOGICAL_NAME)
