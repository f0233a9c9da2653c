"""Stages the rows of one table as Parquet files in its folder; no reader sees them before the commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from connect_core.connectors.delta.partition_rows import PartitionValues, by_columns
from connect_core.connectors.delta.statistics import statistics_of
from connect_core.connectors.delta.tables import Tables, columns_of, delta_errors
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.lake.types import Evolution, merged_schema
from connect_core.errors import DataError

__all__ = ["DeltaTableWriter"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000
_FILE_BYTES = 512 * 1024 * 1024
_OPEN = 64
"""How many files a table has open at most, one per partition."""

Fit = tuple[pa.Schema, pa.Table]


@dataclass(slots=True)
class _Open:
    path: str
    stream: Any
    writer: pq.ParquetWriter
    bytes: int = 0


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
    _open: dict[PartitionValues, _Open] = field(default_factory=dict)
    _files: list[dict[str, Any]] = field(default_factory=list)
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

    def discard(self) -> None:
        """Abandon open files, which will be swept."""
        for file in self._open.values():
            file.writer.is_open = False
        self._open.clear()

    @property
    def _evolution(self) -> Evolution:
        """The allowed evolution; a table that does not exist yet accepts any columns."""
        allowed = self.tables.settings.evolution
        return allowed if self._is_found or self._table is not None else Evolution(True, widens=True)

    def _standing(self) -> pa.Schema:
        if self._planned is None:
            table = self.tables.find(self.name)
            self._is_found = table is not None
            self._planned = pa.schema([]) if table is None else columns_of(table)
        return self._planned

    def _write(self, values: PartitionValues, rows: pa.Table) -> None:
        file = self._open.pop(values, None) or self._begin(rows.schema)
        self._open[values] = file
        file.writer.write_table(rows, row_group_size=max(1, len(rows)))
        file.bytes += rows.nbytes
        self._count += len(rows)
        if file.bytes >= _FILE_BYTES:
            self._close(values)
        elif len(self._open) > _OPEN:
            self._close(next(iter(self._open)))

    def _begin(self, schema: pa.Schema) -> _Open:
        path = f"{self.folder}/{self._begun:05d}.parquet"
        self._begun += 1
        stream = self.tables.files(self.tables.places.table(self.name)).open_output_stream(path)
        return _Open(path, stream, pq.ParquetWriter(stream, schema, compression="zstd"))

    def _close(self, values: PartitionValues) -> None:
        file = self._open.pop(values)
        file.writer.close()
        size = file.stream.tell()
        file.stream.close()
        statistics = json.dumps(statistics_of(file.writer.writer.metadata))
        self._files.append({"path": file.path, "size": size, "partition": dict(values), "statistics": statistics})

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
