"""Readers of many bodies at once as Arrow columns, compiled for an Avro schema and its Connect schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Schema
from connect_core.converters.arrays import scatter
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.read.bodies import Bodies, Positions, Unreadable
from connect_core.converters.avro.read.items import list_reader, map_reader
from connect_core.converters.avro.read.leaves import leaf_reader
from connect_core.converters.avro.schemas.model import AvroKind, AvroType, optional_of
from connect_core.converters.avro.schemas.names import branch_name, is_map_entry

__all__ = ["ColumnReader", "column_reader", "read_column"]

Mask = npt.NDArray[np.bool_]
ColumnReader: TypeAlias = Callable[[Bodies, Positions], tuple[pa.Array, Positions]]
"""Takes the start of each value and returns the values and the end of each."""


def read_column(read: ColumnReader, bodies: Bodies, starts: Positions, ends: Positions) -> pa.Array:
    """Return the values of bodies between positions. Raise Unreadable unless each is read exactly to its end."""
    array, reached = read(bodies, starts)
    if not np.array_equal(reached, ends):
        raise Unreadable("a message is longer or shorter than its value")
    return array


def column_reader(avro: AvroType, schema: Schema | None, settings: AvroSettings) -> ColumnReader:
    """Return a reader of columns. Raise Unreadable for a schema with values that columns cannot hold."""
    if schema is None:
        raise Unreadable("schemaless values")
    if avro.kind is AvroKind.UNION:
        return _union(avro, schema, settings)
    if avro.kind is AvroKind.RECORD:
        return _record(avro, schema, settings)
    if avro.kind is AvroKind.MAP:
        text = AvroType(AvroKind.STRING)
        return map_reader(schema, _pair((text, schema.key_schema), (avro.part(), schema.value_schema), settings))
    if avro.kind is not AvroKind.ARRAY:
        return leaf_reader(avro, schema)
    if not is_map_entry(avro.part()):
        return list_reader(schema, column_reader(avro.part(), schema.value_schema, settings))
    key, value = avro.part().fields
    if key.name != "key":
        raise Unreadable("entries with their value first")
    pair = _pair((key.type, schema.key_schema), (value.type, schema.value_schema), settings)
    return map_reader(schema, pair)


def _pair(
    first: tuple[AvroType, Schema | None], second: tuple[AvroType, Schema | None], settings: AvroSettings
) -> ColumnReader:
    """Return a reader of nameless structs, from which a map is built."""
    read_key, read_item = column_reader(*first, settings), column_reader(*second, settings)

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        keys, at = read_key(bodies, at)
        items, at = read_item(bodies, at)
        return pa.StructArray.from_arrays([keys, items], names=["key", "value"]), at

    return read


def _record(avro: AvroType, schema: Schema, settings: AvroSettings) -> ColumnReader:
    parts = zip(avro.fields, schema.fields, strict=True)
    readers = [column_reader(field.type, one.schema, settings) for field, one in parts]
    kind = to_arrow_type(schema)

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        rows, columns = len(at), []
        for one in readers:
            column, at = one(bodies, at)
            columns.append(column)
        return _structs(kind, columns, rows), at

    return read


def _structs(kind: pa.StructType, columns: list[pa.Array], rows: int, mask: Mask | None = None) -> pa.StructArray:
    """Return columns as structs, null where the mask is true."""
    if columns:
        nulls = None if mask is None else pa.array(mask)
        return pa.StructArray.from_arrays(columns, fields=list(kind), mask=nulls)
    validity = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(kind, rows, [validity])


def _union(avro: AvroType, schema: Schema, settings: AvroSettings) -> ColumnReader:
    places = optional_of(avro)
    if places is not None:
        return _optional(column_reader(avro.branches[places[1]], schema, settings), places[0], to_arrow_type(schema))
    if settings.flatten and len(avro.branches) == 1:
        return _single(column_reader(avro.branches[0], schema, settings))
    return _branches(avro, schema, settings)


def _optional(read: ColumnReader, null: int, kind: pa.DataType) -> ColumnReader:
    def read_optional(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        places, at = bodies.places(at, 2)
        given = places != null
        count = int(np.count_nonzero(given))
        if count == len(given):
            return read(bodies, at)
        if count == 0:
            return pa.nulls(len(given), kind), at
        values, ends = read(bodies, at[given])
        at[given] = ends
        return scatter(values, pa.array(given)), at

    return read_optional


def _single(read: ColumnReader) -> ColumnReader:
    def read_single(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        _, at = bodies.places(at, 1)
        return read(bodies, at)

    return read_single


def _branches(avro: AvroType, schema: Schema, settings: AvroSettings) -> ColumnReader:
    kind = to_arrow_type(schema)
    readers: list[ColumnReader | None] = []
    for place, one in enumerate(avro.branches):
        field = None if one.kind is AvroKind.NULL else schema.field(branch_name(one, place, settings))
        readers.append(None if field is None else column_reader(one, field.schema, settings))

    def read(bodies: Bodies, at: Positions) -> tuple[pa.Array, Positions]:
        places, at = bodies.places(at, len(readers))
        columns = []
        for place, one in enumerate(readers):
            if one is None:
                continue
            given = places == place
            values, ends = one(bodies, at[given])
            at[given] = ends
            columns.append(scatter(values, pa.array(given)))
        nulls = [place for place, one in enumerate(readers) if one is None]
        return _structs(kind, columns, len(at), np.isin(places, nulls) if nulls else None), at

    return read
