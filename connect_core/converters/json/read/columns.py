"""Many JSON messages at once to Arrow columns, with a proof of equal results.

One regular expression, derived from the shape of some rows, must match every
row in full; only then may a columnar parser read them. Rows of several shapes
become objects, and rows that no strict parser reads are left to the record lane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Columns, Objects
from connect_core.api.data import Schema, SchemaType
from connect_core.converters.arrays import scatter
from connect_core.converters.json.read.column_parser import ColumnParserError, parse_columns
from connect_core.converters.json.read.documents import JsonReader, has_special_numbers
from connect_core.converters.json.read.rows import Texts, payload_texts, texts_of
from connect_core.converters.json.read.shapes import (
    ObjectShape,
    Shape,
    merge,
    object_pattern,
    shape_of,
    weight_of,
    width_of,
)
from connect_core.converters.json.read.typed import arrays_of, shape_under, typed_columns
from connect_core.errors import ConnectError

__all__ = ["read_batch", "read_payloads"]

_SAMPLES = 8
_TRIES = 4
_LONG = 1000
_WIDEST = 256
_HEAVIEST = 1024


def read_batch(values: pa.BinaryArray, reader: JsonReader) -> Columns | Objects | None:
    """Return the data of all rows, or ``None`` if only records can be read."""
    rows = values.drop_null() if values.null_count else values
    if not len(rows):
        return Columns(None, pa.nulls(len(values)))
    read = _read_plain(rows) if reader.is_schemaless else _read_typed(rows, reader)
    if read is None or len(rows) == len(values):
        return read
    present = values.is_valid()
    # A Kafka null has no schema, so nulls are only allowed among rows without schema.
    if isinstance(read, Columns):
        return Columns(None, scatter(read.array, present)) if read.schema is None else None
    found = iter(read.values)
    return Objects([None] * len(values), [next(found) if is_present else None for is_present in present.to_pylist()])


def _read_plain(rows: pa.BinaryArray) -> Columns | Objects | None:
    texts = texts_of(rows)
    if texts is None:
        return None
    fields = _read_fields(texts)
    if fields is not None:
        shape, parsed = fields
        return Columns(None, arrays_of(shape, parsed))
    return _read_objects(rows, texts)


def _read_objects(rows: pa.BinaryArray, texts: Texts) -> Objects | None:
    if has_special_numbers(texts.lines()) or not (pc.max(pc.binary_length(rows)).as_py() < _LONG or texts.are_modest()):
        return None
    try:
        return Objects([None] * len(rows), list(map(orjson.loads, rows.to_pylist())))
    except orjson.JSONDecodeError:
        return None


def _read_typed(rows: pa.BinaryArray, reader: JsonReader) -> Columns | None:
    try:
        split = reader.split(rows[0].as_py())
    except ConnectError:
        return None
    if split is None:
        return None
    prefix, schema = split
    wrapped = schema is not None and (schema.type is not SchemaType.STRUCT or schema.optional)
    texts = payload_texts(rows, prefix, wrapped)
    if texts is None:
        return None
    if schema is not None:
        array = read_payloads(texts, schema, wrapped, reader.replace_nulls)
        return None if array is None else Columns(schema, array)
    fields = _read_fields(texts)
    return None if fields is None else Columns(None, arrays_of(*fields))


def read_payloads(texts: Texts, schema: Schema, wrapped: bool, replace_nulls: bool) -> pa.Array | None:
    """Return payloads under a schema as a column, or ``None`` if only records can be read.

    ``wrapped``: each payload is the only member, named ``v``, of an object.
    """
    fields = _read_fields(texts, schema, wrapped)
    return None if fields is None else typed_columns(schema, *fields, replace_nulls, wrapped)


def _read_fields(
    texts: Texts, schema: Schema | None = None, wrapped: bool = False
) -> tuple[ObjectShape, pa.StructArray] | None:
    """Parse rows that provably have one shape; ``None`` if that cannot be proved."""
    try:
        shape = _common_shape(texts, partial(_shape_of, schema, wrapped))
        if shape is None:
            return None
        parsed = parse_columns(texts.rows, shape)
    except (pl.exceptions.ComputeError, ColumnParserError):
        return None
    return (shape, parsed) if len(parsed) == len(texts.rows) else None


def _shape_of(schema: Schema | None, wrapped: bool, node: Any) -> Shape | None:
    if not wrapped:
        return shape_of(node) if schema is None else shape_under(schema, node)
    payload = shape_under(schema, node["v"])
    return None if payload is None else ObjectShape((("v", payload),))


def _common_shape(texts: Texts, of: Callable[[Any], Shape | None]) -> ObjectShape | None:
    count = len(texts.rows)
    places = [count * sample // _SAMPLES for sample in range(min(_SAMPLES, count))]
    escapes = texts.contains(b"\\")
    shape: ObjectShape | None = None
    for _ in range(_TRIES):
        learned = _learn(texts, places, of)
        merged = learned if shape is None else merge([shape, learned])
        if not isinstance(merged, ObjectShape) or merged == shape:
            return None
        shape = merged
        # Before the pattern is made: it doubles with every level of arrays, and would take all memory.
        if width_of(shape) > _WIDEST or weight_of(shape) > _HEAVIEST:
            return None
        matches = texts.matches(object_pattern(shape, escapes))
        unlike = pc.indices_nonzero(pc.invert(matches))
        if len(unlike) == 0:
            return shape
        places = unlike[:_SAMPLES].to_pylist()
    return None


def _learn(texts: Texts, places: list[int], of: Callable[[Any], Shape | None]) -> ObjectShape | None:
    try:
        nodes = [orjson.loads(texts.row(place)) for place in places]
    except orjson.JSONDecodeError:
        return None
    merged = merge([of(node) for node in nodes])
    return merged if isinstance(merged, ObjectShape) else None
