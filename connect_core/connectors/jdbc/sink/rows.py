"""Records as rows of one table: named Arrow columns, with each row's place in Kafka."""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import from_arrow_field, to_arrow_array
from connect_core.api.batch import Batch, Columns, Data, Objects
from connect_core.api.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, Decimal, Schema, SchemaType
from connect_core.connectors.jdbc.sink.config import KeyMode, SinkSettings
from connect_core.connectors.jdbc.sink.fitting import json_text, shown_value
from connect_core.connectors.partitioning import by_topic
from connect_core.errors import DataError

__all__ = ["FieldColumn", "Places", "Rows", "rows_of_batch"]

_MOST_DIGITS = 76
"""Maximum of Arrow's decimals."""


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """One column to write. ``schema`` is the field's; for schemaless data, it is derived from the values."""

    name: str
    schema: Schema
    array: pa.Array
    is_key: bool = False

    def take(self, rows: pa.Array) -> FieldColumn:
        """Return the given rows."""
        return replace(self, array=self.array.take(rows))


@dataclass(frozen=True, slots=True)
class Places:
    """The place of each row in Kafka: topic, partition and offset arrays."""

    topic: pa.Array
    partition: pa.Array
    offset: pa.Array

    def take(self, rows: pa.Array) -> Places:
        """Return the given rows."""
        return Places(self.topic.take(rows), self.partition.take(rows), self.offset.take(rows))

    def text(self, row: int) -> str:
        """Return one row's place, for a message."""
        return f"topic {self.topic[row]}, partition {self.partition[row]}, offset {self.offset[row]}"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with the same schemas for the table of one topic.

    ``deleted`` marks tombstones, of which only key columns are used. ``schema`` is the value's; ``None`` for schemaless
    data, and if all rows are tombstones.
    """

    topic: str
    schema: Schema | None
    columns: tuple[FieldColumn, ...]
    deleted: pa.Array
    places: Places
    is_schemaless: bool = False

    def __len__(self) -> int:
        return len(self.deleted)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return tuple(column.name for column in self.columns if column.is_key)

    def take(self, rows: pa.Array) -> Rows:
        """Return the given rows (int64 indices)."""
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, deleted=self.deleted.take(rows), places=self.places.take(rows))

    def slice(self, begin: int, count: int) -> Rows:
        """Return ``count`` rows from ``begin`` on."""
        return self.take(pa.array(range(begin, min(begin + count, len(self))), pa.int64()))

    def key_text(self, row: int) -> str:
        """Return one row's key, for a message."""
        return (
            ", ".join(f"{column.name}={shown_value(column.array, row)}" for column in self.columns if column.is_key)
            or "none"
        )


def rows_of_batch(batch: Batch, settings: SinkSettings) -> Iterator[Rows]:
    """Return a batch's rows by topic, in order within each. Raises DataError naming the place."""
    for topic, part in by_topic(batch):
        for piece in _uniform(part):
            places = _places(piece)
            try:
                yield _rows(topic, piece, places, settings)
            except DataError as error:
                raise DataError(f"{places.text(0)}: {error}") from error


def _uniform(batch: Batch) -> Iterator[Batch]:
    """Return the batch, split wherever a schema changes, or the keys of schemaless maps."""
    if isinstance(batch.key, Columns) and isinstance(batch.value, Columns):
        yield batch
        return
    count = len(batch)
    shapes = zip(_shapes(batch.key, count), _shapes(batch.value, count), strict=True)
    begin = 0
    for _, run in groupby(shapes):
        end = begin + len(list(run))
        yield batch if end - begin == count else batch.take(pa.array(range(begin, end), pa.int64()))
        begin = end


def _shapes(data: Data, count: int) -> Sequence[Any]:
    """Return for each row what must be equal within one run; a null has the shape of the row before it."""
    if isinstance(data, Columns):
        return [None] * count
    shapes: list[Any] = []
    for schema, value in zip(data.schemas, data.values, strict=True):
        if value is None and shapes:
            shapes.append(shapes[-1])
        else:
            shapes.append(tuple(value) if schema is None and isinstance(value, dict) else schema)
    return shapes


def _places(batch: Batch) -> Places:
    topic, partition = batch.original or (batch.topic, batch.partition)
    return Places(topic.cast(pa.string()), partition, batch.offset)


def _rows(topic: str, batch: Batch, places: Places, settings: SinkSettings) -> Rows:
    schema, fields = _value_fields(batch.value)
    deleted = _is_null(batch.value)
    _check_tombstones(deleted, places, settings)
    if pc.all(deleted).as_py():
        schema, fields = None, ()
    keys = _key_columns(batch, fields, places, settings)
    names = {column.name for column in keys}
    included = settings.included
    values = tuple(one for one in fields if one.name not in names and (not included or one.name in included))
    is_schemaless = bool(fields) and schema is None
    return Rows(topic, schema, (*keys, *values), deleted, places, is_schemaless)


def _check_tombstones(deleted: pa.Array, places: Places, settings: SinkSettings) -> None:
    if settings.deletes or not pc.any(deleted).as_py():
        return
    row = pc.index(deleted, True).as_py()
    raise DataError(
        f"the record at offset {places.offset[row]} has no value; set delete.enabled=true with pk.mode=record_key to "
        "delete its row, or drop it with the transform Filter and the predicate RecordIsTombstone"
    )


def _is_null(data: Data) -> pa.Array:
    if isinstance(data, Columns):
        return data.array.is_null()
    return pa.array([value is None for value in data.values], pa.bool_())


def _value_fields(data: Data) -> tuple[Schema | None, tuple[FieldColumn, ...]]:
    columns = _columns(data, "value")
    array, schema = columns.array, columns.schema
    if schema is not None and schema.type is not SchemaType.STRUCT:
        raise DataError(
            f"the value is {schema.type}, not a struct with a field for each column; create one with the transform "
            "HoistField"
        )
    if schema is None and not (pa.types.is_struct(array.type) or pa.types.is_null(array.type)):
        raise DataError(f"the value is {array.type}, not a map with a field for each column; use HoistField")
    return schema, () if pa.types.is_null(array.type) else _fields(schema, array)


def _fields(schema: Schema | None, array: pa.StructArray) -> tuple[FieldColumn, ...]:
    children = array.flatten()
    if schema is None:
        return tuple(_schemaless(field, child) for field, child in zip(array.type, children, strict=True))
    return tuple(
        FieldColumn(field.name, field.schema, _with_default(field.schema, child, array))
        for field, child in zip(schema.fields, children, strict=True)
    )


def _with_default(schema: Schema, child: pa.Array, parent: pa.Array) -> pa.Array:
    """Return a field's values as ``Struct.get`` does: a null becomes the default, if there is one."""
    if schema.default is None or child.null_count == parent.null_count:
        return child
    default = to_arrow_array(schema, [schema.default])
    return child if default is None else pc.if_else(pc.and_(child.is_null(), parent.is_valid()), default[0], child)


def _schemaless(field: pa.Field, array: pa.Array) -> FieldColumn:
    if pa.types.is_nested(field.type) and _has_nulls_only(field.type):
        # There is no Connect type for what is always null within a nested value.
        array = _field(array.to_pylist(), f"field {field.name}")
        field = field.with_type(array.type)
    return FieldColumn(field.name, _guessed(field), array)


def _has_nulls_only(type: pa.DataType) -> bool:
    return pa.types.is_null(type) or any(_has_nulls_only(type.field(at).type) for at in range(type.num_fields))


def _guessed(field: pa.Field) -> Schema:
    """Return a schema derived from schemaless values; text if all are null."""
    return STRING_SCHEMA if pa.types.is_null(field.type) else from_arrow_field(field)


def _columns(data: Data, what: str) -> Columns:
    if isinstance(data, Columns):
        return data
    valid = [row for row, value in enumerate(data.values) if value is not None]
    schema = data.schemas[valid[0]] if valid else next((one for one in data.schemas if one is not None), None)
    if schema is None:
        return data.to_columns() or _scalars(data, what)
    array = _array(schema, [data.values[row] for row in valid])
    if array is None:
        raise DataError(f"the {what} does not fit a column of its schema's type")
    if len(valid) < len(data.values):
        places = {row: place for place, row in enumerate(valid)}
        array = array.take(pa.array([places.get(row) for row in range(len(data.values))], pa.int64()))
    return Columns(schema, array)


def _array(schema: Schema, values: Sequence[Any]) -> pa.Array | None:
    """Return values as a column, with decimals of up to 76 digits; ``None`` if they do not fit."""
    array = to_arrow_array(schema, values)
    if array is not None:
        return array
    if schema.type is SchemaType.STRUCT and all(value.schema == schema for value in values):
        columns = zip(*(value.values for value in values), strict=True)
        children = [_array(field.schema, column) for field, column in zip(schema.fields, columns, strict=True)]
        known = [child for child in children if child is not None]
        names = [field.name for field in schema.fields]
        return pa.StructArray.from_arrays(known, names=names) if len(known) == len(children) else None
    if schema.name != Decimal.LOGICAL_NAME or not all(isinstance(one, decimal.Decimal | None) for one in values):
        return None
    try:
        return pa.array(values, pa.decimal256(_MOST_DIGITS, Decimal.scale(schema)))
    except pa.ArrowInvalid:
        return None


def _scalars(data: Objects, what: str) -> Columns:
    """Return schemaless values as one column: maps of one shape, or plain values."""
    maps = [value for value in data.values if isinstance(value, dict)]
    if not maps:
        return Columns(None, _plain(data.values, what))
    columns = [_field([value.get(name) for value in maps], f"field {name}") for name in maps[0]]
    array = pa.StructArray.from_arrays(columns, names=list(maps[0])) if columns else pa.array(maps, pa.struct([]))
    if len(maps) == len(data.values):
        return Columns(None, array)
    raise DataError(f"the {what} is a map in some records and not in others")


def _field(values: Sequence[Any], what: str) -> pa.Array:
    """Return one field of schemaless maps; nested values as JSON, so that none depends on the others' content.

    Arrow's structs would have the fields of all values, and its lists one type; only lists that have one stay lists.
    """
    present = [value for value in values if value is not None]
    if not present or not all(isinstance(value, dict | list) for value in present):
        return _plain(values, what)
    if all(isinstance(value, list) for value in present):
        kinds = {type(item) for value in present for item in value if item is not None}
        if len(kinds) == 1 and not kinds & {dict, list}:
            return _plain(values, what)
    try:
        return pa.array([None if value is None else json_text(value) for value in values], pa.string())
    except ValueError as error:
        raise DataError(f"{what} cannot be written as JSON: {error}") from error


def _plain(values: Sequence[Any], what: str) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise DataError(f"{what} has different types: {error}") from error


def _key_columns(
    batch: Batch, fields: tuple[FieldColumn, ...], places: Places, settings: SinkSettings
) -> tuple[FieldColumn, ...]:
    if settings.key_mode is KeyMode.NONE:
        return ()
    if settings.key_mode is KeyMode.KAFKA:
        return _kafka_columns(places, settings)
    if settings.key_mode is KeyMode.RECORD_VALUE:
        return _chosen(fields, settings.key_fields, "value")
    return _record_key(batch.key, settings)


def _kafka_columns(places: Places, settings: SinkSettings) -> tuple[FieldColumn, ...]:
    arrays = ((STRING_SCHEMA, places.topic), (INT32_SCHEMA, places.partition), (INT64_SCHEMA, places.offset))
    return tuple(
        FieldColumn(name, schema, array, is_key=True)
        for name, (schema, array) in zip(settings.key_fields, arrays, strict=True)
    )


def _record_key(data: Data, settings: SinkSettings) -> tuple[FieldColumn, ...]:
    columns = _columns(data, "key")
    array = columns.array
    if array.null_count:
        raise DataError("a record has no key, which pk.mode=record_key needs; choose another pk.mode, or give it one")
    if pa.types.is_struct(array.type):
        return _chosen(_fields(columns.schema, array), settings.key_fields, "key")
    if len(settings.key_fields) != 1:
        raise DataError("the key is not a struct, so pk.fields has to name the one column it goes to")
    schema = columns.schema or _guessed(pa.field("key", array.type))
    if not schema.type.is_primitive:
        raise DataError(f"the key is {schema.type}, which cannot identify a row")
    return (FieldColumn(settings.key_fields[0], schema, array, is_key=True),)


def _chosen(fields: tuple[FieldColumn, ...], names: tuple[str, ...], what: str) -> tuple[FieldColumn, ...]:
    known = {column.name: column for column in fields}
    missing = [name for name in names if name not in known]
    if missing:
        raise DataError(f"the {what} has no field {missing[0]}, which pk.fields names; it has {', '.join(known)}")
    return tuple(replace(known[name], is_key=True) for name in names or known)
