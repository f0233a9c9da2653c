"""Reads rows of one snapshot with any driver, in chunks, in a read-only transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.dialects.sqlite import READ_ONLY

__all__ = ["RowReader", "reading"]

Rows = Sequence[tuple[Any, ...]]


@contextmanager
def reading(database: JdbcDatabase) -> Iterator[Connection]:
    """Open a connection with one read-only transaction on one snapshot, if the database supports these."""
    with database.connect() as connection:
        _begin_reading(connection)
        yield connection


def _begin_reading(connection: Connection) -> None:
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    elif dialect in ("mysql", "mariadb"):
        connection.exec_driver_sql("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.commit()
    elif dialect == "sqlite":
        connection.execution_options(**{READ_ONLY: True})
        connection.exec_driver_sql("PRAGMA query_only = ON")
    elif dialect == "duckdb":
        # DuckDB's functions read any file of the machine; this cannot be undone while the database is open.
        connection.exec_driver_sql("SET enable_external_access = false")
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("BEGIN TRANSACTION READ ONLY")


class RowReader:
    """Reads chunks of rows through SQLAlchemy's driver. Raises RetriableError or ConnectError."""

    def __init__(self, database: JdbcDatabase) -> None:
        self._database = database
        self.connection = database.open()
        with database.failures():
            _begin_reading(self.connection)

    def chunks(self, statement: sa.Select[Any], rows: int) -> Iterator[Rows]:
        """Yield the rows of a statement, at most ``rows`` at a time; the driver buffers no more if it can."""
        streaming = {"stream_results": True, "max_row_buffer": rows}
        with self._database.failures():
            result = self.connection.execute(statement, execution_options=streaming)
            try:
                while found := result.fetchmany(rows):
                    yield [tuple(row) for row in found]
            finally:
                result.close()

    def cancel(self) -> None:
        """Cancel the running statement on the server, if the driver can; called from another thread."""
        driver: Any = self.connection.connection.driver_connection
        cancel = getattr(driver, "cancel", None) or getattr(driver, "interrupt", None)
        if cancel is not None:
            cancel()

    def close(self) -> None:
        """Close the connection, broken or not."""
        try:
            self.connection.close()
        except sa.exc.SQLAlchemyError:
            self.connection.invalidate()
