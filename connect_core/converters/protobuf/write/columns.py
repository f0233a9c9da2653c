"""Arrow columns to many messages at once: the same bytes as in the record lane, or UnlikeError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.data import Schema, SchemaType
from connect_core.converters.arrays import default_array
from connect_core.converters.protobuf.config import ProtobufSettings
from connect_core.converters.protobuf.indexes import varint
from connect_core.converters.protobuf.logical import LOGICAL_WRITERS
from connect_core.converters.protobuf.names import WRAPPED_TYPES, is_union, scrubbed
from connect_core.converters.protobuf.read.column_values import wire_type
from connect_core.converters.protobuf.wire import FIXED32, LENGTH, VARINT, UnlikeError
from connect_core.converters.protobuf.write.logical_columns import logical_fields
from connect_core.converters.protobuf.write.values import enum_numbers
from connect_core.converters.protobuf.write.wire import (
    fixed_column,
    framed_column,
    joined,
    joined_lists,
    varint_column,
)

__all__ = ["ColumnEncoder"]

Flags = npt.NDArray[np.bool_]
Bodies: TypeAlias = Callable[[pa.Array], pa.BinaryArray]
"""Converts a column's rows to message bodies, which are never null; the bodies of null rows are undefined."""

Piece: TypeAlias = Callable[[pa.Array], pa.BinaryArray]
"""Converts a column's rows to a field's tag and value, empty if the field is not written."""

_Field = FieldDescriptor
_TEXTS = (_Field.TYPE_STRING, _Field.TYPE_BYTES)
_ZIGZAG = (_Field.TYPE_SINT32, _Field.TYPE_SINT64)
_LOW = (_Field.TYPE_UINT32, _Field.TYPE_FIXED32, _Field.TYPE_SFIXED32)


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """Writes columns with one converter's settings."""

    settings: ProtobufSettings

    def root(self, descriptor: Any, schema: Schema) -> Bodies:
        """Return the function that writes whole messages. Raise UnlikeError if only records can be written."""
        if schema.type is SchemaType.STRUCT:
            return self._message(descriptor, schema)
        return self.wrapped(descriptor, schema)

    def wrapped(self, descriptor: Any, schema: Schema) -> Bodies:
        """Return the function that writes scalars as wrapper messages."""
        return self._single(descriptor.fields[0], schema)

    def _message(self, descriptor: Any, schema: Schema) -> Bodies:
        if is_union(schema):
            raise UnlikeError
        pieces: list[tuple[int, int, Piece]] = []
        for one in schema.fields:
            name = scrubbed(one.name) if self.settings.scrub_names else one.name
            field = descriptor.fields_by_name.get(name)
            if field is None:
                raise UnlikeError
            pieces.append((field.number, one.index, self._with_default(one.schema, self._field(field, one.schema))))
        pieces.sort(key=lambda piece: piece[0])
        return lambda array: joined([write(array.field(place)) for _, place, write in pieces], len(array))

    def _with_default(self, schema: Schema, piece: Piece) -> Piece:
        if schema.default is None or self.settings.ignore_defaults:
            return piece

        def write(column: pa.Array) -> pa.BinaryArray:
            if not column.null_count:
                return piece(column)
            default = default_array(schema)
            if default is None or pa.types.is_nested(column.type) or default.type != column.type:
                raise UnlikeError
            return piece(column.fill_null(default[0]))

        return write

    def _field(self, one: Any, schema: Schema) -> Piece:
        if schema.type is SchemaType.ARRAY:
            assert schema.value_schema is not None
            return self._repeated(one, schema.value_schema)
        if schema.type is SchemaType.MAP:
            return self._map(one, schema)
        return self._single(one, schema)

    def _single(self, one: Any, schema: Schema) -> Piece:
        number, always = one.number, one.has_presence
        if one.type == _Field.TYPE_MESSAGE:
            bodies = self._bodies(one.message_type, schema)
            tag = varint(number << 3 | LENGTH)
            return lambda column: framed_column(bodies(column), _valid(column), tag)
        if one.type in _TEXTS:
            return _texts(varint(number << 3 | LENGTH), always)
        tag = varint(number << 3 | wire_type(one))
        return _scalars(tag, wire_type(one), self._numbers(one, schema), always)

    def _bodies(self, descriptor: Any, schema: Schema) -> Bodies:
        if schema.name in LOGICAL_WRITERS:
            return logical_fields(schema)
        if descriptor.full_name in WRAPPED_TYPES and schema.type is not SchemaType.STRUCT:
            return self.wrapped(descriptor, schema)
        if schema.type is not SchemaType.STRUCT:
            raise UnlikeError
        return self._message(descriptor, schema)

    def _repeated(self, one: Any, schema: Schema) -> Piece:
        tag = varint(one.number << 3 | LENGTH)
        if one.type == _Field.TYPE_MESSAGE:
            bodies = self._bodies(one.message_type, schema)
            return _lists(lambda values: framed_column(bodies(values), _all(values), tag))
        if one.type in _TEXTS:
            return _lists(_texts(tag, always=True))
        packed = _lists(_scalars(b"", wire_type(one), self._numbers(one, schema), always=True))

        def write(column: pa.Array) -> pa.BinaryArray:
            bodies = packed(column)
            return framed_column(bodies, _lengths(bodies) > 0, tag)

        return write

    def _numbers(self, one: Any, schema: Schema) -> Callable[[pa.Array], Any]:
        """Return the function that converts a column to its numbers on the wire, undefined for nulls."""
        if one.type == _Field.TYPE_ENUM and schema.type is SchemaType.STRING:
            return _enum(enum_numbers(schema, self.settings))
        return _plain_numbers(one)

    def _map(self, one: Any, schema: Schema) -> Piece:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        tag = varint(one.number << 3 | LENGTH)
        parts = zip(one.message_type.fields, (schema.key_schema, schema.value_schema), strict=True)
        key, value = (self._field(part, part_schema) for part, part_schema in parts)

        def write(column: pa.Array) -> pa.BinaryArray:
            entries, offsets = _entries(column)
            bodies = joined([key(entries[0]), value(entries[1])], len(entries[0]))
            return joined_lists(framed_column(bodies, _all(bodies), tag), offsets)

        return write


def _entries(column: pa.Array) -> tuple[tuple[pa.Array, pa.Array], npt.NDArray[np.int64]]:
    if pa.types.is_map(column.type):
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        parts = column.keys.slice(start, end - start), column.items.slice(start, end - start)
    else:
        values = column.values.slice(column.offsets[0].as_py(), column.offsets[-1].as_py() - column.offsets[0].as_py())
        parts = values.field(0), values.field(1)
    return parts, _list_offsets(column)


def _list_offsets(column: pa.Array) -> npt.NDArray[np.int64]:
    offsets: npt.NDArray[np.int64] = column.offsets.to_numpy().astype(np.int64)
    if column.null_count and bool(np.any(np.diff(offsets)[~_valid(column)])):
        raise UnlikeError
    moved: npt.NDArray[np.int64] = offsets - offsets[0]
    return moved


def _lists(elements: Piece) -> Piece:
    def write(column: pa.Array) -> pa.BinaryArray:
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        values = column.values.slice(first, last - first)
        if values.null_count:
            raise UnlikeError
        return joined_lists(elements(values), _list_offsets(column))

    return write


def _texts(tag: bytes, always: bool) -> Piece:
    def write(column: pa.Array) -> pa.BinaryArray:
        data = column.cast(pa.binary()).fill_null(b"")
        present = _valid(column) if always else _lengths(data) > 0
        return framed_column(data, present, tag)

    return write


def _scalars(tag: bytes, wire: int, numbers: Callable[[pa.Array], Any], always: bool) -> Piece:
    def write(column: pa.Array) -> pa.BinaryArray:
        found = numbers(column)
        bits = found.view(f"u{found.dtype.itemsize}")
        present = _valid(column)
        if not always:
            present = present & (bits != 0)
        if wire == VARINT:
            return varint_column(bits, present, tag)
        return fixed_column(bits.astype("<u4" if wire == FIXED32 else "<u8"), present, tag)

    return write


def _plain_numbers(one: Any) -> Callable[[pa.Array], Any]:
    if one.type in (_Field.TYPE_FLOAT, _Field.TYPE_DOUBLE):
        kind = np.float32 if one.type == _Field.TYPE_FLOAT else np.float64
        return lambda column: column.fill_null(0.0).to_numpy(zero_copy_only=False).astype(kind)
    if one.type == _Field.TYPE_BOOL:
        return lambda column: column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint64)

    def integers(column: pa.Array) -> Any:
        found = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        if one.type in _ZIGZAG:
            return ((found << 1) ^ (found >> 63)).view(np.uint64)
        bits = found.view(np.uint64)
        return bits & np.uint64(0xFFFF_FFFF) if one.type in _LOW else bits

    return integers


def _enum(numbers: dict[str, int]) -> Callable[[pa.Array], Any]:
    def write(column: pa.Array) -> Any:
        names = column.dictionary_encode()
        known = [numbers.get(name) for name in names.dictionary.to_pylist()]
        if None in known:
            raise UnlikeError
        values = np.array([*known, 0], np.int64)
        return values[names.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)].view(np.uint64)

    return write


def _valid(column: pa.Array) -> Flags:
    found: Flags = column.is_valid().to_numpy(zero_copy_only=False)
    return found


def _all(column: pa.Array) -> Flags:
    return np.ones(len(column), np.bool_)


def _lengths(column: pa.BinaryArray) -> npt.NDArray[np.int64]:
    _, offsets, _ = column.buffers()
    return np.diff(np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]).astype(np.int64)
