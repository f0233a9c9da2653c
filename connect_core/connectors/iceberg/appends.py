"""Appends to a table that take place once: the check is part of the same conditional commit."""

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
    """A fast append of files written under any partition specs; one without files keeps none."""

    def _manifests(self) -> list[ManifestFile]:
        # A table without rows: the list of the snapshot before may be removed meanwhile.
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
    """One snapshot, and the properties that are set with it."""

    summary: Mapping[str, str]
    properties: Mapping[str, str]
    files: Sequence[DataFile] = ()
    branch: str = "main"
    expires: bool = False
    """Whether all earlier snapshots go."""


def append_once(table: Table, append: Append) -> None:
    """Make a snapshot if the branch still stands where ``table`` has it.

    Raises ConflictError without having changed anything, and UnclearOutcomeError.
    """
    # Not Transaction.commit_transaction: after another's commit it would try again without the caller's look.
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
    """Return whether a commit that was refused had taken place: a proxy may have sent it twice."""
    standing = table.catalog.load_table(table.name()).metadata
    is_set = all(standing.properties.get(key) == value for key, value in append.properties.items())
    return is_set or any(one.snapshot_id == snapshot_id for one in standing.snapshots)


def begin_branch(table: Table, branch: str) -> None:
    """Begin a branch where main stands; a table without snapshots gets an empty one first, as pyiceberg needs it."""
    with catalog_errors(f"table {'.'.join(table.name())}"), suppress(CommitFailedException, ConflictError):
        snapshot = table.current_snapshot()
        if snapshot is None:
            append_once(table, Append({}, {}))
        else:
            table.manage_snapshots().create_branch(snapshot.snapshot_id, branch).commit()


def _expire(transaction: Transaction, table: Table) -> list[str]:
    """Let all earlier snapshots go → their files."""
    earlier = list(table.metadata.snapshots)
    if earlier:
        transaction._stage((RemoveSnapshotsUpdate(snapshot_ids=[one.snapshot_id for one in earlier]),))
    return [one.manifest_list for one in earlier]


def _remove(table: Table, places: Sequence[str]) -> None:
    """Remove what was written for a commit that did not take place."""
    for place in places:
        with suppress(OSError):
            table.io.delete(place)
