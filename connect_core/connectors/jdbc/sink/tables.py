"""The tables of a sink: looked up, created and evolved, while other tasks may do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateColumn, CreateTable
from sqlalchemy.types import TypeEngine

from connect_core.api.arrow import to_arrow_array
from connect_core.api.data import SchemaType
from connect_core.connectors.jdbc.catalog import Column, Table, TableName
from connect_core.connectors.jdbc.connection import JdbcDatabase, message_of
from connect_core.connectors.jdbc.sink.config import SinkSettings
from connect_core.connectors.jdbc.sink.fitting import fitted
from connect_core.connectors.jdbc.sink.rows import FieldColumn, Rows
from connect_core.errors import ConnectError, DataError

__all__ = ["SinkTables", "create_if_absent"]

_TRIES = 3


@dataclass(slots=True)
class SinkTables:
    """The tables as last seen. DDL has its own connections: if it cannot be rolled back, no row is affected."""

    database: JdbcDatabase
    settings: SinkSettings
    _known: dict[TableName, Table] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop the cached tables: a statement failed, so a table may have changed."""
        self._known.clear()

    def of(self, rows: Rows) -> Table:
        """Return the table of these rows, with a column for each of theirs.

        Raises DataError for schemaless rows that do not fit, ConnectError if the settings forbid a necessary change, or
        the database refuses it.
        """
        name = self.settings.table_of(rows.topic)
        for _ in range(_TRIES):
            table = self._known.get(name) or self._look_up(name)
            if table is None:
                self._create(name, rows)
                continue
            changes = self._changes(table, rows)
            if not changes:
                self._known[name] = table
                return table
            self._alter(table, rows, changes)
        raise ConnectError(f"table {name} cannot be adapted to the columns of topic {rows.topic}; alter it manually")

    def has(self, name: TableName) -> bool:
        """Return whether there is a table of this name."""
        return name in self._known or self._look_up(name) is not None

    def column(self, table: Table, name: str, others: Sequence[str]) -> Column | None:
        """Return the column of a field: with the same name, else the only one that differs just in case."""
        exact = table.column(name)
        if exact is not None:
            return exact
        alike = [one for one in table.columns if one.name.lower() == name.lower() and one.name not in others]
        return alike[0] if len(alike) == 1 else None

    def _look_up(self, name: TableName) -> Table | None:
        self._check_name(name.name, "table")
        with self.database.connect() as connection:
            return self.database.dialect.table(connection, name)

    def _create(self, name: TableName, rows: Rows) -> None:
        if rows.is_schemaless:
            raise DataError(
                f"table {name} does not exist, and records without a schema do not define its columns; create the "
                "table, or enable schemas in the converter (value.converter.schemas.enable=true)"
            )
        if rows.schema is None:
            raise DataError(
                f"table {name} does not exist, so there is no row to delete; create it, or set auto.create=true"
            )
        if not self.settings.creates:
            raise ConnectError(f"table {name} does not exist; create it, or set auto.create=true")
        columns = [self._new_column(column) for column in rows.columns]
        table = sa.Table(name.name, sa.MetaData(), *columns, schema=name.schema)
        with self.database.connect() as connection:
            statement = str(CreateTable(table).compile(dialect=connection.dialect))
            create_if_absent(connection, statement, lambda: self._look_up(name) is not None)

    def _changes(self, table: Table, rows: Rows) -> Sequence[tuple[FieldColumn, Column | None]]:
        """Return the fields whose column is missing (``None``) or too narrow."""
        names = [column.name for column in rows.columns]
        found = [(one, self.column(table, one.name, names)) for one in rows.columns]
        missing = [(one, column) for one, column in found if column is None]
        if missing and (rows.is_schemaless or not self.settings.evolves):
            raise (DataError if rows.is_schemaless else ConnectError)(_lacks(table, missing[0][0], rows))
        if rows.is_schemaless or not self.settings.evolves:
            return missing
        return [*missing, *((one, column) for one, column in found if column and self._is_narrow(table, one, column))]

    def _is_narrow(self, table: Table, field: FieldColumn, column: Column) -> bool:
        if field.is_key or not self.database.dialect.widens:
            return False
        wanted = self.database.dialect.column_type(field.schema, field.is_key)
        if (float_ := _rank(wanted, _FLOATS)) is not None and _rank(column.type, _INTEGERS) is not None:
            return self._holds_no_integer_beyond(table, column, 1 << _EXACT_BITS[float_])
        return _is_wider(wanted, column.type)

    def _holds_no_integer_beyond(self, table: Table, column: Column, largest: int) -> bool:
        """Return whether a floating-point column would keep all integers that are there now."""
        number: sa.ColumnClause[Any] = sa.column(column.name, sa.BigInteger())
        rows = sa.table(table.name.name, number, schema=table.name.schema)
        beyond: sa.Select[Any] = (
            sa.select(sa.literal_column("1")).select_from(rows).where(~number.between(-largest, largest)).limit(1)
        )
        with self.database.connect() as connection:
            return connection.execute(beyond).first() is None

    def _alter(self, table: Table, rows: Rows, changes: Sequence[tuple[FieldColumn, Column | None]]) -> None:
        self._known.pop(table.name, None)
        for one, column in changes:
            statement = self._alteration(table, one, column)
            with self.database.connect() as connection:
                create_if_absent(connection, statement, partial(self._has, table.name, one, rows))

    def _has(self, name: TableName, one: FieldColumn, rows: Rows) -> bool:
        table = self._look_up(name)
        return table is not None and all(other.name != one.name for other, _ in self._changes(table, rows))

    def _alteration(self, table: Table, one: FieldColumn, column: Column | None) -> str:
        dialect = self.database.engine.dialect
        preparer = dialect.identifier_preparer
        new = self._new_column(one)
        sa.Table(table.name.name, sa.MetaData(), new, schema=table.name.schema)
        name = preparer.format_table(new.table)
        if column is None:
            if one.is_key:
                raise ConnectError(f"table {table.name} has no column {one.name}, which pk.mode needs; add it manually")
            clause = "ADD COLUMN " + str(CreateColumn(new).compile(dialect=dialect))
        else:
            type_text = new.type.compile(dialect)
            clause = self.database.dialect.widening(preparer.quote_identifier(column.name), type_text)
        return f"ALTER TABLE {name} {clause}"

    def _new_column(self, one: FieldColumn) -> sa.Column[Any]:
        self._check_name(one.name, "column")
        type = self.database.dialect.column_type(one.schema, one.is_key)
        default = None if one.is_key else self._default(one, type)
        return sa.Column(
            sa.sql.quoted_name(one.name, True),
            type,
            primary_key=one.is_key,
            autoincrement=False,
            nullable=not one.is_key,
            server_default=default,
        )

    def _default(self, one: FieldColumn, type: TypeEngine[Any]) -> sa.ColumnElement[Any] | None:
        """Return a field's default for existing rows; bytes and nested values have none in SQL."""
        schema = one.schema
        is_raw = schema.type is SchemaType.BYTES and schema.name is None
        if schema.default is None or is_raw or not schema.type.is_primitive:
            return None
        array = to_arrow_array(schema, [schema.default])
        value = array and fitted(array, schema, Column(one.name, type), self.settings.connection.timezone)[0].as_py()
        return self.database.dialect.default_clause(sa.literal(value, type))

    def _check_name(self, name: str, what: str) -> None:
        longest = self.database.engine.dialect.max_identifier_length
        if not name or "\0" in name or len(name.encode()) > longest:
            remedy = "table.name.format" if what == "table" else "the transform ReplaceField"
            raise DataError(
                f"{what} name {name[:80]!r} is empty, too long (over {longest} bytes) or not text; use {remedy}"
            )


def create_if_absent(connection: Connection, statement: str, is_there: Callable[[], bool]) -> None:
    """Run DDL that another task may be running as well. Raises ConnectError unless the result exists."""
    try:
        connection.exec_driver_sql(statement)
        connection.commit()
    except DBAPIError as error:
        connection.rollback()
        if not is_there():
            raise ConnectError(
                f"the database rejects {' '.join(statement.split())[:200]}: {message_of(error)}; grant the "
                "permission, or make the change manually"
            ) from error


def _lacks(table: Table, one: FieldColumn, rows: Rows) -> str:
    remedy = "exclude it with fields.include.list, or add the column"
    if not rows.is_schemaless:
        remedy += ", or set auto.evolve=true"
    return f"table {table.name} has no column for field {one.name}; {remedy}"


def _is_wider(wanted: TypeEngine[Any], present: TypeEngine[Any]) -> bool:
    """Return whether a number type holds more values than another one of its kind."""
    pairs = ((_rank(present, ranks), _rank(wanted, ranks)) for ranks in (_INTEGERS, _FLOATS))
    return any(low is not None and high is not None and low < high for low, high in pairs)


def _rank(type: TypeEngine[Any], ranks: _Ranks) -> int | None:
    return next((rank for kind, rank in ranks if isinstance(type, kind)), None)


_Ranks = tuple[tuple[type[TypeEngine[Any]], int], ...]
_INTEGERS: _Ranks = ((mysql.TINYINT, 0), (sa.SmallInteger, 1), (sa.BigInteger, 3), (sa.Integer, 2))
_FLOATS: _Ranks = ((sa.REAL, 0), (mysql.FLOAT, 0), (sa.Float, 1))
"""Each type holds the values of the lower ones of its kind; the first class that matches is used."""
_EXACT_BITS = (24, 53)
"""The precision of the floating-point types, by rank."""
