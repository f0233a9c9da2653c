"""Maps databases to their classes."""

from __future__ import annotations

from connect_core.connectors.jdbc.dialects.dialect import Dialect
from connect_core.connectors.jdbc.dialects.generic import GenericDialect
from connect_core.connectors.jdbc.dialects.mysql import MysqlDialect
from connect_core.connectors.jdbc.dialects.postgresql.dialect import PostgresqlDialect
from connect_core.connectors.jdbc.dialects.sqlite import SqliteDialect

__all__ = ["dialect_named"]

_KNOWN: dict[str, type[GenericDialect]] = {
    "postgresql": PostgresqlDialect,
    "mysql": MysqlDialect,
    "mariadb": MysqlDialect,
    "sqlite": SqliteDialect,
}


def dialect_named(name: str) -> Dialect:
    """Return the class for a SQLAlchemy dialect; the generic one if there is no specific class."""
    return _KNOWN.get(name, GenericDialect)()
