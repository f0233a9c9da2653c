"""Data files of a table as the sources of copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyarrow.fs import FileSystem

from connect_core.connectors.delta.data_files import OpenDataFile, begin_data_file
from connect_core.connectors.delta.partition_rows import partition_text
from connect_core.connectors.delta.tables import columns_of
from connect_core.connectors.lake.fitting import fitted
from connect_core.connectors.lake.types import Evolution
from connect_core.errors import ConnectError

__all__ = ["DeltaSource", "removable", "sized_files", "sources_of"]

_ROWS = 64 * 1024
_UNENCODED = "!$&'()+,-./:;=@_~"
"""What delta-rs leaves as it is in paths, besides letters and digits of ASCII."""


@dataclass(slots=True)
class _Copy:
    open: OpenDataFile
    columns: Sequence[str]

    @property
    def path(self) -> str:
        return self.open.path

    @property
    def bytes(self) -> int:
        return self.open.bytes

    def write(self, rows: pa.Table) -> None:
        self.open.write(rows.select(self.columns))

    def close(self) -> Mapping[str, Any]:
        return self.open.close()


@dataclass(frozen=True, slots=True)
class DeltaSource:
    """A data file. ``columns``: the table's; ``values``: those of its partition, by column."""

    files: FileSystem
    columns: pa.Schema
    file: Mapping[str, Any]
    """``path``; ``logged``: the path as the log has it, encoded as in a URL."""
    values: Mapping[str, Any]
    least: Mapping[str, Any]
    greatest: Mapping[str, Any]

    @property
    def partition(self) -> str:
        """The partition's values."""
        return repr(sorted(self.values.items()))

    def bounds(self, columns: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Return the bounds of those columns that the log has and that are exact, and the partition's values."""
        found = {}
        for name in columns:
            low, high = self.least.get(name), self.greatest.get(name)
            if name in self.values:
                low = high = self.values[name]
            elif not _is_exact(self.columns.field(name).type):
                continue
            if low is not None and high is not None:
                found[name] = (low, high)
        return found

    def rows(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """Return rows in their order, a little at a time."""
        wanted = self.columns if columns is None else pa.schema([self.columns.field(name) for name in columns])
        with self.files.open_input_file(self.file["path"]) as stream, pq.ParquetFile(stream) as parquet:
            there = [name for name in wanted.names if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(_ROWS, columns=there):
                rows = pa.Table.from_batches([batch])
                for name, value in self.values.items():
                    if name in wanted.names:
                        column = pa.repeat(pa.scalar(value, wanted.field(name).type), batch.num_rows)
                        rows = rows.append_column(name, column)
                yield fitted(rows, wanted, Evolution(False))

    def begin(self, name: str) -> _Copy:
        """Begin a file in the partition of this one."""
        values = tuple(
            (column, partition_text(column, pa.array([value], self.columns.field(column).type))[0].as_py())
            for column, value in self.values.items()
        )
        schema = pa.schema([part for part in self.columns if part.name not in self.values])
        return _Copy(begin_data_file(self.files, name, values, schema), schema.names)


def sources_of(table: DeltaTable, files: FileSystem) -> list[DeltaSource]:
    """Return the data files of a version."""
    columns = columns_of(table)
    names = table.metadata().partition_columns
    found = []
    for action in pa.table(table.get_add_actions(flatten=False)).to_pylist():
        told = action.get("partition") or action.get("partition_values") or {}
        values = {name: told.get(name) for name in names}
        bounds = action.get("min") or {}, action.get("max") or {}
        file = {"path": unquote(action["path"]), "logged": action["path"]}
        found.append(DeltaSource(files, columns, file, values, *bounds))
    return found


def sized_files(table: DeltaTable) -> list[tuple[str, int, str]]:
    """Return the partition, the bytes and the path of each data file of a version."""
    actions = pa.table(table.get_add_actions(flatten=False)).to_pylist()
    return [
        (repr(one.get("partition") or one.get("partition_values")), one["size_bytes"], one["path"]) for one in actions
    ]


def removable(name: str, file: Mapping[str, Any]) -> str:
    """Return the path by which delta-rs removes a file. Raises ConnectError if that would remove nothing.

    delta-rs encodes the path itself, and the log compares texts: another writer may have encoded it otherwise.
    """
    if quote(file["path"], safe=_UNENCODED) != file["logged"]:
        raise ConnectError(
            f"table {name} has a file whose path another writer has encoded in its own way, {file['logged']}, and rows "
            "in it are to be replaced: rewrite it once, by OPTIMIZE"
        )
    return str(file["path"])


def _is_exact(kind: pa.DataType) -> bool:
    """Return whether the log's bounds of a type hold: those of times are cut to milliseconds, decimals are rounded."""
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind))
