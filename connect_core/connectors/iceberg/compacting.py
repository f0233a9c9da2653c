"""Merges small data files of an Iceberg table, in a snapshot that changes no row."""

from __future__ import annotations

import logging
import posixpath
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.iceberg.snapshots import Change, remove_files
from connect_core.connectors.iceberg.sources import IcebergSource
from connect_core.connectors.iceberg.tables import ensure_readable
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.rewriting import Rewriting

__all__ = ["COMPACTION", "Compacting"]

_LOG = logging.getLogger(__name__)
COMPACTION = "connect-core.compaction"
"""In a snapshot's summary: the folder of the files that it merged."""


@dataclass(frozen=True, slots=True)
class Compacting:
    """One attempt to merge files of a table's branch. ``properties``: for writing data files."""

    table: Table
    branch: str
    folder: str
    compaction: Compaction
    properties: Mapping[str, str]

    def change(self) -> Change | None:
        """Return the snapshot, ``None`` if too few files are small. Raises ConnectError; then no file is left."""
        snapshot = self.table.snapshot_by_name(self.branch)
        if snapshot is None:
            return None
        ensure_readable(self.table)
        with catalog_errors(f"table {'.'.join(self.table.name())}"):
            tasks = list(self.table.scan(snapshot_id=snapshot.snapshot_id).plan_files())
            sources = [IcebergSource(self.table, task, self.properties) for task in tasks]
            sized = [(one.partition, one.file.file_size_in_bytes, one) for one in sources]
            groups = self.compaction.groups(sized)
            if not groups:
                return None
            self._remove_lost(snapshot.snapshot_id, tasks)
            return self._merged(f"{snapshot.snapshot_id}-{secrets.token_hex(8)}", groups)

    def _merged(self, token: str, groups: list[list[IcebergSource]]) -> Change:
        # What a file holds is limited by its group, by the bytes of the files and not of rows in memory.
        rewriting = Rewriting[DataFile](f"{self.folder}/{token}", sys.maxsize)
        with ExitStack() as undone:
            undone.callback(lambda: remove_files(self.table, rewriting.places))
            for group in groups:
                rewriting.merge(group)
            undone.pop_all()
        return Change(
            {COMPACTION: token}, {}, rewriting.added, removed=rewriting.removed, branch=self.branch,
            disposable=rewriting.places, is_rewrite=True,
        )  # fmt: skip

    def _remove_lost(self, head: int, tasks: list[FileScanTask]) -> None:
        """Remove what a driver that was killed has left.

        An attempt that began at the branch's present snapshot may still be committed, by a driver that is only slow;
        one that began at an earlier snapshot never will.
        """
        if not isinstance(self.table.io, PyArrowFileIO):
            return
        scheme, host, place = PyArrowFileIO.parse_location(
            self.table.location_provider().new_data_location(self.folder)
        )
        system = self.table.io.fs_by_scheme(scheme, host)
        current = {_path(task.file) for task in tasks}
        committed = set(self._committed())
        try:
            found = system.get_file_info(FileSelector(place, recursive=True, allow_not_found=True))
            lost = [one.path for one in found if one.type is FileType.File and one.path not in current]
            lost = [path for path in lost if not self._may_be_named(path, place, head, committed)]
            referenced = set(self._referenced()) if lost else set()
            for path in lost:
                if path not in referenced:
                    system.delete_file(path)
        except OSError as error:
            _LOG.info("What lost attempts have left in %s stays there: %s", place, error)

    @staticmethod
    def _may_be_named(path: str, place: str, head: int, committed: set[str]) -> bool:
        token = posixpath.relpath(path, place).partition("/")[0]
        return token in committed or token.partition("-")[0] == str(head)

    def _committed(self) -> Iterator[str]:
        for snapshot in self.table.metadata.snapshots:
            told = {} if snapshot.summary is None else snapshot.summary.additional_properties
            if COMPACTION in told:
                yield told[COMPACTION]

    def _referenced(self) -> Iterator[str]:
        """Yield the data files of every snapshot that is kept: that of their own commit may have expired."""
        seen: set[str] = set()
        for snapshot in self.table.metadata.snapshots:
            for manifest in snapshot.manifests(self.table.io):
                if manifest.manifest_path not in seen:
                    seen.add(manifest.manifest_path)
                    for entry in manifest.fetch_manifest_entry(self.table.io, discard_deleted=False):
                        yield _path(entry.data_file)


def _path(file: DataFile) -> str:
    return str(PyArrowFileIO.parse_location(file.file_path)[2])
