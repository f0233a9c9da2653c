"""SQLite, through Python's own driver."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Schema, SchemaBuilder
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.generic import GenericDialect

__all__ = ["READ_ONLY", "SqliteDialect"]

READ_ONLY = "connect_read_only"
"""The execution option of connections that only read."""


class SqliteDialect(GenericDialect):
    """Integers have 64 bits; decimals are texts, for SQLite's own numbers would round them."""

    _has_reflection = True

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return how long to wait for another writer."""
        return {"timeout": settings.connect_timeout, "isolation_level": None}

    def listen(self, engine: Engine) -> None:
        """Begin transactions ourselves: the driver would leave DDL and first reads outside."""

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # Who only reads must not wait for writers, nor make them wait.
            is_reading = connection.get_execution_options().get(READ_ONLY, False)
            connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return ``text``: exact, whatever the scale."""
        return sa.Text()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``."""
        if isinstance(type, sa.Integer):
            return SchemaBuilder.int64().optional().build()
        if isinstance(type, sa.Float):
            return SchemaBuilder.float64().optional().build()
        return super().schema_of(type)

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether another connection has the file locked, or the disk is full or failing."""
        name = getattr(error.orig, "sqlite_errorname", "")
        return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_PROTOCOL"))
