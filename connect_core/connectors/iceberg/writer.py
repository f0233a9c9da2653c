"""Stages the rows of one table as Parquet files at its location; no reader sees them before the commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyiceberg.io.pyarrow import ParquetFormatModel, ParquetFormatWriter, sanitize_column_names, schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.iceberg.file_lists import text_of_files
from connect_core.connectors.iceberg.partition_rows import by_partition_of
from connect_core.connectors.iceberg.tables import Tables, columns_of
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import Evolution, merged_schema

__all__ = ["IcebergTableWriter"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000
_OPEN = 64
"""How many files a table has open at most, one per partition."""
_FILE_BYTES = 512 * 1024 * 1024
_TARGET_SIZE = "write.target-file-size-bytes"

Fit = tuple[pa.Schema, pa.Table]


@dataclass(slots=True)
class _Open:
    path: str
    partition: Record
    writer: ParquetFormatWriter
    bytes: int = 0


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
    _open: dict[Record, _Open] = field(default_factory=dict)
    _lists: list[dict[str, Any]] = field(default_factory=list)
    _files: list[DataFile] = field(default_factory=list)
    _begun: int = 0
    _count: int = 0
    _is_found: bool = False

    def fit(self, rows: pa.Table) -> Fit:
        """Return rows in the table's future types, and its future columns. Raises DataError, ConfigError."""
        standing = self._standing()
        planned = merged_schema(standing, rows.schema, self._evolution)
        return planned, fitted(rows, planned, self._evolution)

    def add(self, fit: Fit) -> None:
        """Buffer rows until there are enough for a row group."""
        self._planned, rows = fit
        self._held.append(rows)
        self._rows += len(rows)
        self.buffered += rows.nbytes
        if self._rows >= _GROUP_ROWS or self.buffered >= _GROUP_BYTES:
            self.flush()

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

    def discard(self) -> None:
        """Abandon open files, which will be swept."""
        for file in self._open.values():
            file.writer._writer.is_open = False
        self._open.clear()

    @property
    def _evolution(self) -> Evolution:
        """The allowed evolution; a table that does not exist yet accepts any columns."""
        allowed = self.tables.settings.evolution
        return allowed if self._is_found or self._table is not None else Evolution(True, allowed.ignores_case)

    def _standing(self) -> pa.Schema:
        if self._planned is None:
            table = self.tables.find(self.name)
            self._is_found = table is not None
            self._planned = pa.schema([]) if table is None else columns_of(table)
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
        schema = schema_to_pyarrow(_file_schema(table))
        file.writer.write(pa.Table.from_arrays([column.cast(part.type) for column, part in
                                                zip(rows.columns, schema, strict=True)], schema=schema))  # fmt: skip
        file.bytes += rows.nbytes
        self._count += len(rows)
        target = int(table.properties.get(_TARGET_SIZE) or _FILE_BYTES)
        if file.bytes >= target or len(self._open) > _OPEN:
            self._close(table, next(iter(self._open)) if file.bytes < target else partition)

    def _begin(self, table: Table, partition: Record) -> _Open:
        name = f"{self.folder}/{self._begun:05d}.parquet"
        self._begun += 1
        path = table.location_provider().new_data_location(name)
        properties = {**table.properties, **self.tables.settings.write_properties}
        writer = ParquetFormatModel().create_writer(table.io.new_output(path), _file_schema(table), properties)
        return _Open(path, partition, writer)

    def _close(self, table: Table, partition: Record) -> None:
        file = self._open.pop(partition)
        statistics = file.writer.close().to_serialized_dict()
        data_file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=file.path,
            file_format=FileFormat.PARQUET,
            partition=file.partition,
            file_size_in_bytes=len(table.io.new_input(file.path)),
            sort_order_id=None,
            spec_id=table.spec().spec_id,
            equality_ids=None,
            key_metadata=None,
            **statistics,
        )
        self._files.append(data_file)

    def _close_all(self, table: Table | None = None) -> None:
        owner = table or self._table
        assert owner is not None
        for partition in list(self._open):
            self._close(owner, partition)
        if self._files:
            spec = owner.spec()
            self._lists.append({"spec": spec.spec_id, "files": text_of_files(self._files, spec, owner.schema())})
            self._files = []


def _file_schema(table: Table) -> Schema:
    """Return the schema with names that Parquet's readers accept: fields are found by their ids."""
    return sanitize_column_names(table.schema())
