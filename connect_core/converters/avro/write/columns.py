"""Writers of whole columns, compiled for a Connect schema and the Avro schema to write it with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_array, to_arrow_type
from connect_core.api.data import Field, Schema, SchemaType
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.model import AvroField, AvroKind, AvroType
from connect_core.converters.avro.schemas.names import is_union
from connect_core.converters.avro.write.leaves import PieceWriter, leaf_writer
from connect_core.converters.avro.write.matching import branch_of, fits, source_fields, union_branches
from connect_core.converters.avro.write.pieces import Piece, Unwritable, constant, expand, join, numbers, regroup
from connect_core.converters.avro.write.scalars import write_long
from connect_core.converters.avro.write.values import default_body

__all__ = ["column_writer", "write_column"]


def write_column(write: PieceWriter, frame: bytes, column: pa.Array, is_optional: bool) -> pa.BinaryArray:
    """Return the message of each row, null where the value is. Raise Unwritable or ArrowException."""
    if not column.null_count:
        return join([constant(frame), *write(column)], len(column))
    if not is_optional:
        raise Unwritable("a null where none is allowed")
    given = column.is_valid()
    known = column.filter(given)
    places = pc.subtract(pc.cumulative_sum(given.cast(pa.int64())), 1)
    return join([constant(frame), *write(known)], len(known)).take(
        pc.if_else(given, places, pa.scalar(None, pa.int64()))
    )


def column_writer(schema: Schema | None, avro: AvroType, settings: AvroSettings) -> PieceWriter:
    """Return a writer of rows. Raise Unwritable if only records can be written, DataError as ``body_writer`` does."""
    if schema is None or avro.kind is AvroKind.ANYTHING:
        raise Unwritable("schemaless values")
    if schema.type is SchemaType.STRUCT and is_union(schema):
        return _union(schema, avro, settings)
    if avro.kind is not AvroKind.UNION:
        return _required(_value(schema, avro, settings))
    place = branch_of(schema, avro)
    nulls = [place for place, one in enumerate(avro.branches) if one.kind is AvroKind.NULL]
    return _optional(
        _value(schema, avro.branches[place], settings), place, nulls[0] if nulls and schema.optional else None
    )


def _required(write: PieceWriter) -> PieceWriter:
    def write_required(column: pa.Array) -> list[Piece]:
        if column.null_count:
            raise Unwritable("a null where none is allowed")
        return write(column)

    return write_required


def _place(place: int) -> bytes:
    out = bytearray()
    write_long(out, place)
    return bytes(out)


def _optional(write: PieceWriter, place: int, null: int | None) -> PieceWriter:
    def write_optional(column: pa.Array) -> list[Piece]:
        if not column.null_count:
            return [constant(_place(place)), *write(column)]
        if null is None:
            raise Unwritable("a null where none is allowed")
        given = column.is_valid().to_numpy(zero_copy_only=False)
        pieces = [expand(one, given) for one in write(column.drop_null())]
        return [numbers(np.where(given, place, null)), *pieces]

    return write_optional


def _value(schema: Schema, avro: AvroType, settings: AvroSettings) -> PieceWriter:
    if not fits(schema, avro):
        raise Unwritable(f"{schema} as {avro.kind.value}")
    if avro.kind is AvroKind.RECORD:
        return _record(schema, avro, settings)
    if schema.type is SchemaType.ARRAY:
        return _list(column_writer(schema.value_schema, avro.part(), settings))
    if schema.type is not SchemaType.MAP:
        return leaf_writer(schema, avro)
    if avro.kind is AvroKind.MAP:
        key = AvroType(AvroKind.STRING)
        keys, item = _required(leaf_writer(_given(schema.key_schema), key)), avro.part()
    else:
        parts = {field.name: field.type for field in avro.part().fields}
        keys, item = column_writer(schema.key_schema, parts["key"], settings), parts["value"]
    return _map(keys, column_writer(schema.value_schema, item, settings))


def _given(schema: Schema | None) -> Schema:
    if schema is None:
        raise Unwritable("schemaless keys")
    return schema.replace(optional=False) if schema.optional else schema


def _record(schema: Schema, avro: AvroType, settings: AvroSettings) -> PieceWriter:
    sources = source_fields(schema, avro, settings.scrub)
    fields = [(one, _field(one, field, settings)) for one, field in zip(sources, avro.fields, strict=True)]

    def write(column: pa.Array) -> list[Piece]:
        if not pa.types.is_struct(column.type) or column.type.num_fields != len(schema.fields):
            raise Unwritable(f"structs as {column.type}")
        pieces: list[Piece] = []
        for source, one in fields:
            pieces += one(column if source is None else column.field(source.index))
        return pieces or [constant(b"")]

    return write


def _field(source: Field | None, field: AvroField, settings: AvroSettings) -> PieceWriter:
    if source is None:
        body = constant(default_body(field, settings))
        return lambda column: [body]
    write = column_writer(source.schema, field.type, settings)
    if source.schema.default is None or settings.ignore_default:
        return write
    return _defaulted(source.schema, write)


def _defaulted(schema: Schema, write: PieceWriter) -> PieceWriter:
    """Return a writer of a field in which the default replaces nulls."""
    default = to_arrow_array(schema, [schema.default])
    if default is None:
        raise Unwritable("a default that columns cannot say")

    def write_defaulted(column: pa.Array) -> list[Piece]:
        if not column.null_count:
            return write(column)
        if column.type != default.type:
            raise Unwritable(f"{column.type} for {default.type}")
        rows = np.where(column.is_valid().to_numpy(zero_copy_only=False), np.arange(len(column)), len(column))
        return write(pa.concat_arrays([column, default]).take(pa.array(rows)))

    return write_defaulted


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _list(write_item: PieceWriter) -> PieceWriter:
    def write(column: pa.Array) -> list[Piece]:
        if not _is_list(column.type):
            raise Unwritable(f"lists as {column.type}")
        items = column.flatten()
        return _items(column, join(write_item(items), len(items)))

    return write


def _map(write_key: PieceWriter, write_item: PieceWriter) -> PieceWriter:
    def write(column: pa.Array) -> list[Piece]:
        if pa.types.is_map(column.type):
            first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
            keys, items = column.keys.slice(first, last - first), column.items.slice(first, last - first)
        elif _is_list(column.type) and pa.types.is_struct(column.type.value_type):
            keys, items = column.flatten().flatten()
        else:
            raise Unwritable(f"maps as {column.type}")
        return _items(column, join([*write_key(keys), *write_item(items)], len(keys)))

    return write


def _items(column: pa.Array, items: pa.BinaryArray) -> list[Piece]:
    """Return the pieces of lists: their length unless it is 0, the items, and an end mark."""
    starts = column.offsets.to_numpy()
    counts = np.diff(starts).astype(np.int64)
    begun = counts > 0
    return [expand(numbers(counts[begun]), begun), regroup(items, counts), constant(b"\0")]


def _union(schema: Schema, avro: AvroType, settings: AvroSettings) -> PieceWriter:
    if avro.kind is not AvroKind.UNION:
        raise Unwritable("a union as one of its branches")
    places = union_branches(schema, avro, settings)
    writers = [_value(field.schema, avro.branches[places[field.index]], settings) for field in schema.fields]
    nulls = [place for place, one in enumerate(avro.branches) if one.kind is AvroKind.NULL]
    null = nulls[0] if nulls and schema.optional else None
    kinds = [to_arrow_type(field.schema) for field in schema.fields]

    def write(column: pa.Array) -> list[Piece]:
        chosen = np.full(len(column), -1 if null is None else null, np.int64)
        free = column.is_valid().to_numpy(zero_copy_only=False)
        pieces: list[Piece] = []
        for index, one in enumerate(writers):
            part = column.field(index)
            given = part.is_valid().to_numpy(zero_copy_only=False) & free
            free = free & ~given
            chosen[given] = places[index]
            if part.type != kinds[index]:
                raise Unwritable(f"{part.type} for {kinds[index]}")
            pieces += [expand(piece, given) for piece in one(part.filter(pa.array(given)))]
        if (chosen < 0).any():
            raise Unwritable("a union without a value")
        return [numbers(chosen), *pieces]

    return write
