"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pymysql
import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Schema, SchemaBuilder, SchemaType
from connect_core.connectors.jdbc.catalog import Column, Table, TableName
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.generic import GenericDialect
from connect_core.connectors.jdbc.dialects.writes import Write, statement_table
from connect_core.errors import DataError

__all__ = ["MysqlDialect"]

_RETRIABLE = frozenset({0, 1040, 1053, 1205, 1213, 1317, 1927, 2002, 2003, 2006, 2013, 2014, 2055})
"""Closed, too many connections, shutdown, lock wait, deadlock, interrupted, killed, unreachable, gone, lost."""

_PORT, _UNREACHABLE = 3306, 2003
_MOST_DIGITS, _MOST_SCALE = 65, 30
_TYPES: dict[SchemaType, TypeEngine[Any]] = {
    SchemaType.INT8: mysql.TINYINT(),
    SchemaType.FLOAT32: mysql.FLOAT(),
    SchemaType.STRING: mysql.LONGTEXT(),
    SchemaType.BYTES: mysql.LONGBLOB(),
}
_KEYS: dict[SchemaType, TypeEngine[Any]] = {
    SchemaType.STRING: mysql.VARCHAR(255, collation="utf8mb4_bin"),
    SchemaType.BYTES: mysql.VARBINARY(255),
}


class MysqlDialect(GenericDialect):
    """Times have milliseconds; nested values are JSON; sessions are strict, so that nothing is truncated silently."""

    isolation_level = "READ COMMITTED"
    _has_reflection = True

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return timeouts, four-byte Unicode, UTC and strict mode."""
        waits = round(settings.statement_timeout) or None
        return {
            "charset": "utf8mb4",
            "connect_timeout": max(1, round(settings.connect_timeout)),
            "read_timeout": waits,
            "write_timeout": waits,
            "init_command": "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,"
            "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
            "local_infile": False,
        }

    def connect_to(self, addresses: Sequence[str], arguments: dict[str, Any]) -> Any:
        """Return a connection over a socket to one of the addresses; TLS still checks the host's name."""
        connection = pymysql.connect(**arguments, defer_connect=True)
        # The driver sets its own timeouts on the socket it gets.
        connection.connect(_socket(addresses, arguments))
        return connection

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return the current state of a table, or ``None``; undoes SQLAlchemy's doubled backticks in names."""
        found = super().table(connection, name)
        if found is None or not any("``" in column.name for column in found.columns):
            return found
        primary = tuple(key.replace("``", "`") for key in found.primary_key)
        return replace(found, columns=tuple(map(_unquoted, found.columns)), primary_key=primary)

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the column type of a schema; keys need bounded texts and bytes. Raises DataError."""
        found = super().column_type(schema, is_key)
        if isinstance(found, sa.DateTime):
            return mysql.DATETIME(fsp=3)
        if isinstance(found, sa.Time):
            return mysql.TIME(fsp=3)
        if isinstance(found, sa.Numeric | sa.JSON) and not isinstance(found, sa.Float):
            return found
        own = _KEYS.get(schema.type) if is_key else None
        return own or _TYPES.get(schema.type) or found

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return ``decimal`` with the maximum number of digits. Raises DataError."""
        if not 0 <= scale <= _MOST_SCALE:
            raise DataError(f"a Decimal of scale {scale} has no column type; convert it to 0..{_MOST_SCALE} first")
        return mysql.DECIMAL(_MOST_DIGITS, scale)

    def nested_type(self, schema: Schema) -> TypeEngine[Any]:
        """Return ``json``."""
        return mysql.JSON()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``; ``tinyint(1)`` is a boolean."""
        if isinstance(type, mysql.TINYINT):
            is_flag = type.display_width == 1
            return (SchemaBuilder.boolean() if is_flag else SchemaBuilder.int8()).optional().build()
        if isinstance(type, mysql.YEAR):
            return SchemaBuilder.int16().optional().build()
        if isinstance(type, mysql.FLOAT):
            return SchemaBuilder.float32().optional().build()
        if isinstance(type, mysql.BIT):
            return SchemaBuilder.bytes().optional().build()
        return super().schema_of(type)

    def widening(self, column: str, type: str) -> str:
        """Return the clause of ALTER TABLE that changes a column's type."""
        return f"MODIFY COLUMN {column} {type}"

    def default_clause(self, literal: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        """Return a literal in parentheses: without them, MySQL accepts no default for a text."""
        return Grouping(literal)

    def insert(self, connection: Connection, write: Write) -> None:
        """Insert rows; the driver combines many of them in one statement."""
        self._execute_many(connection, self._insert(write), write)

    def upsert(self, connection: Connection, write: Write) -> None:
        """Insert rows, or update those whose key exists."""
        statement = self._insert(write)
        changed = {name: _given(name) for name in write.values or write.keys[:1]}
        self._execute_many(connection, statement.on_duplicate_key_update(changed), write)

    def _insert(self, write: Write) -> mysql.Insert:
        return mysql.insert(statement_table(write)).values({name: write.bound(name) for name in write.columns})

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether the server's or client's error number is one of a temporary error."""
        arguments: tuple[object, ...] = error.orig.args if error.orig is not None else ()
        return error.connection_invalidated or (bool(arguments) and arguments[0] in _RETRIABLE)


def _given(name: str) -> sa.ColumnElement[Any]:
    """Return the value an INSERT gives a column. SQLAlchemy's own ``inserted`` doubles percent signs in names twice."""
    quoted = name.replace("`", "``")
    return sa.literal_column(f"VALUES(`{quoted}`)")


def _unquoted(column: Column) -> Column:
    return replace(column, name=column.name.replace("``", "`"))


def _socket(addresses: Sequence[str], arguments: Mapping[str, Any]) -> socket.socket:
    """Return a connected socket. Raise the driver's error for an unreachable server."""
    port = arguments.get("port") or _PORT
    for number, address in enumerate(addresses, start=1):
        try:
            found = socket.create_connection((address, port), arguments["connect_timeout"])
        except OSError as error:
            if number == len(addresses):
                text = f"Can't connect to MySQL server on {arguments['host']!r} ({error})"
                raise pymysql.err.OperationalError(_UNREACHABLE, text) from error
        else:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return found
    raise AssertionError("a host has an address")
