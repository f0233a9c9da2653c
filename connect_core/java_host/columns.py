"""Keys, values and headers of batches as buffers: whole columns if all rows have one schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.arrow import from_arrow_field, to_arrow_type
from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.data import Schema, SchemaAndValue, SchemaType
from connect_core.api.headers import Header, Headers
from connect_core.java_host.frames import Frame
from connect_core.java_host.schemas import SchemaNumbers
from connect_core.java_host.values import ValueReader, write_value

__all__ = [
    "binary_buffers",
    "numbers_buffers",
    "read_array",
    "read_binary",
    "read_data",
    "read_headers",
    "topic_numbers",
    "write_data",
    "write_headers",
]

Json = Any
_EMPTY = b""
_AS_BEFORE = -1
"""In place of a number of headers: those of the row before."""


def read_array(kind: pa.DataType, length: int, buffers: Iterator[pa.Buffer]) -> pa.Array:
    """Return an array of Arrow's layout: buffers in the order of a walk through the type from its root."""
    if pa.types.is_null(kind):
        return pa.nulls(length)
    validity = next(buffers)
    own: list[pa.Buffer | None] = [validity if validity.size else None]
    children: list[pa.Array] = []
    if pa.types.is_struct(kind):
        children = [read_array(kind.field(index).type, length, buffers) for index in range(kind.num_fields)]
    elif pa.types.is_map(kind):
        own.append(offsets := next(buffers))
        entries = pa.struct([kind.key_field, kind.item_field])
        children = [read_array(entries, _last(offsets, length), buffers)]
    elif pa.types.is_list(kind):
        own.append(offsets := next(buffers))
        children = [read_array(kind.value_type, _last(offsets, length), buffers)]
    else:
        own += [next(buffers) for _ in range(2 if _is_binary(kind) else 1)]
    return pa.Array.from_buffers(kind, length, own, children=children or None)


def _last(offsets: pa.Buffer, length: int) -> int:
    return int(np.frombuffer(offsets, np.int32)[length])


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_string(kind))


def read_binary(length: int, buffers: Iterator[pa.Buffer]) -> pa.Array:
    """Return a column of bytes."""
    return read_array(pa.binary(), length, buffers)


def _array_buffers(array: pa.Array) -> list[Any]:
    """Return an array's buffers in the order of ``read_array``, beginning at its first row."""
    whole = pa.concat_arrays([array, array.slice(0, 0)])
    return [_EMPTY if buffer is None else buffer for buffer in _buffers(whole)]


def _buffers(array: pa.Array) -> Iterator[pa.Buffer | None]:
    """Yield an array's buffers, except those of columns of null type."""
    kind = array.type
    if pa.types.is_null(kind):
        return
    if pa.types.is_struct(kind):
        yield array.buffers()[0]
        for index in range(kind.num_fields):
            yield from _buffers(array.field(index))
    elif pa.types.is_map(kind):
        yield from array.buffers()[:3]
        yield from _buffers(array.keys)
        yield from _buffers(array.items)
    elif pa.types.is_list(kind):
        yield from array.buffers()[:2]
        yield from _buffers(array.values)
    else:
        yield from array.buffers()


def binary_buffers(array: pa.Array) -> list[Any]:
    """Return the buffers of a column of bytes."""
    return _array_buffers(array if array.type == pa.binary() else array.cast(pa.binary()))


def numbers_buffers(array: pa.Array) -> list[Any]:
    """Return validity and data of a column of numbers."""
    return _array_buffers(array)


def topic_numbers(topic: pa.Array) -> tuple[list[str], Any]:
    """Return the names in a column of topics, and each row's index among them as int32; -1 for none."""
    encoded = topic if pa.types.is_dictionary(topic.type) else topic.dictionary_encode()
    numbers = encoded.indices.cast(pa.int32()).fill_null(-1)
    return encoded.dictionary.to_pylist(), np.ascontiguousarray(numbers.to_numpy())


def write_data(data: Data, schemas: SchemaNumbers, buffers: list[Any]) -> Json:
    """Add the keys or values of a batch to ``buffers`` → their description for the header."""
    columns = data.to_columns()
    if columns is not None:
        return _write_columns(columns, schemas, buffers)
    objects = data.to_objects()
    numbers = np.array([schemas.number_of(schema) for schema in objects.schemas], np.int32)
    out = bytearray()
    for schema, value in zip(objects.schemas, objects.values, strict=True):
        write_value(out, value, schema, schemas.number_of)
    buffers += [numbers, out]
    return {"kind": "values"}


def _write_columns(columns: Columns, schemas: SchemaNumbers, buffers: list[Any]) -> Json:
    array, schema = columns.array, columns.schema
    if schema is None:
        if array.null_count == len(array):
            return {"kind": "schemaless", "schema": -1}
        schema = _layout(array.type)
    kind = to_arrow_type(schema)
    buffers += _array_buffers(array if array.type == kind else array.cast(kind))
    return {"kind": "schemaless" if columns.schema is None else "column", "schema": schemas.number_of(schema)}


def _layout(kind: pa.DataType) -> Schema:
    """Return the schema that describes a schemaless column's buffers."""
    return from_arrow_field(pa.field("value", _without_nulls(kind), nullable=True))


def _without_nulls(kind: pa.DataType) -> pa.DataType:
    """Return the type with text in place of null: schemas have no type for it."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([(kind.field(i).name, _without_nulls(kind.field(i).type)) for i in range(kind.num_fields)])
    return pa.list_(_without_nulls(kind.value_type)) if pa.types.is_list(kind) else kind


def read_data(said: Json, length: int, buffers: Iterator[pa.Buffer], schemas: SchemaNumbers) -> Data:
    """Return the keys or values of a batch, as ``write_data`` and the host write them."""
    if said["kind"] == "values":
        return _read_values(length, buffers, schemas)
    schema = schemas.numbered(said["schema"])
    if schema is None:
        return Columns(None, pa.nulls(length))
    array = read_array(to_arrow_type(schema), length, buffers)
    if said["kind"] == "column":
        return Columns(schema, array)
    return Columns(None, array.cast(_bare(schema)) if _is_described(schema) else array)


def _is_described(schema: Schema) -> bool:
    return schema.type in (SchemaType.STRUCT, SchemaType.ARRAY)


def _bare(schema: Schema) -> pa.DataType:
    """Return the Arrow type of a schemaless column: its fields have no metadata of schemas."""
    if schema.type is SchemaType.STRUCT:
        return pa.struct([(field.name, _bare(field.schema)) for field in schema.fields])
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return pa.list_(_bare(schema.value_schema))
    return to_arrow_type(schema)


def _read_values(length: int, buffers: Iterator[pa.Buffer], schemas: SchemaNumbers) -> Objects:
    numbers = np.frombuffer(next(buffers), np.int32, length).tolist()
    reader = ValueReader(memoryview(next(buffers)), schemas.numbered)
    return Objects([schemas.numbered(number) for number in numbers], [reader.read() for _ in range(length)])


def write_headers(
    headers: Sequence[Headers] | None, schemas: SchemaNumbers, header: dict[str, Json], buffers: list[Any]
) -> None:
    """Add the headers of a batch, if it has any."""
    every = [one for row in headers or () for one in row]
    if not every or headers is None:
        return
    header["headers"] = len(every)
    buffers.append(np.array([len(row) for row in headers], np.int32))
    buffers += _array_buffers(pa.array([one.key.encode() for one in every], pa.binary()))
    data = Objects([one.schema for one in every], [one.value for one in every])
    header["headerValues"] = write_data(data, schemas, buffers)


def read_headers(
    frame: Frame, length: int, buffers: Iterator[pa.Buffer], schemas: SchemaNumbers
) -> tuple[Headers, ...] | None:
    """Return the headers of a batch, ``None`` if it has none; as bytes if the host has converted them.

    Rows with the headers of the row before share them, where the host has converted them.
    """
    size = frame.header.get("headers", 0)
    if not size:
        return None
    counts = np.frombuffer(next(buffers), np.int32, length).tolist()
    names = [name.decode() for name in read_binary(size, buffers).to_pylist()]
    said = frame.header.get("headerValues")
    if said is None:
        data = [SchemaAndValue(None, value) for value in read_binary(size, buffers).to_pylist()]
    else:
        objects = read_data(said, size, buffers, schemas).to_objects()
        data = [SchemaAndValue(*pair) for pair in zip(objects.schemas, objects.values, strict=True)]
    every = iter([Header(name, one.schema, one.value) for name, one in zip(names, data, strict=True)])
    rows: list[Headers] = []
    for own in counts:
        rows.append(rows[-1] if own == _AS_BEFORE else Headers([next(every) for _ in range(own)]))
    return tuple(rows)
