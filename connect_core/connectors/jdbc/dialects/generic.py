"""Any SQLAlchemy dialect: uses only what PEP 249, SQL's standard and SQLAlchemy guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Date, Decimal, Schema, SchemaBuilder, SchemaType, Time, Timestamp
from connect_core.connectors.jdbc.catalog import Table, TableName, has_reflection, look_up, look_up_by_standard
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.writes import Verb, Write, parameters, statement_table
from connect_core.errors import DataError

__all__ = ["DECIMAL_DIGITS", "MOST_PARAMETERS", "GenericDialect"]

DECIMAL_DIGITS = 38
"""Precision of columns for Decimals, whose schema has only a scale."""

MOST_PARAMETERS = 10_000
"""Values in one statement where the database allows as many: compiling more no longer pays off."""

_MOST_INSERTED = 1000
"""Rows in one VALUES: SQL Server allows no more."""

_MOST_KEYS = 500
"""Keys looked up by one statement."""

_PRIMITIVES: dict[SchemaType, TypeEngine[Any]] = {
    SchemaType.INT8: sa.SmallInteger(),
    SchemaType.INT16: sa.SmallInteger(),
    SchemaType.INT32: sa.Integer(),
    SchemaType.INT64: sa.BigInteger(),
    SchemaType.FLOAT32: sa.REAL(),
    SchemaType.FLOAT64: sa.Double(),
    SchemaType.BOOLEAN: sa.Boolean(),
    SchemaType.STRING: sa.Text(),
    SchemaType.BYTES: sa.LargeBinary(),
}
_LOGICAL: dict[tuple[str | None, SchemaType], TypeEngine[Any]] = {
    (Date.LOGICAL_NAME, SchemaType.INT32): sa.Date(),
    (Time.LOGICAL_NAME, SchemaType.INT32): sa.Time(),
    (Timestamp.LOGICAL_NAME, SchemaType.INT64): sa.DateTime(),
}
_SCHEMAS: tuple[tuple[type[TypeEngine[Any]], SchemaBuilder], ...] = (
    (sa.Boolean, SchemaBuilder.boolean()),
    (sa.SmallInteger, SchemaBuilder.int16()),
    (sa.BigInteger, SchemaBuilder.int64()),
    (sa.Integer, SchemaBuilder.int32()),
    (sa.REAL, SchemaBuilder.float32()),
    (sa.Float, SchemaBuilder.float64()),
    (sa.DateTime, Timestamp.builder()),
    (sa.Date, Date.builder()),
    (sa.Time, Time.builder()),
    (sa.LargeBinary, SchemaBuilder.bytes()),
    (sa.String, SchemaBuilder.string()),
    (sa.JSON, SchemaBuilder.string()),
    (sa.Uuid, SchemaBuilder.string()),
)
"""The first class that matches is used, so the narrower ones come first."""


class GenericDialect:
    """The behaviour for every database without a class of its own; other classes override what they do better."""

    isolation_level: str | None = None
    widens = True
    _has_reflection: bool | None = None

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return no arguments: none is common to all drivers."""
        return {}

    def connect_to(self, addresses: Sequence[str], arguments: dict[str, Any]) -> Any:
        """Return ``None``: the driver resolves the host itself, just after it was checked."""
        return None

    def listen(self, engine: Engine) -> None:
        """Do nothing: connections are used as the driver opens them."""

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return the current state of a table, or ``None``; by SQL's standard if the dialect cannot describe it."""
        if self._has_reflection is None:
            # On a separate connection: a failed attempt would end the caller's transaction.
            with connection.engine.connect() as other:
                self._has_reflection = has_reflection(other)
        return (look_up if self._has_reflection else look_up_by_standard)(connection, name)

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the column type of a schema; see the table in the README. Raises DataError."""
        if schema.name == Decimal.LOGICAL_NAME and schema.type is SchemaType.BYTES:
            return self.decimal_type(Decimal.scale(schema))
        found = _LOGICAL.get((schema.name, schema.type)) or _PRIMITIVES.get(schema.type)
        if is_key and schema.type is SchemaType.STRING:
            return sa.String(255)
        if found is None and is_key:
            raise DataError(f"a column for {schema.type} cannot be part of a primary key; choose other pk.fields")
        return found or self.nested_type(schema)

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return the type for decimals of one scale. Raises DataError if the scale is out of range."""
        if not 0 <= scale <= DECIMAL_DIGITS:
            raise DataError(f"a Decimal of scale {scale} has no column type; convert it to 0..{DECIMAL_DIGITS} first")
        return sa.Numeric(DECIMAL_DIGITS, scale)

    def nested_type(self, schema: Schema) -> TypeEngine[Any]:
        """Return the type for arrays, maps and structs: JSON, as text."""
        return sa.Text()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``."""
        if isinstance(type, sa.Numeric) and not isinstance(type, sa.Float):
            return Decimal.builder(type.scale or 0).optional().build()
        builder = next((builder for kind, builder in _SCHEMAS if isinstance(type, kind)), None)
        return None if builder is None else builder.build().replace(optional=True)

    def widening(self, column: str, type: str) -> str:
        """Return SQL's standard clause of ALTER TABLE that changes a column's type."""
        return f"ALTER COLUMN {column} SET DATA TYPE {type}"

    def default_clause(self, literal: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """Return a literal in the form for DEFAULT."""
        return literal

    def write(self, connection: Connection, write: Write) -> None:
        """Carry out a write in the caller's transaction. Raises what SQLAlchemy raises."""
        bindable = write.data
        for index, column in enumerate(write.data.columns):
            bindable = bindable.set_column(index, write.columns[index], self.bindable(column.combine_chunks()))
        _VERBS[write.verb](self, connection, replace(write, data=bindable))

    def bindable(self, array: pa.Array) -> pa.Array:
        """Return a column whose Python values the driver accepts."""
        return array

    def insert(self, connection: Connection, write: Write) -> None:
        """Insert rows by statements of many rows each, or by one for each row where VALUES takes one (Oracle)."""
        if not connection.dialect.supports_multivalues_insert:
            row = statement_table(write).insert().values({name: write.bound(name) for name in write.columns})
            self._execute_many(connection, row, write)
            return
        for chunk in write.chunks(_rows_of(connection, len(write.columns), _MOST_INSERTED)):
            statement = _insert(connection, write, chunk.num_rows)
            values = [value for row in zip(*(c.to_pylist() for c in chunk.columns), strict=True) for value in row]
            connection.execute(statement, {f"v{index}": value for index, value in enumerate(values)})

    def upsert(self, connection: Connection, write: Write) -> None:
        """Update the existing rows and insert the others: no single statement does both in every database."""
        for chunk in write.chunks(_rows_of(connection, len(write.keys), _MOST_KEYS)):
            found = self._existing(connection, write, chunk)
            known = pa.array([key in found for key in zip(*_comparable_keys(write, chunk), strict=True)], pa.bool_())
            self.update(connection, replace(write, data=chunk.filter(known)))
            missing = chunk.filter(pc.invert(known))
            if missing.num_rows:
                self.insert(connection, replace(write, data=missing))

    def update(self, connection: Connection, write: Write) -> None:
        """Update rows by key, if there are any."""
        if not write.values or not write.data.num_rows:
            return
        table = statement_table(write)
        statement = table.update().where(_is_key(table, write)).values({n: write.bound(n) for n in write.values})
        self._execute_many(connection, statement, write)

    def delete(self, connection: Connection, write: Write) -> None:
        """Delete rows by key."""
        table = statement_table(write)
        self._execute_many(connection, table.delete().where(_is_key(table, write)), write)

    def _execute_many(self, connection: Connection, statement: sa.Executable, write: Write) -> None:
        names = [f"b{index}" for index in range(len(write.columns))]
        for chunk in write.chunks():
            connection.execute(statement, parameters(chunk, names))

    def _existing(self, connection: Connection, write: Write, chunk: pa.Table) -> set[tuple[Any, ...]]:
        table = statement_table(write)
        keys = [table.c[name] for name in write.keys]
        columns: list[list[Any]] = [chunk[name].to_pylist() for name in write.keys]
        rows: list[Any] = list(zip(*columns, strict=True))
        condition: sa.ColumnElement[bool] = keys[0].in_([row[0] for row in rows])
        if len(keys) > 1:
            condition = sa.or_(*(sa.and_(*(k == v for k, v in zip(keys, row, strict=True))) for row in rows))
        return {tuple(map(_comparable, row)) for row in connection.execute(sa.select(*keys).where(condition))}

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether PEP 249 classifies it as operational: an error of the database, not of the statement."""
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)


def _is_key(table: sa.Table, write: Write) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == write.bound(name) for name in write.keys))


def _comparable_keys(write: Write, chunk: pa.Table) -> list[list[Any]]:
    """Return the key columns in the form in which ``_comparable`` has what the database returns."""
    columns = []
    for name in write.keys:
        column, values = write.table.column(name), chunk[name].to_pylist()
        is_uuid = column is not None and isinstance(column.type, sa.Uuid)
        columns.append([_uuid_text(value) for value in values] if is_uuid else values)
    return columns


def _comparable(value: Any) -> Any:
    """Return a value of the database in the form in which values are bound: a UUID is bound as its text."""
    return str(value) if isinstance(value, UUID) else value


def _uuid_text(value: Any) -> Any:
    """Return a UUID's text in the form Python gives it, as a database accepts several."""
    try:
        return str(UUID(value))
    except (TypeError, ValueError, AttributeError):
        return value


def _rows_of(connection: Connection, width: int, most: int) -> int:
    """Return how many rows of ``width`` values a statement may have, at most ``most``."""
    values = min(MOST_PARAMETERS, connection.dialect.insertmanyvalues_max_parameters)
    return max(1, min(most, values // max(1, width)))


def _insert(connection: Connection, write: Write, count: int) -> sa.Insert:
    table = statement_table(write)
    width = len(write.columns)
    rows: list[dict[str, Any]] = [
        {name: sa.bindparam(f"v{row * width + place}") for place, name in enumerate(write.columns)}
        for row in range(count)
    ]
    return table.insert().values(rows)


_VERBS: dict[Verb, Callable[[GenericDialect, Connection, Write], None]] = {
    Verb.INSERT: lambda dialect, connection, write: dialect.insert(connection, write),
    Verb.UPSERT: lambda dialect, connection, write: dialect.upsert(connection, write),
    Verb.UPDATE: lambda dialect, connection, write: dialect.update(connection, write),
    Verb.DELETE: lambda dialect, connection, write: dialect.delete(connection, write),
}
