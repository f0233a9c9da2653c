"""Many messages at once to Arrow columns, directly from the wire: each field of all rows before the next one.

Returns the results of the record lane, or raises UnlikeError if the wire form is unusual
or columns cannot hold it: a map with a duplicate key, values without a column form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor

from connect_core.api.arrow import to_arrow_type
from connect_core.api.data import Schema, SchemaType
from connect_core.converters.protobuf.logical import LOGICAL_READERS
from connect_core.converters.protobuf.read.column_values import finisher, logical_column, wire_type
from connect_core.converters.protobuf.read.steps import (
    TEXTS,
    Columnar,
    Found,
    Step,
    every,
    message_step,
    repeated_scalars,
    scalar_step,
    spans_of,
    tag_of,
    text_step,
    texts_reader,
)
from connect_core.converters.protobuf.read.values import Reader, is_always_read, is_unwrapped
from connect_core.converters.protobuf.schemas.to_connect import union_field_name
from connect_core.converters.protobuf.wire import LENGTH, Ints, Rows, UnlikeError

__all__ = ["ColumnReader", "Columnar"]


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Reads messages of one registered schema into columns."""

    reader: Reader

    def root(self, descriptor: Any, schema: Schema) -> Columnar:
        """Return the function that reads whole messages of a schema."""
        if is_unwrapped(descriptor, schema):
            return self._unwrapped(descriptor, schema)
        return self._struct(descriptor, schema)

    def _struct(self, descriptor: Any, schema: Schema) -> Columnar:
        messages = self.reader.messages
        steps = [(one, self._step(one, self._schema_of(one, schema))) for one in descriptor.fields]
        steps.sort(key=lambda step: step[0].number)
        flat = self.reader.settings.flatten_unions
        oneofs = messages.oneofs(descriptor)
        unions = {} if flat else {one.name: union_field_name(one, self.reader.settings) for one in oneofs}
        kind, fields = to_arrow_type(schema), [one.name for one in schema.fields]
        kinds = {one.name: one.schema for one in schema.fields}

        def read(rows: Rows) -> pa.Array:
            columns: dict[str, pa.Array] = {}
            members: dict[str, dict[str, Found]] = {one.name: {} for one in oneofs}
            for one, step in steps:
                found = step(rows)
                if messages.facts(one).is_required and len(found[1]) < len(rows):
                    raise UnlikeError
                columns[one.name] = found[0]
                oneof = messages.oneof_of(one)
                if oneof is not None:
                    members[oneof.name][one.name] = found
            rows.finish()
            for name, found_members in members.items():
                _refuse_several(found_members, len(rows))
                if name in unions:
                    columns[unions[name]] = _union(found_members, kinds[unions[name]], len(rows))
            if not fields:
                return pa.array([{}] * len(rows), kind)
            return pa.StructArray.from_arrays([columns[name] for name in fields], fields=list(kind))

        return read

    def _schema_of(self, one: Any, schema: Schema) -> Schema:
        oneof = self.reader.messages.oneof_of(one)
        if oneof is not None and not self.reader.settings.flatten_unions:
            union = schema.field(union_field_name(oneof, self.reader.settings))
            assert union is not None
            schema = union.schema
        field = schema.field(one.name)
        assert field is not None
        return field.schema

    def _step(self, one: Any, schema: Schema) -> Step:
        messages = self.reader.messages
        if schema.type is SchemaType.MAP and messages.is_map(one):
            return self._map(one, schema)
        if messages.facts(one).is_repeated:
            return self._repeated(one, schema)
        always = messages.oneof_of(one) is None and is_always_read(one, messages, self.reader.settings)
        if one.type == FieldDescriptor.TYPE_MESSAGE:
            return message_step(tag_of(one, LENGTH), self._message(one.message_type, schema), always, schema)
        if one.type in TEXTS:
            return text_step(tag_of(one, LENGTH), always, schema)
        return scalar_step(one, finisher(one, schema), always)

    def _message(self, descriptor: Any, schema: Schema) -> Columnar:
        if schema.name in LOGICAL_READERS:
            return logical_column(self._numbers(descriptor), schema)
        return self.root(descriptor, schema)

    def _numbers(self, descriptor: Any) -> Callable[[Rows], dict[str, Any]]:
        """Return the function that reads a message of numbers and bytes, as arrays by field name."""
        fields = sorted(descriptor.fields, key=lambda one: one.number)

        def read(rows: Rows) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for one in fields:
                if one.type in TEXTS:
                    found[one.name] = spans_of(rows, rows.having(tag_of(one, LENGTH)), tag_of(one, LENGTH))
                    continue
                values = np.zeros(len(rows), np.int64)
                tag = tag_of(one, wire_type(one))
                present = rows.having(tag)
                values[present] = rows.take_scalars(present, len(tag), wire_type(one)).view(np.int64)
                found[one.name] = (
                    values if one.type == FieldDescriptor.TYPE_INT64 else values.astype(np.int32).astype(np.int64)
                )
            rows.finish()
            return found

        return read

    def _unwrapped(self, descriptor: Any, schema: Schema) -> Columnar:
        (one,) = descriptor.fields
        tag = tag_of(one, LENGTH)
        step = text_step(tag, True, schema) if one.type in TEXTS else scalar_step(one, finisher(one, schema), True)

        def read(rows: Rows) -> pa.Array:
            column, _ = step(rows)
            rows.finish()
            return column

        return read

    def _repeated(self, one: Any, schema: Schema) -> Step:
        element, kind = schema.value_schema, to_arrow_type(schema)
        assert element is not None
        tag = tag_of(one, LENGTH)
        if one.type == FieldDescriptor.TYPE_MESSAGE:
            values = self._message(one.message_type, element)
        elif one.type in TEXTS:
            values = texts_reader(element)
        else:
            return repeated_scalars(one, finisher(one, element), kind)

        def read(rows: Rows) -> Found:
            starts, ends, offsets = rows.take_repeated_spans(tag)
            column = values(rows.part(starts, ends))
            return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), column, type=kind), every(rows)

        return read

    def _map(self, one: Any, schema: Schema) -> Step:
        tag, kind = tag_of(one, LENGTH), to_arrow_type(schema)
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        parts = zip(one.message_type.fields, (schema.key_schema, schema.value_schema), strict=True)
        # A missing key or value of an entry is its default, even a message.
        steps = [self._entry_step(part, part_schema) for part, part_schema in parts]

        def read(rows: Rows) -> Found:
            starts, ends, offsets = rows.take_repeated_spans(tag)
            entries = rows.part(starts, ends)
            keys, items = (step(entries)[0] for step in steps)
            entries.finish()
            places = pa.array(offsets.astype(np.int32))
            _refuse_twice(keys, offsets)
            if pa.types.is_map(kind):
                return pa.MapArray.from_arrays(places, keys, items, type=kind), every(rows)
            pairs = pa.StructArray.from_arrays([keys, items], fields=list(kind.value_type))
            return pa.ListArray.from_arrays(places, pairs, type=kind), every(rows)

        return read

    def _entry_step(self, one: Any, schema: Schema) -> Step:
        if one.type == FieldDescriptor.TYPE_MESSAGE:
            return message_step(tag_of(one, LENGTH), self._message(one.message_type, schema), True, schema)
        if one.type in TEXTS:
            return text_step(tag_of(one, LENGTH), True, schema)
        return scalar_step(one, finisher(one, schema), True)


def _union(members: dict[str, Found], schema: Schema, length: int) -> pa.StructArray:
    kind = to_arrow_type(schema)
    unset = np.ones(length, bool)
    for _, present in members.values():
        unset[present] = False
    columns = [members[one.name][0] for one in schema.fields]
    return pa.StructArray.from_arrays(columns, fields=list(kind), mask=pa.array(unset))


def _refuse_several(members: dict[str, Found], length: int) -> None:
    """Raise UnlikeError if a row has more than one field of a oneof, since the last one counts."""
    counts = sum(
        (np.bincount(present, minlength=length) for _, present in members.values()), np.zeros(length, np.int64)
    )
    if len(counts) and int(counts.max()) > 1:
        raise UnlikeError


def _refuse_twice(keys: pa.Array, offsets: Ints) -> None:
    """Raise UnlikeError if a key occurs twice in one map, since the later one counts."""
    if not pa.types.is_primitive(keys.type) and not pa.types.is_string(keys.type) and len(keys):
        raise UnlikeError
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pairs = pa.table({"row": rows, "key": keys}).group_by(["row", "key"]).aggregate([])
    if pairs.num_rows < len(keys):
        raise UnlikeError
