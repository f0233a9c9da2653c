"""Copies data files without the rows that have certain keys; files that have none of them stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import (
    AlwaysTrue,
    And,
    BooleanExpression,
    GreaterThanOrEqual,
    In,
    LessThanOrEqual,
)
from pyiceberg.io.pyarrow import ArrowScan, _read_all_delete_files
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask, Table

from connect_core.connectors.iceberg.data_files import OpenDataFile, begin_data_file, target_size
from connect_core.connectors.iceberg.tables import columns_of
from connect_core.connectors.lake.keys import KeySet

__all__ = ["Rewriting", "scanned"]

_GROUP_BYTES = 64 * 1024 * 1024
_GROUP_ROWS = 250_000
_NAMED = 200
"""How many values pyiceberg compares with the statistics and partitions of a file one by one."""


@dataclass(slots=True)
class Rewriting:
    """Files of one partition are copied one after the other, into as few as possible.

    ``folder``: a path for this attempt alone, within the table's data; ``properties``: for writing data files.
    """

    table: Table
    folder: str
    properties: Mapping[str, str]
    removed: list[DataFile] = field(default_factory=list)
    added: list[DataFile] = field(default_factory=list)
    dropped: int = 0
    """How many rows were left out."""
    places: list[str] = field(default_factory=list)
    """Every file begun."""
    _open: OpenDataFile | None = None
    _held: list[pa.Table] = field(default_factory=list)

    def drop(self, tasks: Iterable[FileScanTask], keys: KeySet) -> None:
        """Drop the rows with one of the keys from these files."""
        for task in sorted(tasks, key=lambda one: (one.file.spec_id, str(one.file.partition), one.file.file_path)):
            if keys.may_be_in(_bounds(self.table, task.file, keys.rows.column_names)):
                self._drop(task, keys)
        self._finish()

    def _drop(self, task: FileScanTask, keys: KeySet) -> None:
        key = self.table.schema().select(*keys.rows.column_names)
        parts = list(_rows(self.table, task, key))
        found = keys.found_in(pa.concat_tables(parts)) if parts else np.zeros(0, bool)
        if not found.any():
            return
        self.removed.append(task.file)
        self.dropped += int(found.sum())
        if found.all():
            return
        first = 0
        for rows in _rows(self.table, task, self.table.schema()):
            self._add(task.file, rows.filter(pa.array(~found[first : first + len(rows)])))
            first += len(rows)

    def _add(self, file: DataFile, rows: pa.Table) -> None:
        if not len(rows):
            return
        current = self._open
        if current is not None and (current.spec, current.partition) != (file.spec_id, file.partition):
            self._finish()
        if self._open is None:
            name = f"{self.folder}/{len(self.places):05d}.parquet"
            self._open = begin_data_file(self.table, name, file.partition, file.spec_id, self.properties)
            self.places.append(self._open.path)
        self._held.append(rows)
        held = sum(len(one) for one in self._held)
        if held >= _GROUP_ROWS or sum(one.nbytes for one in self._held) >= _GROUP_BYTES:
            self._flush()
        if self._open.bytes >= target_size(self.table):
            self._finish()

    def _flush(self) -> None:
        if self._held:
            assert self._open is not None
            self._open.write(self.table, pa.concat_tables(self._held))
        self._held = []

    def _finish(self) -> None:
        self._flush()
        if self._open is not None:
            self.added.append(self._open.close(self.table))
        self._open = None


def scanned(table: Table, branch: str, keys: KeySet) -> list[FileScanTask]:
    """Return the data files of a branch that can have rows with one of the keys, by partitions and statistics."""
    snapshot = table.snapshot_by_name(branch)
    if snapshot is None or not len(keys):
        return []
    parts = [_filter(name, keys.rows.column(name)) for name in keys.rows.column_names]
    scan = table.scan(row_filter=reduce(And, parts), snapshot_id=snapshot.snapshot_id)
    return list(scan.plan_files())


def _filter(name: str, column: pa.ChunkedArray) -> BooleanExpression:
    values = pc.unique(column)
    if len(values) <= _NAMED:
        return In(name, set(values.to_pylist()))
    bounds = pc.min_max(values)
    return And(GreaterThanOrEqual(name, bounds["min"].as_py()), LessThanOrEqual(name, bounds["max"].as_py()))


def _rows(table: Table, task: FileScanTask, schema: Schema) -> Iterator[pa.Table]:
    """Return the rows of a data file that are not deleted, in its order, a little at a time."""
    # Not ArrowScan.to_record_batches: it reads the whole file first.
    scan = ArrowScan(table.metadata, table.io, schema, AlwaysTrue())
    target = pa.schema([part for part in columns_of(table) if part.name in {one.name for one in schema.fields}])
    deletes = _read_all_delete_files(table.io, [task])
    for batch in scan._record_batches_from_scan_tasks_and_deletes([task], deletes):
        rows = pa.Table.from_batches([batch])
        yield rows.select(target.names).cast(target)


def _bounds(table: Table, file: DataFile, names: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    found = {}
    for name in names:
        field = table.schema().find_field(name)
        least = (file.lower_bounds or {}).get(field.field_id)
        greatest = (file.upper_bounds or {}).get(field.field_id)
        if least is not None and greatest is not None:
            low, high = (from_bytes(field.field_type, value) for value in (least, greatest))
            if not isinstance(low, UUID):
                found[name] = (low, high)
    return found
