"""Data files of a table as the sources of copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import And, BooleanExpression, GreaterThanOrEqual, In, LessThanOrEqual
from pyiceberg.io.pyarrow import _read_all_delete_files
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table

from connect_core.connectors.iceberg.data_files import OpenDataFile, begin_data_file
from connect_core.connectors.iceberg.reading import batches_of
from connect_core.connectors.iceberg.tables import columns_of
from connect_core.connectors.lake.keys import KeySet

__all__ = ["IcebergSource", "scanned"]

_NAMED = 200
"""How many values pyiceberg compares with the statistics and partitions of a file one by one."""


@dataclass(slots=True)
class _Copy:
    table: Table
    file: OpenDataFile

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def bytes(self) -> int:
        return self.file.bytes

    def write(self, rows: pa.Table) -> None:
        self.file.write(self.table, rows)

    def close(self) -> DataFile:
        return self.file.close(self.table)


@dataclass(frozen=True, slots=True)
class IcebergSource:
    """A data file with the deletions of others. ``properties``: for writing its copy."""

    table: Table
    task: FileScanTask
    properties: Mapping[str, str]

    @property
    def file(self) -> DataFile:
        """The file itself."""
        return self.task.file

    @property
    def partition(self) -> str:
        """Spec and partition."""
        return f"{self.task.file.spec_id} {self.task.file.partition}"

    def bounds(self, columns: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Return the bounds of those columns that the file's metrics have."""
        file, found = self.task.file, {}
        for name in columns:
            field = self.table.schema().find_field(name)
            least = (file.lower_bounds or {}).get(field.field_id)
            greatest = (file.upper_bounds or {}).get(field.field_id)
            if least is not None and greatest is not None:
                low, high = (from_bytes(field.field_type, value) for value in (least, greatest))
                if not isinstance(low, UUID):
                    found[name] = (low, high)
        return found

    def rows(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """Return the rows that are not deleted, in their order, a little at a time."""
        schema = self.table.schema() if columns is None else self.table.schema().select(*columns)
        wanted = {part.name for part in schema.fields}
        target = pa.schema([part for part in columns_of(self.table) if part.name in wanted])
        deletes = _read_all_delete_files(self.table.io, [self.task]).get(self.task.file.file_path, [])
        for batch in batches_of(self.table, schema, self.task, deletes):
            yield pa.Table.from_batches([batch]).select(target.names).cast(target)

    def begin(self, name: str) -> _Copy:
        """Begin a file in the partition of this one."""
        file = self.task.file
        return _Copy(self.table, begin_data_file(self.table, name, file.partition, file.spec_id, self.properties))


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
