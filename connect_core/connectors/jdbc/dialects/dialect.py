"""What a connector asks of a database beyond what SQLAlchemy does alike for all."""

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
    """One database's habits. Names are quoted by SQLAlchemy, values always bound."""

    isolation_level: str | None
    """What transactions are begun with; ``None``: as the driver does."""

    widens: bool
    """Whether columns of numbers differ in width, and can be altered."""

    def connect_arguments(self, settings: ConnectionSettings, schema: str | None) -> dict[str, Any]:
        """Return what the driver's ``connect`` gets beside the URL: time-outs, UTC, the schema of bare names."""

    def connect_to(self, addresses: Sequence[str], arguments: dict[str, Any]) -> Any:
        """Return a connection to one of these addresses of the host, made with the driver's arguments.

        ``None``: the driver is called with the arguments as they are afterwards.
        """

    def listen(self, engine: Engine) -> None:
        """Install what must happen on each new connection or transaction."""

    def table(self, connection: Connection, name: TableName) -> Table | None:
        """Return a table as it is now, or ``None``."""

    def column_type(self, schema: Schema, is_key: bool = False) -> TypeEngine[Any]:
        """Return the type of a column for values of a schema; keys may need a bounded one.

        Raises DataError for a schema no column can hold.
        """

    def schema_of(self, type: TypeEngine[Any]) -> Schema | None:
        """Return the optional schema of a column's values; ``None`` where Connect has no word for them."""

    def widening(self, column: str, type: str) -> str:
        """Return the clause of ALTER TABLE that gives a column (quoted) a wider type."""

    def default_clause(self, literal: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return a literal as DEFAULT takes it."""

    def write(self, connection: Connection, write: Write) -> None:
        """Insert, upsert, update or delete rows in the caller's transaction. Raises what SQLAlchemy raises."""

    def is_retriable(self, error: DBAPIError) -> bool:
        """Return whether the same statement may succeed later: down, locked, deadlocked, overloaded."""
