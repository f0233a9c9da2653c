"""Appends to a table that happen exactly once: the check is part of the same conditional commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update import AssertTableUUID, RemoveSnapshotsUpdate
from pyiceberg.table.update.snapshot import _FastAppendFiles

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.lake.decisions import ConflictError

__all__ = ["Append", "append_once", "begin_branch"]


class _Append(_FastAppendFiles):  # type: ignore[misc]
    """A fast append of files written under any partition specs; one without files keeps no earlier manifests."""

    def _manifests(self) -> list[ManifestFile]:
        # A table without rows: the previous snapshot's manifest list may be removed meanwhile.
        found = list(self._existing_manifests()) if self._added_data_files else []
        for spec_id in sorted({file.spec_id for file in self._added_data_files}):
            with self.new_manifest_writer(self.spec(spec_id)) as writer:
                for file in self._added_data_files:
                    if file.spec_id == spec_id:
                        writer.add(self._entry(file))
            found.insert(0, writer.to_manifest_file())
        return found

    def _entry(self, file: DataFile) -> ManifestEntry:
        return ManifestEntry.from_args(
            status=ManifestEntryStatus.ADDED,
            snapshot_id=self._snapshot_id,
            sequence_number=None,
            file_sequence_number=None,
            data_file=file,
        )


@dataclass(frozen=True, slots=True)
class Append:
    """One snapshot, and the properties set together with it."""

    summary: Mapping[str, str]
    properties: Mapping[str, str]
    files: Sequence[DataFile] = ()
    branch: str = "main"
    expires: bool = False
    """Whether all earlier snapshots are removed."""


def append_once(table: Table, append: Append) -> None:
    """Create a snapshot if the branch has not changed since ``table`` was loaded.

    Raises ConflictError, also if a refused commit, which a proxy sent twice, took place; UnclearOutcomeError.
    """
    # Not Transaction.commit_transaction: after another writer's commit it would retry without the caller's check.
    transaction = Transaction(table)
    producer = _Append(
        operation=Operation.APPEND, transaction=transaction, io=table.io, snapshot_properties=dict(append.summary),
        branch=append.branch,
    )  # fmt: skip
    for file in append.files:
        producer.append_data_file(file)
    with catalog_errors(f"table {'.'.join(table.name())}"):
        updates, requirements = producer._commit()
        transaction._stage(updates, requirements)
        transaction.set_properties(dict(append.properties))
        earlier = _expire(transaction, table) if append.expires else []
        every = (*transaction._requirements, AssertTableUUID(uuid=table.metadata.table_uuid))
        try:
            table._do_commit(updates=transaction._updates, requirements=every)
        except CommitFailedException as error:
            if not _took_place(table, append, producer.snapshot_id):
                _remove(table, [*producer._written_manifests, *producer._written_manifest_lists])
            raise ConflictError(str(error)) from error
    _remove(table, earlier)


def _took_place(table: Table, append: Append, snapshot_id: int) -> bool:
    """Return whether a commit that was refused has taken place after all: a proxy may have sent it twice."""
    standing = table.catalog.load_table(table.name()).metadata
    is_set = all(standing.properties.get(key) == value for key, value in append.properties.items())
    return is_set or any(one.snapshot_id == snapshot_id for one in standing.snapshots)


def begin_branch(table: Table, branch: str) -> None:
    """Create a branch at the head of main; a table without snapshots gets an empty one first, as pyiceberg requires."""
    with catalog_errors(f"table {'.'.join(table.name())}"), suppress(CommitFailedException, ConflictError):
        snapshot = table.current_snapshot()
        if snapshot is None:
            append_once(table, Append({}, {}))
        else:
            table.manage_snapshots().create_branch(snapshot.snapshot_id, branch).commit()


def _expire(transaction: Transaction, table: Table) -> list[str]:
    """Remove all earlier snapshots → their manifest lists."""
    earlier = list(table.metadata.snapshots)
    if earlier:
        transaction._stage((RemoveSnapshotsUpdate(snapshot_ids=[one.snapshot_id for one in earlier]),))
    return [one.manifest_list for one in earlier]


def _remove(table: Table, places: Sequence[str]) -> None:
    """Remove files that are no longer needed."""
    for place in places:
        with suppress(OSError):
            table.io.delete(place)
