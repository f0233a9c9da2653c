"""Changes of a table that happen exactly once: the check is part of the same conditional commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile, ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.table.update import AssertTableUUID, RemoveSnapshotsUpdate
from pyiceberg.table.update.snapshot import _FastAppendFiles, _OverwriteFiles, _SnapshotProducer
from pyiceberg.typedef import EMPTY_DICT

from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.lake.decisions import ConflictError

__all__ = ["Change", "begin_branch", "change_once", "remove_files"]


class _Append(_FastAppendFiles):  # type: ignore[misc]
    """A fast append of files written under any partition specs; one without files keeps no earlier manifests."""

    def _manifests(self) -> list[ManifestFile]:
        # A table without rows: the previous snapshot's manifest list may be removed meanwhile.
        found = list(self._existing_manifests()) if self._added_data_files else []
        return [*_by_spec(self, [_added(self, file) for file in self._added_data_files]), *found]


class _Replace(_OverwriteFiles):  # type: ignore[misc]
    """Removes files and adds others, written under any partition specs."""

    def _manifests(self) -> list[ManifestFile]:
        self._build_delete_files_partition_predicate()
        removed = self._deleted_entries()
        kept = [one for one in self._existing_manifests() if one.has_added_files() or one.has_existing_files()]
        added = [_added(self, file) for file in self._added_data_files]
        return [*_by_spec(self, added), *_by_spec(self, removed), *kept]


class _Rewrite(_Replace):
    """Replaces files by others with the same rows: readers of what was added pass over it."""

    def _summary(self, snapshot_properties: dict[str, str] = EMPTY_DICT) -> Summary:
        # pyiceberg computes the totals of an overwrite only, and they are the same.
        summary = super()._summary(snapshot_properties)
        return summary.model_copy(update={"operation": Operation.REPLACE})


def _added(producer: _SnapshotProducer, file: DataFile) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED,
        snapshot_id=producer.snapshot_id,
        sequence_number=None,
        file_sequence_number=None,
        data_file=file,
    )


def _by_spec(producer: _SnapshotProducer, entries: Sequence[ManifestEntry]) -> list[ManifestFile]:
    """Write entries to manifests, one for each partition spec."""
    found = []
    for spec_id in sorted({entry.data_file.spec_id for entry in entries}, reverse=True):
        with producer.new_manifest_writer(producer.spec(spec_id)) as writer:
            for entry in entries:
                if entry.data_file.spec_id == spec_id:
                    writer.add_entry(entry)
        found.append(writer.to_manifest_file())
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """One snapshot, and the properties set together with it."""

    summary: Mapping[str, str]
    properties: Mapping[str, str]
    files: Sequence[DataFile] = ()
    removed: Sequence[DataFile] | None = None
    """The data files that this snapshot removes; ``None`` for an append."""
    branch: str = "main"
    expires: bool = False
    """Whether all earlier snapshots are removed."""
    disposable: Sequence[str] = ()
    """Files written for this attempt alone, removed if it is refused."""
    is_rewrite: bool = False
    """Whether the files contain the rows of those removed, and no others."""


def change_once(table: Table, change: Change) -> None:
    """Create a snapshot if the branch has not changed since ``table`` was loaded.

    Raises ConflictError, also if a refused commit, which a proxy sent twice, took place; UnclearOutcomeError.
    """
    # Not Transaction.commit_transaction: after another writer's commit it would retry without the caller's check.
    transaction = Transaction(table)
    producer = _producer(table, transaction, change)
    with catalog_errors(f"table {'.'.join(table.name())}"):
        updates, requirements = producer._commit()
        transaction._stage(updates, requirements)
        transaction.set_properties(dict(change.properties))
        earlier = _expire(transaction, table) if change.expires else []
        every = (*transaction._requirements, AssertTableUUID(uuid=table.metadata.table_uuid))
        try:
            table._do_commit(updates=transaction._updates, requirements=every)
        except CommitFailedException as error:
            if not _took_place(table, change, producer.snapshot_id):
                written = [*producer._written_manifests, *producer._written_manifest_lists]
                remove_files(table, [*written, *change.disposable])
            raise ConflictError(str(error)) from error
    remove_files(table, earlier)


def _producer(table: Table, transaction: Transaction, change: Change) -> _SnapshotProducer:
    operation = Operation.APPEND if not change.removed else Operation.OVERWRITE if change.files else Operation.DELETE
    kind = _Append if change.removed is None else _Rewrite if change.is_rewrite else _Replace
    producer = kind(
        operation=operation, transaction=transaction, io=table.io, snapshot_properties=dict(change.summary),
        branch=change.branch,
    )  # fmt: skip
    for file in change.files:
        producer.append_data_file(file)
    for file in change.removed or ():
        producer.delete_data_file(file)
    return producer


def _took_place(table: Table, change: Change, snapshot_id: int) -> bool:
    """Return whether a commit that was refused has taken place after all: a proxy may have sent it twice."""
    existing = table.catalog.load_table(table.name()).metadata
    is_set = bool(change.properties) and all(
        existing.properties.get(key) == value for key, value in change.properties.items()
    )
    return is_set or any(one.snapshot_id == snapshot_id for one in existing.snapshots)


def begin_branch(table: Table, branch: str) -> None:
    """Create a branch at the head of main; a table without snapshots gets an empty one first, as pyiceberg requires."""
    with catalog_errors(f"table {'.'.join(table.name())}"), suppress(CommitFailedException, ConflictError):
        snapshot = table.current_snapshot()
        if snapshot is None:
            change_once(table, Change({}, {}))
        else:
            table.manage_snapshots().create_branch(snapshot.snapshot_id, branch).commit()


def _expire(transaction: Transaction, table: Table) -> list[str]:
    """Remove all earlier snapshots → their manifest lists."""
    earlier = list(table.metadata.snapshots)
    if earlier:
        transaction._stage((RemoveSnapshotsUpdate(snapshot_ids=[one.snapshot_id for one in earlier]),))
    return [one.manifest_list for one in earlier]


def remove_files(table: Table, places: Sequence[str]) -> None:
    """Remove files that are no longer needed."""
    for place in places:
        with suppress(OSError):
            table.io.delete(place)
