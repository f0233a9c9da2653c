"""SQLite, through Python's own driver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Schema, SchemaBuilder
from connect_core.connectors.jdbc.catalog import Table, TableName
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.generic import GenericDialect
from connect_core.connectors.jdbc.dialects.writes import Write, statement_table

__all__ = ["READ_ONLY", "SqliteDialect"]

READ_ONLY = "connect_read_only"
"""The execution option of connections that only read."""


class SqliteDialect(GenericDialect):
    """Integers have 64 bits; decimals are texts, as SQLite's own numbers would round them."""

    widens = False
    _has_reflection = True

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return how long to wait for another writer."""
        return {"timeout": settings.connect_timeout, "isolation_level": None}

    def listen(self, engine: Engine) -> None:
        """Begin transactions explicitly: the driver would leave DDL and first reads outside of them."""

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # A reader must neither wait for writers nor make them wait.
            is_reading = connection.get_execution_options().get(READ_ONLY, False)
            connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return the current state of a table, or ``None``; its numbers have 64 bits, whatever their type."""
        found = super().table(connection, name)
        if found is None:
            return None
        return replace(found, columns=tuple(replace(one, type=_stored(one.type)) for one in found.columns))

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return ``text``, which is exact for any scale."""
        return sa.Text()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``."""
        if isinstance(type, sa.Integer):
            return SchemaBuilder.int64().optional().build()
        if isinstance(type, sa.Float):
            return SchemaBuilder.float64().optional().build()
        return super().schema_of(type)

    def bindable(self, array: pa.Array) -> pa.Array:
        """Return times and decimals as texts, in the form that SQLAlchemy reads."""
        kind = array.type
        if pa.types.is_timestamp(kind):
            return array.cast(pa.timestamp("us")).cast(pa.string())
        if pa.types.is_time(kind):
            return array.cast(pa.time64("us")).cast(pa.string())
        if pa.types.is_date(kind) or pa.types.is_decimal(kind):
            return array.cast(pa.string())
        return array

    def insert(self, connection: Connection, write: Write) -> None:
        """Insert rows by one prepared statement."""
        self._execute_many(connection, self._insert(write), write)

    def upsert(self, connection: Connection, write: Write) -> None:
        """Insert rows, or update those whose key exists."""
        statement = self._insert(write)
        keys = list(write.keys)
        if write.values:
            changed = {name: statement.excluded[name] for name in write.values}
            statement = statement.on_conflict_do_update(index_elements=keys, set_=changed)
        else:
            statement = statement.on_conflict_do_nothing(index_elements=keys)
        self._execute_many(connection, statement, write)

    def _insert(self, write: Write) -> sqlite.Insert:
        return sqlite.insert(statement_table(write)).values({name: write.bound(name) for name in write.columns})

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether another connection has locked the file, or the disk is full or failing."""
        name = getattr(error.orig, "sqlite_errorname", "")
        return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_PROTOCOL"))


def _stored(type: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(type, sa.Integer):
        return sa.BigInteger()
    return sa.Double() if isinstance(type, sa.Float) else type
