"""Turns the append of an interval into one that also removes the rows which have its keys."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.iceberg.data_files import target_size
from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.iceberg.snapshots import Change, remove_files
from connect_core.connectors.iceberg.sources import IcebergSource, scanned
from connect_core.connectors.iceberg.tables import columns_of, ensure_readable
from connect_core.connectors.lake.keys import KeySet
from connect_core.connectors.lake.rewriting import Rewriting
from connect_core.connectors.lake.staged_keys import staged_keys

__all__ = ["COPIED", "REWRITE", "SUPERSEDED", "Upsert"]

REWRITE = "connect-core.rewrite"
"""The folder of the files that a snapshot's commit wrote, among those of all attempts at it."""
COPIED = "connect-core.copied-records"
SUPERSEDED = "connect-core.superseded-records"


@dataclass(frozen=True, slots=True)
class Upsert:
    """One attempt at an interval's snapshot of a table."""

    table: Table
    append: Change
    marker: str
    """The property of the table that names the interval."""
    folder: str
    """Where copies are written, within the table's data: a folder for this interval."""
    properties: Mapping[str, str]
    """For writing data files."""

    def change(self, content: Mapping[str, Any]) -> Change:
        """Return the snapshot, for which data files that have some of the keys are copied without these rows.

        Raises ConnectError, after which nothing is left of the copies.
        """
        name, written = ".".join(self.table.name()), list[Rewriting[DataFile]]()
        ensure_readable(self.table)
        with ExitStack() as undone:
            undone.callback(lambda: remove_files(self.table, [place for one in written for place in one.places]))
            with catalog_errors(f"table {name}"):
                change = self._change(content, secrets.token_hex(8), written)
            undone.pop_all()
        return change

    def _change(self, content: Mapping[str, Any], token: str, written: list[Rewriting[DataFile]]) -> Change:
        staged = staged_keys(".".join(self.table.name()), columns_of(self.table), content, self._load)
        copies = self._drop(scanned(self.table, self.append.branch, staged.all), staged.all, token, written)
        files, superseded = list(copies.added), 0
        for lists, shared in staged.lists:
            mine = [file for one in lists for file in files_of_text(one["files"], one["spec"])]
            if len(shared):
                again = self._drop([FileScanTask(file) for file in mine], shared, token, written)
                mine = [file for file in mine if file not in again.removed] + again.added
                superseded += again.dropped
            files += mine
        told = {REWRITE: token, COPIED: str(copies.copied), SUPERSEDED: str(superseded)}
        marker = {**json.loads(self.append.properties[self.marker]), "rewrite": token}
        return replace(
            self.append,
            summary={**self.append.summary, **told},
            properties={self.marker: json.dumps(marker)},
            files=files,
            removed=copies.removed,
            disposable=[place for one in written for place in one.places],
        )

    def _drop(
        self, tasks: list[FileScanTask], keys: KeySet, token: str, written: list[Rewriting[DataFile]]
    ) -> Rewriting[DataFile]:
        rewriting = Rewriting[DataFile](f"{self.folder}/{token}/{len(written)}", target_size(self.table))
        written.append(rewriting)
        rewriting.drop([IcebergSource(self.table, task, self.properties) for task in tasks], keys)
        return rewriting

    def _load(self, place: str) -> pa.Table:
        with self.table.io.new_input(place).open() as source:
            return pq.read_table(source)
