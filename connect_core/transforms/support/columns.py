"""Arrow columns split and assembled, for the batch lane."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_array
from connect_core.api.batch import Columns
from connect_core.api.data import Schema

__all__ = ["child", "copy_fields", "fields_of", "filled", "is_map", "plain", "repeated", "same_rows", "struct_array"]


def plain(array: pa.Array) -> pa.Array:
    """Return a dictionary-encoded column decoded."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_map(columns: Columns) -> bool:
    """Return whether the rows are structs, or maps without a schema."""
    return bool(pa.types.is_struct(columns.array.type))


def fields_of(array: pa.StructArray) -> dict[str, pa.Array]:
    """Return the columns of a struct array; in null rows their values are undefined."""
    return {array.type.field(place).name: array.field(place) for place in range(array.type.num_fields)}


def child(array: pa.StructArray, name: str) -> pa.Array:
    """Return one column of a struct array, null where the struct is."""
    return pc.struct_field(array, array.type.get_field_index(name))


def struct_array(fields: Mapping[str, pa.Array], length: int, like: pa.Array | None = None) -> pa.StructArray:
    """Return columns as one struct array, null where ``like`` is."""
    kind = pa.struct([pa.field(name, column.type) for name, column in fields.items()])
    validity = None if like is None or not like.null_count else pc.is_valid(like).buffers()[1]
    return pa.Array.from_buffers(kind, length, [validity], children=list(fields.values()))


def same_rows(columns: Columns, schema: Schema | None, fields: Mapping[str, pa.Array]) -> Columns:
    """Return other fields for the same rows; null rows stay null."""
    return Columns(schema, struct_array(fields, len(columns), columns.array))


def repeated(scalar: pa.Scalar, like: pa.Array) -> pa.Array:
    """Return a scalar for every row, null where ``like`` is."""
    if not like.null_count:
        return pa.repeat(scalar, len(like))
    return pc.if_else(pc.is_valid(like), scalar, pa.scalar(None, scalar.type))


def filled(column: pa.Array, schema: Schema, replace_nulls: bool) -> pa.Array | None:
    """Return a field's column, with nulls replaced by the default if requested; ``None`` for a forbidden null."""
    if not column.null_count:
        return column
    if replace_nulls and schema.default is not None:
        default = to_arrow_array(schema, [schema.default])
        return None if default is None or default.type != column.type else column.fill_null(default[0])
    return column if schema.optional else None


def copy_fields(columns: Columns, replace_nulls: bool) -> dict[str, pa.Array] | None:
    """Return the columns as a record's values would be copied, or ``None`` if one row would fail."""
    fields = fields_of(columns.array)
    if columns.schema is None:
        return fields
    copied: dict[str, pa.Array] = {}
    for field in columns.schema.fields:
        column = filled(fields[field.name], field.schema, replace_nulls)
        if column is None:
            return None
        copied[field.name] = column
    return copied
