"""The metadata database: connections and transactions, on PostgreSQL or SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from connect_core.errors import ConfigError
from connect_core.store.failures import as_connect_error, shown, unclear_commit

__all__ = ["Connection", "Database"]

_SQLITE_WAIT_SECONDS = 30
_FORMS = "Write postgresql+psycopg://USER:PASSWORD@HOST:PORT/DATABASE or sqlite:///FILE."
_READS_ONLY = "connect_reads_only"
_POSTGRESQL_OPTIONS: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class Database:
    """The metadata database at ``url``; connects at the first use.

    ``pooled=False`` opens a connection for every transaction, as suits
    Airflow's short-lived processes. A pool is safe too: connections are tested
    before use, and a forked child starts with an empty pool. Raises ConfigError
    for a URL that cannot be used.
    """

    def __init__(self, url: str, *, pooled: bool = True) -> None:
        self._url = _parse(url)
        self._engine = _make_engine(self._url, pooled)
        _OPEN.add(self)

    def __repr__(self) -> str:
        return f"Database({shown(self._url)!r})"

    @property
    def address(self) -> str:
        """The URL without secrets."""
        return shown(self._url)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open one transaction; it commits when the block ends without an error.

        Raises RetriableError when the database is down or busy, and
        UnclearOutcomeError when the connection was lost during the commit.
        """
        with self._translated(), self._engine.connect() as connection:
            transaction = connection.begin()
            yield connection
            try:
                transaction.commit()
            except SQLAlchemyError as error:
                raise unclear_commit(error, self._url) from error

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open one read-only transaction: all its statements see the same snapshot.

        Raises RetriableError when the database is down or busy.
        """
        with self._translated(), self._engine.connect() as opened:
            connection = opened.execution_options(**self._reading())
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._engine.dispose()

    def compact(self) -> None:
        """Remove copies of replaced rows from SQLite's file and journal; on a server its own housekeeping does so.

        Raises RetriableError when the database is busy.
        """
        if self._engine.dialect.name != "sqlite":
            return
        with self._translated(), closing(self._engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def forget(self) -> None:
        """Drop the connections without closing them: they belong to the process from which this one was forked."""
        self._engine.dispose(close=False)

    def _reading(self) -> dict[str, Any]:
        if self._engine.dialect.name == "postgresql":
            return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        return {_READS_ONLY: True}

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise as_connect_error(error, self._url) from error


_OPEN: WeakSet[Database] = WeakSet()


def _forget_all() -> None:
    for database in list(_OPEN):
        database.forget()


os.register_at_fork(after_in_child=_forget_all)


def _parse(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        raise ConfigError(f"database.url cannot be read. {_FORMS}") from None
    system = url.get_backend_name()
    if system in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if system == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite")
    raise ConfigError(
        f"database.url {shown(url)} is of the dialect {system}: the metadata database is a PostgreSQL server or a "
        f"SQLite file, whatever database Airflow uses for itself. {_FORMS}"
    )


def _make_engine(url: URL, pooled: bool) -> Engine:
    options: dict[str, Any] = {"hide_parameters": True}
    if not pooled:
        options["poolclass"] = NullPool
    try:
        if url.get_backend_name() == "postgresql":
            given = {name: value for name, value in _POSTGRESQL_OPTIONS.items() if name not in url.query}
            return create_engine(url, pool_pre_ping=pooled, connect_args=given, **options)
        engine = create_engine(url, connect_args={"timeout": _SQLITE_WAIT_SECONDS}, **options)
    except (ImportError, NoSuchModuleError) as error:
        raise ConfigError(f"No driver for the metadata database {shown(url)}: {error}") from error
    event.listen(engine, "do_connect", _make_private)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(dialect: Any, record: Any, arguments: Any, options: Any) -> None:
    """Create the file for its owner only, or remove others' rights: SQLite gives its journals the same rights.

    An existing file is not opened: closing any of its descriptors would drop this
    process's locks on it, and another process would delete the journal in use
    (SQLite, "How To Corrupt An SQLite Database File", 2.2).
    """
    file = Path(arguments[0])
    try:
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        if file.stat().st_mode & 0o077:
            for one in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
                with suppress(FileNotFoundError):
                    one.chmod(0o600)
    except OSError:
        # SQLite itself reports a file that it cannot open.
        return


def _prepare_sqlite(connection: Any, record: Any) -> None:
    # Otherwise the driver would begin transactions itself, late and deferred.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_SQLITE_WAIT_SECONDS * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")
    # The mode belongs to the file: if another process is setting it just now, leave it to that one.
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE takes the write lock at once: taking it later could fail in the middle of the transaction.
    reads_only = connection.get_execution_options().get(_READS_ONLY, False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
