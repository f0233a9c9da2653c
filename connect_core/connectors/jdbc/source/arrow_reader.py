"""Reads PostgreSQL's rows as Arrow columns, through ADBC: no row passes through Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, time
from decimal import Decimal
from typing import Any

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import pyarrow as pa
import sqlalchemy as sa
from psycopg.conninfo import make_conninfo
from sqlalchemy.dialects.postgresql import asyncpg

from connect_core.connectors.jdbc.address import CURRENT_SCHEMA, parse_address
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.dialects.postgresql.dialect import is_transient
from connect_core.connectors.jdbc.dialects.postgresql.errors import first_sentence
from connect_core.connectors.jdbc.dialects.postgresql.parameters import at_addresses
from connect_core.errors import ConnectError, RetriableError

__all__ = ["ArrowReader"]

# A dialect whose statements have the parameters $1, $2 that PostgreSQL itself understands.
_NUMBERED = asyncpg.dialect()  # type: ignore[no-untyped-call]
_ROWS_NOT_COPY = {"adbc.postgresql.use_copy": "false"}


class ArrowReader:
    """Reads chunks of rows as Arrow tables, by a server-side cursor. Raises RetriableError or ConnectError."""

    def __init__(self, database: JdbcDatabase) -> None:
        self._place = database.place
        with self._failures():
            self._connection = adbc_driver_postgresql.dbapi.connect(_conninfo(database), autocommit=False)
            self._execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def chunks(self, statement: sa.Select[Any], rows: int) -> Iterator[pa.Table]:
        """Yield the rows of a statement, at most ``rows`` at a time; the server holds the others."""
        text, values = _compiled(statement)
        with self._failures():
            self._execute(f"DECLARE connect_rows NO SCROLL CURSOR FOR {text}", values)
            with self._connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**_ROWS_NOT_COPY)
                while True:
                    cursor.execute(f"FETCH {rows} FROM connect_rows")
                    table = cursor.fetch_arrow_table()
                    if table.num_rows:
                        yield table
                    if table.num_rows < rows:
                        break
            self._execute("CLOSE connect_rows")

    def cancel(self) -> None:
        """Cancel the running statement on the server; called from another thread."""
        with suppress(adbc_driver_manager.Error):
            self._connection.adbc_cancel()

    def close(self) -> None:
        """Close the connection, broken or not."""
        with suppress(adbc_driver_manager.Error):
            self._connection.close()

    def _execute(self, text: str, values: Sequence[Any] = ()) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(text, list(values) or None)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except adbc_driver_manager.Error as error:
            raise _translated(error, self._place) from error


def _translated(error: adbc_driver_manager.Error, place: str) -> ConnectError:
    state = error.sqlstate or ""
    # The trace shows this error as well: row contents must be removed from it, too.
    error.args = (first_sentence(str(error), error.details),)
    text = f"The database at {place} reports: {error}"
    if not state.strip("\0") or is_transient(state):
        return RetriableError(text)
    return ConnectError(text)


def _compiled(statement: sa.Select[Any]) -> tuple[str, list[Any]]:
    compiled: Any = statement.compile(dialect=_NUMBERED, compile_kwargs={"render_postcompile": True})
    return str(compiled), [_parameter(compiled.params[name]) for name in compiled.positiontup or ()]


def _parameter(value: Any) -> Any:
    """Return a value in a form that Arrow can bind; the statement casts it to its column's type."""
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def _conninfo(database: JdbcDatabase) -> str:
    url, settings = database.engine.url, database.settings
    schema = parse_address(settings.url).parameters.get(CURRENT_SCHEMA)
    login = {"user": url.username, "password": url.password}
    place = {"host": url.host, "port": url.port, "dbname": url.database}
    given = {name: str(value) for name, value in url.query.items()}
    checked = at_addresses(str(url.host), database.addresses())
    own = database.dialect.connect_arguments(settings, schema)
    return make_conninfo(**{**place, **own, **{name: text for name, text in login.items() if text}, **given, **checked})
