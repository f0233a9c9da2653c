"""What a connector needs of a database beyond what SQLAlchemy does in the same way for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from connect_core.api.data import Schema
from connect_core.connectors.jdbc.catalog import Table, TableName
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects.writes import Write

__all__ = ["Dialect"]


class Dialect(Protocol):
    """The specifics of one database. Names are quoted by SQLAlchemy, values always bound."""

    isolation_level: str | None
    """The isolation level of transactions; ``None``: the driver's default."""

    widens: bool
    """Whether number columns have different widths, and can be altered."""

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return the driver's ``connect`` arguments besides the URL: timeouts, UTC, the schema of unqualified names."""

    def connect_to(self, addresses: Sequence[str], arguments: dict[str, Any]) -> Any:
        """Return a connection to one of these addresses of the host, made with the driver's arguments.

        ``None``: SQLAlchemy calls the driver with the arguments, which this method may have changed.
        """

    def listen(self, engine: Engine) -> None:
        """Install what must be done on each new connection or transaction."""

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return the current state of a table, or ``None``."""

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the type of a column for values of a schema; key columns may need a bounded one.

        Raises DataError for a schema that no column can hold.
        """

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values; ``None`` if Connect has no schema for them."""

    def widening(self, column: str, type: str) -> str:
        """Return the clause of ALTER TABLE that changes a column (quoted) to a wider type."""

    def default_clause(self, literal: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return a literal in the form for DEFAULT."""

    def write(self, connection: Connection, write: Write) -> None:
        """Insert, upsert, update or delete rows in the caller's transaction. Raises what SQLAlchemy raises."""

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether the same statement may succeed later: server down, lock, deadlock, overload."""
