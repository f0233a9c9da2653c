"""From rows as records say them to rows as their table takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from connect_core.api.data import Schema
from connect_core.connectors.jdbc.catalog import Table, TableName
from connect_core.connectors.jdbc.connection import JdbcDatabase
from connect_core.connectors.jdbc.fitting import Misfit, fitted
from connect_core.connectors.jdbc.sink_config import SinkSettings
from connect_core.connectors.jdbc.sink_rows import Rows
from connect_core.connectors.jdbc.sink_schemas import load_newest, projected, store_newest
from connect_core.connectors.jdbc.sink_tables import SinkTables
from connect_core.connectors.jdbc.sink_writes import FittedRows
from connect_core.errors import DataError

__all__ = ["Preparation"]


@dataclass(slots=True)
class Preparation:
    """Brings rows up to the newest version of their table's schema and into its columns' form."""

    connector: str
    database: JdbcDatabase
    settings: SinkSettings
    schemas: sa.Table
    tables: SinkTables = field(init=False)
    newest: dict[TableName, Schema | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = SinkTables(self.database, self.settings)

    def forget(self) -> None:
        """Look everything up anew."""
        self.tables.forget()
        self.newest.clear()

    def learn(self, pieces: Iterable[Rows]) -> None:
        """Make the newest version among these rows the table's, if it is newer: first its columns, then its record."""
        for rows in pieces:
            version = None if rows.schema is None else rows.schema.version
            if rows.schema is None or version is None:
                continue
            name = self.settings.table_of(rows.topic)
            known = self._known(name)
            if known is None or (known.version or 0) < version:
                self._table(rows)
                with self.database.begin() as connection:
                    store_newest(connection, self.schemas, self.connector, name, rows.schema)
                self.newest.pop(name)

    def fitted(self, rows: Rows) -> FittedRows:
        """Return rows in their table's form. Raises DataError naming place, table and key."""
        current = self._current(rows)
        table = self._table(current)
        arrays, names, row = [], [], 0
        others = [column.name for column in current.columns]
        try:
            for one in current.columns:
                column = self.tables.column(table, one.name, others)
                assert column is not None
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

    def _current(self, rows: Rows) -> Rows:
        version = None if rows.schema is None else rows.schema.version
        if rows.schema is None or version is None:
            return rows
        newest = self._known(self.settings.table_of(rows.topic))
        if newest is None or (newest.version or 0) <= version:
            return rows
        try:
            return projected(rows, newest, self.settings.included)
        except DataError as error:
            raise DataError(
                f"{rows.places.text(0)}: version {version} of schema {rows.schema.name} cannot be brought to version "
                f"{newest.version}, which the table has: {error}"
            ) from error

    def _check_keys(self, rows: Rows, table: Table, keys: pa.Table) -> None:
        for name in keys.column_names:
            if keys[name].null_count:
                row = pc.index(keys[name].is_null(), True).as_py()
                raise DataError(f"{rows.places.text(row)}: column {name} of the key of table {table.name} is null")
