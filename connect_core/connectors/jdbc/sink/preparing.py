"""Prepares rows of records for their table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from connect_core.api.data import Schema
from connect_core.connectors.jdbc.catalog import Table, TableName
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.sink.config import SinkSettings
from connect_core.connectors.jdbc.sink.fitting import Misfit, fitted
from connect_core.connectors.jdbc.sink.rows import Rows
from connect_core.connectors.jdbc.sink.schemas import load_newest, projected
from connect_core.connectors.jdbc.sink.tables import SinkTables
from connect_core.connectors.jdbc.sink.write_order import FittedRows
from connect_core.errors import DataError

__all__ = ["Preparation"]


@dataclass(slots=True)
class Preparation:
    """Converts rows to the newest version of their table's schema and to its columns' form."""

    connector: str
    database: JdbcDatabase
    settings: SinkSettings
    schemas: sa.Table
    tables: SinkTables = field(init=False)
    newest: dict[TableName, Schema | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = SinkTables(self.database, self.settings)

    def forget(self) -> None:
        """Drop all cached tables and schemas."""
        self.tables.forget()
        self.newest.clear()

    def with_tables(self, pieces: Sequence[Rows]) -> Sequence[Rows]:
        """Leave out tombstones for tables that do not exist yet: there is no row to delete."""
        if not self.settings.creates:
            return pieces
        created = {self.settings.table_of(rows.topic) for rows in pieces if rows.schema is not None}
        return [
            rows
            for rows in pieces
            if rows.schema is not None
            or rows.is_schemaless
            or (name := self.settings.table_of(rows.topic)) in created
            or self.tables.has(name)
        ]

    def fit(self, pieces: Sequence[Rows], raised: dict[TableName, Schema]) -> list[FittedRows]:
        """Return rows in their tables' form, each converted to the newest version that comes before it.

        ``raised`` contains, and receives, the versions that are newer than the stored ones: they must be stored in the
        transaction of these rows, as a repeated transaction then finds the same state as before. DDL is executed here.
        Raises DataError naming place, table and key.
        """
        before = dict(raised)
        for rows in pieces:
            if self._raise(rows, raised) or (rows.schema and not self.tables.has(self.settings.table_of(rows.topic))):
                self._table(rows)
        return [self._fitted(rows, self._current(rows, before)) for rows in pieces]

    def _raise(self, rows: Rows, raised: dict[TableName, Schema]) -> bool:
        """Record the version of these rows, if it is the newest of their table."""
        if rows.schema is None or rows.schema.version is None:
            return False
        name = self.settings.table_of(rows.topic)
        newest = raised.get(name) or self._known(name)
        if newest is not None and (newest.version or 0) >= rows.schema.version:
            return False
        raised[name] = rows.schema
        return True

    def _fitted(self, rows: Rows, current: Rows) -> FittedRows:
        table = self._table(current)
        arrays: list[pa.Array] = []
        names: list[str] = []
        others = [column.name for column in current.columns]
        try:
            for one in current.columns:
                column = self.tables.column(table, one.name, others)
                assert column is not None
                if column.name in names:
                    raise DataError(_same_column(current, names.index(column.name), one.name, column.name, table))
                timezone = self.settings.connection.timezone
                arrays.append(fitted(one.array, one.schema, column, timezone, current.is_schemaless))
                names.append(column.name)
        except Misfit as error:
            row = error.row or 0
            key = current.key_text(row)
            raise DataError(f"{rows.places.text(row)}: {error}, table {table.name}, key {key}") from error
        keys = tuple(names[: len(current.keys)])
        data = pa.table(arrays, names=names)
        self._check_keys(rows, table, data.select(keys))
        return FittedRows(table, keys, data, current.deleted)

    def _table(self, rows: Rows) -> Table:
        try:
            return self.tables.of(rows)
        except DataError as error:
            raise DataError(f"{rows.places.text(0)}: {error}") from error

    def _known(self, name: TableName) -> Schema | None:
        if name not in self.newest:
            with self.database.connect() as connection:
                self.newest[name] = load_newest(connection, self.schemas, self.connector, name)
        return self.newest[name]

    def _current(self, rows: Rows, raised: dict[TableName, Schema]) -> Rows:
        version = None if rows.schema is None else rows.schema.version
        if rows.schema is None or version is None or self._raise(rows, raised):
            return rows
        name = self.settings.table_of(rows.topic)
        newest = raised.get(name) or self._known(name)
        if newest is None or newest.version == version:
            return rows
        try:
            return projected(rows, newest, self.settings.included)
        except DataError as error:
            raise DataError(
                f"{rows.places.text(0)}: version {version} of schema {rows.schema.name} cannot be converted to version "
                f"{newest.version}, which the table has: {error}"
            ) from error

    def _check_keys(self, rows: Rows, table: Table, keys: pa.Table) -> None:
        for name in keys.column_names:
            if keys[name].null_count:
                row = pc.index(keys[name].is_null(), True).as_py()
                raise DataError(f"{rows.places.text(row)}: column {name} of the key of table {table.name} is null")


def _same_column(rows: Rows, first: int, other: str, column: str, table: Table) -> str:
    fields = f"{rows.columns[first].name} and {other}"
    return (
        f"{rows.places.text(0)}: fields {fields} would both be written to column {column} of table {table.name}, key "
        f"{rows.key_text(0)}; add a column, or rename or exclude a field (ReplaceField)"
    )
