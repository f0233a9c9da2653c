"""Delete files as other engines write them: pyiceberg itself writes none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
)
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record

_PATH, _POSITION = 2147483546, 2147483545


class _Manifest(ManifestWriterV2):  # type: ignore[misc]
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class _Deletes(_FastAppendFiles):  # type: ignore[misc]
    def _manifests(self) -> list[ManifestFile]:
        spec = self.spec(0)
        with _Manifest(spec, self.schema(), self.new_manifest_output(), self.snapshot_id, self._compression) as writer:
            for file in self._added_data_files:
                status = ManifestEntryStatus.ADDED
                entry = ManifestEntry.from_args(status=status, snapshot_id=self.snapshot_id, data_file=file)
                writer.add_entry(entry)
        return [writer.to_manifest_file(), *self._existing_manifests()]


def delete_positions(table: Table, path: str, positions: list[int]) -> None:
    """Delete rows of a data file by their positions."""
    fields = [("file_path", pa.string(), _PATH), ("pos", pa.int64(), _POSITION)]
    schema = pa.schema([pa.field(name, kind, False, {b"PARQUET:field_id": str(number).encode()})
                        for name, kind, number in fields])  # fmt: skip
    rows = pa.table([[path] * len(positions), positions], schema=schema)
    _add(table, rows, DataFileContent.POSITION_DELETES, None)


def delete_values(table: Table, column: str, value: Any) -> None:
    """Delete rows by a column's value."""
    _add(
        table,
        pa.table({column: [value]}),
        DataFileContent.EQUALITY_DELETES,
        [table.schema().find_field(column).field_id],
    )


def _add(table: Table, rows: pa.Table, content: DataFileContent, ids: list[int] | None) -> None:
    path = f"{table.location()}/data/deletes.parquet"
    with table.io.new_output(path).create() as output:
        pq.write_table(rows, output)
    file = DataFile.from_args(
        content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(), record_count=len(rows),
        file_size_in_bytes=len(table.io.new_input(path)), equality_ids=ids,
    )  # fmt: skip
    file.spec_id = 0
    transaction = Transaction(table, autocommit=True)
    producer = _Deletes(operation=Operation.DELETE, transaction=transaction, io=table.io)
    producer.append_data_file(file)
    producer.commit()
