"""Stages the rows of one table as Parquet files in its folder; no reader sees them before the commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from connect_core.connectors.delta.data_files import FILE_BYTES, OpenDataFile, begin_data_file
from connect_core.connectors.delta.partition_rows import PartitionValues, by_columns
from connect_core.connectors.delta.tables import Tables, columns_of, delta_errors, ensure_updatable, ensure_writable
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import Evolution, merged_schema
from connect_core.errors import DataError

__all__ = ["DeltaTableWriter"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000
_OPEN = 64
"""How many files a table has open at most, one per partition."""

Fit = tuple[pa.Schema, pa.Table]


@dataclass(slots=True)
class DeltaTableWriter:
    """Writes the rows of one table to files; ``folder``: this execution's own, within the table's folder."""

    name: TableName
    tables: Tables
    folder: str
    buffered: int = 0
    _planned: pa.Schema | None = None
    _held: list[pa.Table] = field(default_factory=list)
    _rows: int = 0
    _table: DeltaTable | None = None
    _open: dict[PartitionValues, OpenDataFile] = field(default_factory=dict)
    _files: list[Mapping[str, Any]] = field(default_factory=list)
    _begun: int = 0
    _count: int = 0
    _is_found: bool = False

    def fit(self, rows: pa.Table) -> Fit:
        """Return rows in the table's future types, and its future columns. Raises DataError, ConfigError."""
        for part in rows.schema:
            _ensure_known(part.name, part.type)
        planned = merged_schema(self._standing(), rows.schema, self._evolution)
        return planned, fitted(rows, planned, self._evolution)

    def add(self, fit: Fit) -> None:
        """Buffer rows until there are enough for a row group."""
        columns, rows = fit
        self.plan(columns)
        self._held.append(rows)
        self._rows += len(rows)
        self.buffered += rows.nbytes
        if self._rows >= _GROUP_ROWS or self.buffered >= _GROUP_BYTES:
            self.flush()

    def plan(self, columns: pa.Schema) -> None:
        """Let the table have these columns once rows are written; those planned before remain."""
        self._planned = merged_schema(self._standing(), columns, self._evolution)

    def existing(self) -> tuple[pa.Schema, Sequence[str]] | None:
        """Return the columns that the table has or will have; ``None`` if there are none. Delta declares no key."""
        planned = self._standing()
        return (planned, ()) if self._is_found or len(planned) else None

    def flush(self) -> None:
        """Write the buffered rows; the table gets its columns first."""
        if not self._held:
            return
        assert self._planned is not None
        if self._table is None or not columns_of(self._table).equals(self._planned):
            self._close_all()
            self._table = self.tables.grown(self.name, self._planned)
        columns = columns_of(self._table)
        rows = pa.concat_tables([fitted(part, columns, self.tables.settings.evolution) for part in self._held])
        self._planned = columns
        self._held, self._rows, self.buffered = [], 0, 0
        with delta_errors(f"table {self.name[-1]}"):
            for values, some in by_columns(rows, self._table.metadata().partition_columns):
                self._write(values, some)

    def finish(self) -> Mapping[str, Any]:
        """Complete the files and return them with their table."""
        self.flush()
        if self._table is None:
            return {}
        self._close_all()
        found = {"name": list(self.name), "uuid": str(self._table.metadata().id)}
        return {**found, "lists": self._files, "rows": self._count}

    def finish_keys(self, keys: pa.Table) -> Mapping[str, Any]:
        """Write keys to a file of their own → the table, and the file as ``keys``; nothing if there is no table."""
        table = self._table or self.tables.find(self.name)
        if table is None:
            return {}
        path = f"{self.folder}/keys.parquet"
        files = self.tables.files(self.tables.places.table(self.name))
        with delta_errors(f"table {self.name[-1]}"), files.open_output_stream(path) as output:
            pq.write_table(keys, output, compression="zstd")
        return {"name": list(self.name), "uuid": str(table.metadata().id), "keys": [{"file": path}]}

    def discard(self) -> None:
        """Abandon open files, which will be swept."""
        for file in self._open.values():
            file.abandon()
        self._open.clear()

    @property
    def _evolution(self) -> Evolution:
        """The allowed evolution; a table that does not exist yet accepts any columns."""
        allowed = self.tables.settings.evolution
        is_there = self._is_found or self._table is not None
        return allowed if is_there else replace(allowed, adds=True, widens=True, creates=True)

    def _standing(self) -> pa.Schema:
        if self._planned is None:
            table = self.tables.find(self.name)
            self._is_found = table is not None
            if table is not None and self.tables.settings.lake.upserts:
                ensure_updatable(self.name, table)
            if table is not None:
                ensure_writable(self.name, table)
            self._planned = pa.schema([]) if table is None else columns_of(table)
        return self._planned

    def _write(self, values: PartitionValues, rows: pa.Table) -> None:
        file = self._open.pop(values, None) or self._begin(values, rows.schema)
        self._open[values] = file
        file.write(rows)
        self._count += len(rows)
        if file.bytes >= FILE_BYTES:
            self._close(values)
        elif len(self._open) > _OPEN:
            self._close(next(iter(self._open)))

    def _begin(self, values: PartitionValues, schema: pa.Schema) -> OpenDataFile:
        path = f"{self.folder}/{self._begun:05d}.parquet"
        self._begun += 1
        return begin_data_file(self.tables.files(self.tables.places.table(self.name)), path, values, schema)

    def _close(self, values: PartitionValues) -> None:
        self._files.append(self._open.pop(values).close())

    def _close_all(self) -> None:
        with delta_errors(f"table {self.name[-1]}"):
            for values in list(self._open):
                self._close(values)


def _ensure_known(name: str, kind: pa.DataType) -> None:
    """Raise DataError for a type that Delta does not have."""
    if pa.types.is_time(kind):
        raise DataError(f"field {name} is a time of day, for which Delta has no type; convert it by a transform")
    for number in range(kind.num_fields):
        _ensure_known(name, kind.field(number).type)
