"""Steps that read one field of all rows from the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Schema
from connect_core.converters.arrays import scatter
from connect_core.converters.protobuf.indexes import varint
from connect_core.converters.protobuf.read.column_values import Finish, wire_type
from connect_core.converters.protobuf.wire import LENGTH, Ints, Rows, UnlikeError, packed_varints, texts_of

__all__ = [
    "TEXTS",
    "Columnar",
    "Found",
    "Step",
    "every",
    "message_step",
    "repeated_scalars",
    "scalar_step",
    "spans_of",
    "tag_of",
    "text_step",
    "texts_reader",
]

Columnar: TypeAlias = Callable[[Rows], pa.Array]
"""Reads whole messages into a column."""

Found: TypeAlias = tuple[pa.Array, Ints]
"""A column, and the rows in which the field is set."""

Step: TypeAlias = Callable[[Rows], Found]
"""Reads the next field of all rows."""

TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


def tag_of(one: Any, wire: int) -> bytes:
    """Return the bytes that precede a field's value."""
    return varint(one.number << 3 | wire)


def every(rows: Rows) -> Ints:
    """Return all rows."""
    return np.arange(len(rows))


def _present(rows: Rows, present: Ints) -> pa.BooleanArray:
    mask = np.zeros(len(rows), bool)
    mask[present] = True
    return pa.array(mask)


def scalar_step(one: Any, finish: Finish, always: bool) -> Step:
    """Return the step of a number or enum; ``always``: its default if it is not set."""
    wire = wire_type(one)
    tag = tag_of(one, wire)
    # Explicit defaults, and those of closed enums whose first number is not 0, are left to the runtime.
    is_zero = always and not one.has_default_value and not one.default_value

    def read(rows: Rows) -> Found:
        present = rows.having(tag)
        found = rows.take_scalars(present, len(tag), wire)
        if len(present) == len(rows):
            return finish(found), present
        if not always:
            return scatter(finish(found), _present(rows, present)), present
        if not is_zero:
            raise UnlikeError
        values = np.zeros(len(rows), np.uint64)
        values[present] = found
        return finish(values), present

    return read


def text_step(tag: bytes, always: bool, schema: Schema) -> Step:
    """Return the step of a text or bytes; ``always``: empty if it is not set."""
    kind = to_arrow_type(schema)

    def read(rows: Rows) -> Found:
        present = rows.having(tag)
        column = _cast(spans_of(rows, present, tag), kind)
        if always or len(present) == len(rows):
            return column, present
        return pc.if_else(_present(rows, present), column, pa.scalar(None, kind)), present

    return read


def texts_reader(schema: Schema) -> Columnar:
    """Return the function that reads whole spans as texts or bytes."""
    kind = to_arrow_type(schema)
    return lambda rows: _cast(texts_of(rows.data, rows.cursor, rows.ends), kind)


def spans_of(rows: Rows, present: Ints, tag: bytes) -> pa.BinaryArray:
    """Return the bytes of all rows, empty for rows without the field."""
    starts = rows.cursor.copy()
    ends = starts.copy()
    starts[present], ends[present] = rows.take_spans(present, len(tag))
    return texts_of(rows.data, starts, ends)


def _cast(column: pa.BinaryArray, kind: pa.DataType) -> pa.Array:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid as error:
        raise UnlikeError from error


def message_step(tag: bytes, message: Columnar, always: bool, schema: Schema) -> Step:
    """Return the step of a message; ``always``: an empty one if it is not set."""
    kind = to_arrow_type(schema)

    def read(rows: Rows) -> Found:
        present = rows.having(tag)
        if not always and not len(present):
            return pa.nulls(len(rows), kind), present
        starts, ends = rows.take_spans(present, len(tag))
        if len(present) == len(rows):
            return message(rows.part(starts, ends)), present
        if not always:
            return scatter(message(rows.part(starts, ends)), _present(rows, present)), present
        every_start = rows.cursor.copy()
        every_end = every_start.copy()
        every_start[present], every_end[present] = starts, ends
        return message(rows.part(every_start, every_end)), present

    return read


def repeated_scalars(one: Any, finish: Finish, kind: pa.DataType) -> Step:
    """Return the step of repeated numbers, packed or one by one."""
    wire = wire_type(one)
    packed, single = tag_of(one, LENGTH), tag_of(one, wire)

    def read(rows: Rows) -> Found:
        present = rows.having(packed)
        if len(present):
            texts = spans_of(rows, present, packed)
            values, offsets = _unpacked(texts, wire)
        else:
            values, offsets = rows.take_repeated_scalars(single, wire)
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), finish(values), type=kind), every(rows)

    return read


def _unpacked(texts: pa.BinaryArray, wire: int) -> tuple[Any, Ints]:
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if wire == 0:
        return packed_varints(data, np.diff(bounds))
    width = 8 if wire == 1 else 4
    if bool(np.any(bounds % width)) or data is None:
        raise UnlikeError
    return np.frombuffer(data, f"<u{width}")[: int(bounds[-1]) // width].astype(np.uint64), bounds // width
