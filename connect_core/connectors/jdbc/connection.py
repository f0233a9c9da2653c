"""Connects to a database: an engine with timeouts, connections with retries, errors without secrets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import tenacity
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from connect_core.api.allowed_host import allowed_addresses
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.jdbc.address import CONNECTION_URL, CURRENT_SCHEMA, database_url, parse_address
from connect_core.connectors.jdbc.config import ConnectionSettings
from connect_core.connectors.jdbc.dialects import Dialect, dialect_named
from connect_core.errors import ConfigError, ConnectError, RetriableError

__all__ = ["JdbcDatabase", "message_of", "open_database"]

_LONGEST_WAIT_SECONDS = 60.0

_OPENING_DUCKDB = threading.Lock()
"""Two threads that open one file of DuckDB at once may get two instances; the second one then refuses all others."""


@dataclass(frozen=True, slots=True)
class JdbcDatabase:
    """One database: opens connections, and translates what drivers raise into ConnectErrors."""

    engine: Engine
    dialect: Dialect
    settings: ConnectionSettings
    limits: WorkerLimits

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a connection for the block, closed at its end; the caller commits.

        Raises RetriableError if the database may be available later, else ConnectError.
        """
        connection = self._tried()
        try:
            with self.failures():
                yield connection
        finally:
            self.close(connection)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a connection and a transaction, which is committed unless the block raises."""
        with self.connect() as connection, connection.begin():
            yield connection

    def open(self) -> Connection:
        """Return a connection that the caller closes. Raises as ``connect`` does."""
        with self.failures():
            return self._tried()

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Translate what SQLAlchemy raises in the block into RetriableError or ConnectError."""
        try:
            yield
        except SQLAlchemyError as error:
            raise self.translated(error) from error

    def translated(self, error: SQLAlchemyError) -> ConnectError:
        """Return the error as a ConnectError; its text contains no password, statement or bound value."""
        text = f"The database at {self.place} reports: {message_of(error)}"
        if isinstance(error, DBAPIError) and self.dialect.is_retriable(error):
            return RetriableError(text)
        return ConnectError(text)

    @property
    def place(self) -> str:
        """The location of the database: host, port and database, or the file."""
        url = self.engine.url
        server = f"{url.host}:{url.port}/" if url.host and url.port else f"{url.host}/" if url.host else ""
        return f"{server}{url.database or ''}"

    def addresses(self) -> list[str]:
        """Return the host's current addresses, all of them checked: none if the database is a file.

        Raises ConfigError if the name now resolves to a host that may not be called, RetriableError if it does not
        resolve.
        """
        host = self.engine.url.host
        found = allowed_addresses(CONNECTION_URL, host, self.limits) if host else []
        if host and not found:
            raise RetriableError(f"The host {host} of {CONNECTION_URL} has no address: check its name and the DNS")
        return found

    def _tried(self) -> Connection:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.settings.attempts),
            wait=tenacity.wait_exponential(self.settings.backoff, max=_LONGEST_WAIT_SECONDS),
            retry=tenacity.retry_if_exception_type(RetriableError),
            reraise=True,
        )
        return retrying(self._connected)

    def _connected(self) -> Connection:
        is_duckdb = self.engine.url.get_backend_name() == "duckdb"
        with self.failures(), _OPENING_DUCKDB if is_duckdb else nullcontext():
            return self.engine.connect()

    def close(self, connection: Connection) -> None:
        """Close a connection, whatever its state."""
        try:
            connection.close()
        except SQLAlchemyError:
            # A broken connection is closed by invalidating it: its server has ended the transaction.
            connection.invalidate()


def open_database(settings: ConnectionSettings, limits: WorkerLimits) -> JdbcDatabase:
    """Return the database of these settings, without connecting yet. Raises ConfigError."""
    url = database_url(settings.url, (settings.user, settings.password), limits)
    dialect = dialect_named(url.get_backend_name())
    schema = parse_address(settings.url).parameters.get(CURRENT_SCHEMA)
    arguments = dialect.connect_arguments(settings, schema)
    options = {"isolation_level": dialect.isolation_level} if dialect.isolation_level else {}
    try:
        engine = create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=arguments, **options)
    except (NoSuchModuleError, ImportError) as error:
        raise ConfigError(
            CONNECTION_URL,
            f"{url.get_backend_name()}:…",
            f"no driver for it is installed ({error}); an administrator installs the SQLAlchemy dialect",
        ) from error
    except (ArgumentError, TypeError) as error:
        raise ConfigError(CONNECTION_URL, f"{url.get_backend_name()}:…", str(error)) from error
    dialect.listen(engine)
    database = JdbcDatabase(engine, dialect, settings, limits)

    @event.listens_for(engine, "do_connect")
    def reach(_dialect: object, _record: object, _positional: object, arguments: dict[str, Any]) -> Any:
        addresses = database.addresses()
        return dialect.connect_to(addresses, arguments) if addresses else None

    return database


def message_of(error: SQLAlchemyError) -> str:
    """Return a driver's own message on one line, without SQLAlchemy's statement and parameters."""
    text = str(error.orig) if isinstance(error, DBAPIError) and error.orig is not None else str(error)
    return " ".join(text.split())
