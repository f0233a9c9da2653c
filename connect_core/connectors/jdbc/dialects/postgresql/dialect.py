"""PostgreSQL, through psycopg 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Schema, SchemaBuilder, SchemaType
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.generic import GenericDialect
from connect_core.connectors.jdbc.dialects.postgresql.copy import insert, merge
from connect_core.connectors.jdbc.dialects.postgresql.errors import without_details
from connect_core.connectors.jdbc.dialects.postgresql.parameters import at_addresses, not_the_workers
from connect_core.connectors.jdbc.dialects.postgresql.upserts import upsert
from connect_core.connectors.jdbc.dialects.writes import Verb, Write

__all__ = ["PostgresqlDialect", "is_transient"]

_RETRIABLE_CLASSES = ("08", "53", "57", "58")
"""Connection exception, insufficient resources, operator intervention, system error."""

_RETRIABLE_STATES = frozenset({"40001", "40P01", "55P03", "25006"})
"""Serialization failure, deadlock, lock not available, read-only (a standby just after a failover)."""

_HOPELESS = ("password authentication failed", "does not exist", "no pg_hba.conf entry", "is not permitted to log in")
"""Errors on connecting that have no SQLSTATE."""


class PostgresqlDialect(GenericDialect):
    """Arrays of primitives become arrays, other nested values ``jsonb``."""

    isolation_level = "READ COMMITTED"
    _has_reflection = True

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return timeouts, UTC, keepalives and the search path."""
        options = ["-c timezone=UTC", f"-c statement_timeout={int(settings.statement_timeout * 1000)}"]
        # On the server's side as well: the successor of a lost client waits for its locks.
        options += ["-c tcp_keepalives_idle=30", "-c tcp_keepalives_interval=10", "-c tcp_keepalives_count=3"]
        if schema:
            quoted = '"' + schema.replace('"', '""') + '"'
            options.append("-c search_path=" + quoted.replace("\\", "\\\\").replace(" ", "\\ "))
        return {
            **not_the_workers(settings),
            "connect_timeout": max(2, round(settings.connect_timeout)),
            "options": " ".join(options),
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": 60_000,
        }

    def connect_to(self, addresses: Sequence[str], arguments: dict[str, Any]) -> None:
        """Add the addresses to the arguments; TLS still checks the host's name."""
        arguments |= at_addresses(str(arguments["host"]), addresses)

    def listen(self, engine: Engine) -> None:
        """Remove the details from errors."""

        @event.listens_for(engine, "handle_error")
        def strip(context: ExceptionContext) -> None:
            without_details(context.original_exception)
            if context.sqlalchemy_exception is not None:
                context.sqlalchemy_exception.args = (str(context.original_exception),)

    def decimal_type(self, scale: int) -> TypeEngine[Any]:
        """Return ``numeric`` of this scale, with enough digits for any value."""
        return sa.Numeric(max(2 * abs(scale), 131), scale) if -1000 <= scale <= 500 else sa.Numeric()

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the column type of a schema; texts need no bound in keys. Raises DataError."""
        if schema.type is SchemaType.STRING:
            return sa.Text()
        return super().column_type(schema, is_key)

    def nested_type(self, schema: Schema) -> TypeEngine[Any]:
        """Return an array if the elements are primitives, else ``jsonb``."""
        element = schema.value_schema if schema.type is SchemaType.ARRAY else None
        if element is not None and element.type.is_primitive:
            return postgresql.ARRAY(self.column_type(element))
        return postgresql.JSONB()

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values, or ``None``."""
        if isinstance(type, sa.ARRAY):
            element = self.schema_of(type.item_type)
            return None if element is None else SchemaBuilder.array(element).optional().build()
        if isinstance(type, postgresql.INET | postgresql.CIDR | postgresql.MACADDR | postgresql.INTERVAL):
            return SchemaBuilder.string().optional().build()
        return super().schema_of(type)

    def write(self, connection: Connection, write: Write) -> None:
        """Carry out a write by COPY: directly into the table, or into a temporary one that is merged."""
        if write.verb is Verb.INSERT:
            insert(connection, write)
        elif write.verb is Verb.UPSERT:
            upsert(connection, write)
        else:
            merge(connection, write)

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether the SQLSTATE is one of a temporary error."""
        original = error.orig
        state = original.sqlstate if isinstance(original, psycopg.Error) else None
        if state is not None:
            return is_transient(state)
        if any(text in str(original) for text in _HOPELESS):
            return False
        return error.connection_invalidated or isinstance(original, psycopg.OperationalError | psycopg.InterfaceError)


def is_transient(state: str) -> bool:
    """Return whether an SQLSTATE is one of a temporary error."""
    return state in _RETRIABLE_STATES or state.startswith(_RETRIABLE_CLASSES)
