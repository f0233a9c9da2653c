"""The schema of the metadata database: migrated by Alembic, with a separate version table."""

from __future__ import annotations

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from connect_core.errors import ConnectError
from connect_core.store.database import Database
from connect_core.store.models import METADATA

__all__ = ["VERSION_TABLE", "check", "differences", "downgrade", "migrate"]

VERSION_TABLE = "connect_alembic_version"
_LOCK = 0x636F6E6E656374
"""The advisory lock of migrations: the letters of ``connect``."""


def migrate(url: str | Database) -> None:
    """Migrate the database's tables to this version; several processes may do so at once.

    All of it is one transaction, so a crash leaves the old schema. Raises
    RetriableError when the database is down.
    """
    database = url if isinstance(url, Database) else Database(url, pooled=False)
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
        command.upgrade(_config(connection), "head")


def downgrade(url: str | Database, revision: str = "base") -> None:
    """Downgrade the database's tables to an older revision; ``base`` drops them all, with their data."""
    database = url if isinstance(url, Database) else Database(url, pooled=False)
    with database.write() as connection:
        command.downgrade(_config(connection), revision)


def check(database: Database) -> None:
    """Raise ConnectError, with the remedy, unless the tables are of this version."""
    with database.read() as connection:
        found = _version(connection)
    if found != _head():
        raise ConnectError(
            f"The metadata database {database.address} is at schema {found or 'none'}, this version needs "
            f"{_head()}. `connect distributed` and `connect standalone` migrate it when they start."
        )


def differences(database: Database) -> list[object]:
    """Return the differences between the database's tables and the models."""
    with database.read() as connection:
        return list(compare_metadata(_context(connection), METADATA))


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return _context(connection).get_current_revision()


def _context(connection: Connection) -> MigrationContext:
    options = {"version_table": VERSION_TABLE, "compare_type": True, "include_object": _is_ours}
    return MigrationContext.configure(connection, opts=options)


def _is_ours(item: object, name: str | None, kind: str, reflected: bool, other: object | None) -> bool:
    return kind != "table" or not reflected or name in METADATA.tables


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "connect_core:store/migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _head() -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head()
