"""Which class stands for which database."""

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
    """Return what is special about a SQLAlchemy dialect; the generic path for one without a class."""
    return _KNOWN.get(name, GenericDialect)()
