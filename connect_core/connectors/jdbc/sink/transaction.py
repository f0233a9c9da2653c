"""One transaction of a sink task: positions, then rows; and its error handling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from connect_core.api.data import Schema
from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.connection import JdbcDatabase, message_of
from connect_core.connectors.jdbc.sink.config import SinkSettings
from connect_core.connectors.jdbc.sink.offsets import Moves, OffsetsTable, Owner, is_at, move
from connect_core.connectors.jdbc.sink.preparing import Preparation
from connect_core.connectors.jdbc.sink.rows import Rows
from connect_core.connectors.jdbc.sink.schemas import load_newest, prepare_newest, store_newest
from connect_core.connectors.jdbc.sink.write_order import FittedRows, writes_of
from connect_core.errors import ConnectError, DataError, RetriableError

__all__ = ["BadRowError", "Moves", "TargetWriter"]

Versions = Mapping[TableName, Schema]
"""The schemas to store as their tables' newest."""

_TRIES = 5


class BadRowError(DataError):
    """The database refuses one row, identified by ``piece`` and ``row``."""

    piece: int = 0
    row: int = 0


class _NewerSchemaError(Exception):
    """Another task has raised a table to a newer version meanwhile."""


@dataclass(slots=True)
class TargetWriter:
    """Writes rows and positions through one connection, which is opened again after any error."""

    database: JdbcDatabase
    settings: SinkSettings
    owner: Owner
    own: OffsetsTable
    preparation: Preparation
    _connection: Connection | None = None

    def write(self, pieces: Sequence[Rows], moves: Moves) -> None:
        """Commit rows and positions together, or neither; nothing if this attempt has committed them before.

        Raises BadRowError, StaleEpochError, RetriableError, or ConnectError. After RetriableError the same call is
        correct, even if a COMMIT is still in progress: it moves the same positions first, and so waits for the COMMIT
        or conflicts with it.
        """
        if pieces and not moves:
            raise ConnectError("rows without a position to move cannot be distinguished from rows written before")
        for _ in range(_TRIES):
            raised: dict[TableName, Schema] = {}
            fitted = self.preparation.fit(pieces, raised)
            self._prepare_newest(raised)
            try:
                self._commit(pieces, fitted, moves, raised)
            except _NewerSchemaError:
                self.preparation.forget()
            else:
                return
        raise RetriableError("other tasks repeatedly change the schema of the same table")

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self.database.close(connection)

    def _commit(self, pieces: Sequence[Rows], fitted: Sequence[FittedRows], moves: Moves, raised: Versions) -> None:
        is_done = False
        owner = self.owner.renewed()
        try:
            connection = self._opened()
            with connection.begin() as transaction:
                if move(connection, self.own.offsets, owner, moves):
                    for name in sorted(raised, key=str):
                        store_newest(connection, self.own.schemas, owner.connector, name, raised[name])
                    self._check_versions(connection, pieces, raised)
                    self._write_all(connection, fitted)
                    self._end(transaction.commit, owner, moves)
                else:
                    transaction.rollback()
                is_done = True
            self.preparation.newest.update(raised)
        except DBAPIError as error:
            self.preparation.forget()
            ours = self.database.translated(error)
            if isinstance(ours, RetriableError):
                raise ours from error
            raise self._blamed(pieces, fitted, ours) from error
        finally:
            if not is_done:
                self.close()

    def _end(self, commit: Callable[[], None], owner: Owner, moves: Moves) -> None:
        """Commit; without a response, check whether it happened. If not yet, it still may: ``move`` handles that."""
        try:
            commit()
        except DBAPIError as error:
            self.close()
            with self.database.connect() as connection:
                ends = {part: end for part, (_, end) in moves.items()}
                if not is_at(connection, self.own.offsets, owner, ends):
                    raise self.database.translated(error) from error

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self.database.open()
        return self._connection

    def _prepare_newest(self, raised: Versions) -> None:
        for name in raised:
            # An IntegrityError means that another task has inserted the row.
            with self.database.connect() as connection, suppress(IntegrityError), connection.begin():
                prepare_newest(connection, self.own.schemas, self.owner.connector, name)

    def _check_versions(self, connection: Connection, pieces: Sequence[Rows], raised: Versions) -> None:
        """Raise _NewerSchemaError for a version that is no longer the newest."""
        versioned = {self.settings.table_of(rows.topic) for rows in pieces if rows.schema and rows.schema.version}
        for name in versioned:
            known = raised.get(name) or self.preparation.newest.get(name)
            found = load_newest(connection, self.own.schemas, self.owner.connector, name)
            if found is not None and (known is None or (found.version or 0) > (known.version or 0)):
                raise _NewerSchemaError

    def _write_all(self, connection: Connection, fitted: Sequence[FittedRows]) -> None:
        by_table: dict[TableName, list[FittedRows]] = {}
        for rows in fitted:
            by_table.setdefault(rows.table.name, []).append(rows)
        for of_table in by_table.values():
            for write in writes_of(of_table, self.settings.insert_mode, self.settings.batch_size):
                self.database.dialect.write(connection, write)

    # -- which row it was ---------------------------------------------------------------------------------------------

    def _blamed(self, pieces: Sequence[Rows], fitted: Sequence[FittedRows], error: ConnectError) -> ConnectError:
        """Return the error with the first row that the database refuses, if a row caused it."""
        low, high = 0, sum(len(rows.deleted) for rows in fitted)
        if high == 0 or self._refusal(fitted, high) is None:
            return error
        while high - low > 1:
            middle = (low + high) // 2
            if self._refusal(fitted, middle) is None:
                low = middle
            else:
                high = middle
        refusal = self._refusal(fitted, high) or str(error)
        return self._bad_row(pieces, high - 1, refusal)

    def _refusal(self, fitted: Sequence[FittedRows], count: int) -> str | None:
        """Return the database's error for the first ``count`` rows, or ``None`` if it accepts them; rolls back."""
        with self.database.connect() as connection:
            transaction = connection.begin()
            try:
                self._write_all(connection, _first(fitted, count))
            except DBAPIError as error:
                return message_of(error)
            finally:
                transaction.rollback()
        return None

    def _bad_row(self, pieces: Sequence[Rows], number: int, refusal: str) -> BadRowError:
        piece = 0
        while number >= len(pieces[piece]):
            number -= len(pieces[piece])
            piece += 1
        rows = pieces[piece]
        name, place = self.settings.table_of(rows.topic), rows.places.text(number)
        error = BadRowError(f"{place}: table {name} rejects the row, key {rows.key_text(number)}: {refusal}")
        error.piece, error.row = piece, number
        return error


def _first(fitted: Sequence[FittedRows], count: int) -> list[FittedRows]:
    chosen = []
    for rows in fitted:
        if count <= 0:
            break
        part = min(count, len(rows.deleted))
        chosen.append(FittedRows(rows.table, rows.keys, rows.data.slice(0, part), rows.deleted.slice(0, part)))
        count -= part
    return chosen
