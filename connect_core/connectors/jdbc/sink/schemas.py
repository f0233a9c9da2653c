"""Versions of a table's schema: the newest is stored in the target, older records are converted to it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.api.arrow import from_arrow_field, to_arrow_array, to_arrow_field, to_arrow_type, to_python
from connect_core.api.data import Schema, SchemaType, project
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.sink.rows import FieldColumn, Rows
from connect_core.errors import DataError, SchemaProjectorError

__all__ = ["load_newest", "prepare_newest", "projected", "store_newest"]

_NUMBERS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)


def load_newest(connection: Connection, schemas: sa.Table, connector: str, name: TableName) -> Schema | None:
    """Return the newest schema that any task has used for this table, or ``None``."""
    found = connection.execute(sa.select(schemas.c.arrow_schema).where(_is(schemas, connector, name))).scalar()
    return _schema(found) if found else None


def prepare_newest(connection: Connection, schemas: sa.Table, connector: str, name: TableName) -> None:
    """Insert the row for a table's newest schema, so that storing one is an update, which waits for other tasks'."""
    if connection.execute(sa.select(schemas.c.version).where(_is(schemas, connector, name))).first() is None:
        names = {"connector": connector, "table_name": str(name)}
        connection.execute(schemas.insert(), [{**names, "version": 0, "arrow_schema": ""}])


def store_newest(connection: Connection, schemas: sa.Table, connector: str, name: TableName, schema: Schema) -> None:
    """Store a schema, unless one of its version or a newer one is stored."""
    is_older = _is(schemas, connector, name) & (schemas.c.version < schema.version)
    connection.execute(schemas.update().where(is_older).values(version=schema.version, arrow_schema=_text(schema)))


def projected(rows: Rows, target: Schema, included: frozenset[str]) -> Rows:
    """Return rows of an older version with a newer schema: SchemaProjector's result, in columns.

    Raises SchemaProjectorError.
    """
    assert rows.schema is not None
    if rows.schema.name != target.name:
        raise SchemaProjectorError(
            f"Schema name mismatch. source name: {rows.schema.name} and target name: {target.name}"
        )
    known = {column.name: column for column in rows.columns}
    keys = tuple(column for column in rows.columns if column.is_key)
    return replace(rows, schema=target, columns=(*keys, *_values(rows, target, known, included)))


def _values(
    rows: Rows, target: Schema, known: dict[str, FieldColumn], included: frozenset[str]
) -> Iterator[FieldColumn]:
    for field in target.fields:
        found = known.get(field.name)
        if (found is not None and found.is_key) or (included and field.name not in included):
            continue
        if found is None:
            array = _absent(field.name, field.schema, len(rows))
        else:
            array = _promoted(found, field.schema, rows.deleted)
        yield FieldColumn(field.name, field.schema, array)


def _absent(name: str, schema: Schema, count: int) -> pa.Array:
    if schema.default is None and not schema.optional:
        raise SchemaProjectorError(f"Required field `{name}` is missing from the older schema of the record")
    if schema.optional:
        return pa.nulls(count, to_arrow_type(schema))
    array = to_arrow_array(schema, [schema.default])
    if array is None:
        raise DataError(f"the default of field {name} does not fit its schema")
    return array.take(pa.array([0] * count, pa.int64()))


def _promoted(column: FieldColumn, target: Schema, deleted: pa.Array) -> pa.Array:
    source = column.schema
    if source.type in _NUMBERS and target.type in _NUMBERS and source.name == target.name:
        if _NUMBERS.index(source.type) > _NUMBERS.index(target.type):
            raise SchemaProjectorError(
                f"Schema type mismatch. source type: {source.type} and target type: {target.type}"
            )
        array = column.array.cast(pa.type_for_alias(_ALIASES[target.type]), safe=False)
    elif source.type is target.type and source.type.is_primitive and source.name == target.name:
        array = column.array
        if source.parameters != target.parameters:
            raise SchemaProjectorError(f"Schema parameters not equal in field {column.name}")
    else:
        return _by_value(column, target, deleted)
    if not target.optional and array.null_count > (pc.sum(deleted).as_py() or 0):
        if target.default is None:
            raise SchemaProjectorError(
                f"field {column.name} is null, but required and without default in a newer version"
            )
        array = pc.if_else(array.is_valid(), array, _absent(column.name, target, 1)[0])
    return array


def _by_value(column: FieldColumn, target: Schema, deleted: pa.Array) -> pa.Array:
    kept = pc.indices_nonzero(pc.invert(deleted)).cast(pa.int64())
    values = to_python(column.schema, column.array.take(kept))
    array = to_arrow_array(target, [project(column.schema, value, target) for value in values])
    if array is None:
        raise DataError(f"field {column.name} does not fit its newer schema")
    places = {row: place for place, row in enumerate(kept.to_pylist())}
    return array.take(pa.array([places.get(row) for row in range(len(deleted))], pa.int64()))


_ALIASES = {
    SchemaType.INT8: "int8",
    SchemaType.INT16: "int16",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float32",
    SchemaType.FLOAT64: "float64",
}


def _is(schemas: sa.Table, connector: str, name: TableName) -> sa.ColumnElement[bool]:
    return sa.and_(schemas.c.connector == connector, schemas.c.table_name == str(name))


def _text(schema: Schema) -> str:
    return base64.b64encode(pa.schema([to_arrow_field(schema)]).serialize().to_pybytes()).decode()


def _schema(text: str) -> Schema:
    return from_arrow_field(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text))).field(0))
