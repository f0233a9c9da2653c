"""Stages the rows of one table as Parquet files at its location; no reader sees them before the commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.iceberg.data_files import OpenDataFile, begin_data_file, target_size
from connect_core.connectors.iceberg.file_lists import text_of_files
from connect_core.connectors.iceberg.partition_rows import by_partition_of
from connect_core.connectors.iceberg.tables import Tables, columns_of, ensure_nameable, ensure_readable, identifiers_of
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import Evolution, merged_schema

__all__ = ["IcebergTableWriter"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000
_OPEN = 64
"""How many files a table has open at most, one per partition."""

Fit = tuple[pa.Schema, pa.Table]


@dataclass(slots=True)
class IcebergTableWriter:
    """Writes the rows of one table to files; ``folder``: a path for this execution alone, within the table's data."""

    name: TableName
    tables: Tables
    folder: str
    buffered: int = 0
    _planned: pa.Schema | None = None
    _held: list[pa.Table] = field(default_factory=list)
    _rows: int = 0
    _table: Table | None = None
    _open: dict[Record, OpenDataFile] = field(default_factory=dict)
    _lists: list[dict[str, Any]] = field(default_factory=list)
    _files: list[DataFile] = field(default_factory=list)
    _begun: int = 0
    _count: int = 0
    _is_found: bool = False
    _identifiers: tuple[str, ...] = ()

    def fit(self, rows: pa.Table) -> Fit:
        """Return rows in the table's future types, and its future columns. Raises DataError, ConfigError."""
        standing = self._standing()
        merged = merged_schema(standing, rows.schema, self._evolution)
        if not merged.equals(standing):
            ensure_nameable(merged)
        # What identifies a row stays required, as Iceberg demands.
        planned = pa.schema(
            [part.with_nullable(part.nullable and part.name not in self._identifiers) for part in merged]
        )
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
        """Return the columns that the table has or will have, and its identifier fields; ``None`` if there are none."""
        planned = self._standing()
        return (planned, self._identifiers) if self._is_found or len(planned) else None

    def flush(self) -> None:
        """Write the buffered rows; the table gets its columns first."""
        if not self._held:
            return
        assert self._planned is not None
        self._grow(self._planned)
        table = self._table
        assert table is not None
        columns, evolution = columns_of(table), self.tables.settings.evolution
        rows = pa.concat_tables([fitted(part, columns, evolution) for part in self._held])
        self._planned = columns
        self._held, self._rows, self.buffered = [], 0, 0
        with catalog_errors(f"table {'.'.join(self.name)}"):
            for partition, some in by_partition_of(rows, table.schema(), table.spec()):
                self._write(table, partition, some)

    def finish(self) -> Mapping[str, Any]:
        """Complete the files and return them with their table."""
        self.flush()
        if self._table is None:
            return {}
        with catalog_errors(f"table {'.'.join(self.name)}"):
            self._close_all()
        found = {"name": list(self.name), "uuid": str(self._table.metadata.table_uuid)}
        return {**found, "lists": self._lists, "rows": self._count}

    def finish_keys(self, keys: pa.Table) -> Mapping[str, Any]:
        """Write keys to a file of their own → the table, and the file as ``keys``; nothing if there is no table."""
        table = self._table or self.tables.find(self.name)
        if table is None:
            return {}
        path = table.location_provider().new_data_location(f"{self.folder}/keys.parquet")
        with catalog_errors(f"table {'.'.join(self.name)}"), table.io.new_output(path).create() as output:
            pq.write_table(keys, output, compression="zstd")
        return {"name": list(self.name), "uuid": str(table.metadata.table_uuid), "keys": [{"file": path}]}

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
        return allowed if is_there else replace(allowed, adds=True, creates=True)

    def _standing(self) -> pa.Schema:
        if self._planned is None:
            table = self.tables.find(self.name)
            self._is_found = table is not None
            self._planned = pa.schema([]) if table is None else columns_of(table)
            self._identifiers = () if table is None else identifiers_of(table)
            if table is not None and self.tables.settings.lake.upserts:
                ensure_readable(table)
        return self._planned

    def _grow(self, planned: pa.Schema) -> None:
        if self._table is not None and columns_of(self._table).equals(planned):
            return
        before, self._table = self._table, self.tables.grown(self.name, planned)
        if before is not None and before.metadata != self._table.metadata:
            # Files of one list have one schema and one spec.
            self._close_all(before)

    def _write(self, table: Table, partition: Record, rows: pa.Table) -> None:
        file = self._open.pop(partition, None) or self._begin(table, partition)
        self._open[partition] = file
        file.write(table, rows)
        self._count += len(rows)
        target = target_size(table)
        if file.bytes >= target or len(self._open) > _OPEN:
            self._close(table, next(iter(self._open)) if file.bytes < target else partition)

    def _begin(self, table: Table, partition: Record) -> OpenDataFile:
        name = f"{self.folder}/{self._begun:05d}.parquet"
        self._begun += 1
        return begin_data_file(table, name, partition, table.spec().spec_id, self.tables.settings.write_properties)

    def _close(self, table: Table, partition: Record) -> None:
        self._files.append(self._open.pop(partition).close(table))

    def _close_all(self, table: Table | None = None) -> None:
        owner = table or self._table
        assert owner is not None
        for partition in list(self._open):
            self._close(owner, partition)
        if self._files:
            spec = owner.spec()
            self._lists.append({"spec": spec.spec_id, "files": text_of_files(self._files, spec, owner.schema())})
            self._files = []
