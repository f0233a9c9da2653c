"""Applies decisions to Delta tables, one version per interval and table."""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction
from pyarrow.fs import FileSelector, FileSystem, FileType

from connect_core.connectors.delta.compacting import obstacle
from connect_core.connectors.delta.config import PATH
from connect_core.connectors.delta.recount import DeltaRecounts
from connect_core.connectors.delta.sources import sized_files
from connect_core.connectors.delta.tables import ONE_TRY, Tables, delta_errors, ensure_updatable, ensure_writable
from connect_core.connectors.delta.upserts import REWRITE, Upsert, remove_copies
from connect_core.connectors.lake.committer import LakeCommitter
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.decisions import ConflictError, Decisions, plain_name, until_first
from connect_core.connectors.lake.folders import Folders
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.staged_file import check_visible
from connect_core.errors import ConnectError

__all__ = ["DeltaCommitter"]

_LOG = logging.getLogger(__name__)
_SEQUENCES = 2**40
"""How many intervals one incarnation of a connector may have."""


class DeltaCommitter(LakeCommitter):
    """Stores a table's newest interval as the version of a ``txn`` action, in the commit of the files."""

    def __init__(self, connector: str, deployment: str, tables: Tables, decisions: Decisions) -> None:
        super().__init__(connector, deployment, decisions, PATH, tables.settings.lake.compaction)
        self._tables = tables
        self._left_alone: set[TableName] = set()

    def check_visible(self, name: TableName, content: Mapping[str, Any]) -> None:
        """Look for the files of a table in a folder, which may be one of another machine."""
        place = self._tables.places.table(name)
        if place.startswith("/"):
            for file in content["lists"]:
                check_visible(Path(place, file["path"]), PATH, self._tables.places.root)

    def apply(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> None:
        """Add files as one version, unless the table contains the interval or a later one.

        Rows that have one of the keys staged are removed in this version.
        """
        marker = self._marker_of(decision)

        def attempt() -> None:
            table = self._existing(name)
            if str(table.metadata().id) != content["uuid"]:
                _LOG.warning(
                    "Table %s was removed and recreated after interval %s was committed: its %s rows went with it",
                    name[-1], decision["sequence"], content["rows"],
                )  # fmt: skip
            elif not self._reaches(table, marker):
                self._commit(name, table, content, decision)

        until_first(f"table {name[-1]}", attempt)

    def _commit(
        self, name: TableName, table: DeltaTable, content: Mapping[str, Any], decision: Mapping[str, Any]
    ) -> None:
        """Commit the version after that of ``table``. Raises ConflictError if there is one."""
        summary, found = self.summary(decision), None
        files = self._tables.files(self._tables.places.table(name))
        ensure_writable(name, table)
        _ensure_partitioned(name, table, content["lists"])
        if "keys" in content:
            ensure_updatable(name, table)
            place = decision["incarnation"], decision["sequence"]
            found = Upsert(name[-1], table, files, self._folders(decision).rewritten(*place)).upserted(content)
            summary[REWRITE] = found.token
        now = int(time.time() * 1000)
        actions = [_action(file) for file in (content["lists"] if found is None else found.added)]
        actions += [] if found is None else [RemoveAction(path, True, now) for path in found.removed]
        marker = self._marker_of(decision)
        properties = CommitProperties(
            custom_metadata=summary, max_commit_retries=ONE_TRY, app_transactions=[Transaction(*marker, now)]
        )
        try:
            with delta_errors(f"table {name[-1]}"):
                partitions = table.metadata().partition_columns
                table.create_write_transaction(
                    actions, "append", table.schema(), partitions, commit_properties=properties
                )
        except ConflictError:
            # It may be this very commit that was first: then its files are those of the table.
            if found is not None and not self._reaches(self._existing(name), marker):
                remove_copies(files, found.copies)
            raise

    def compact(self, name: TableName, compaction: Compaction) -> None:
        """Merge small files of a table in one version, by delta-rs. Raises ConnectError."""
        table = self._tables.find(name)
        if table is None:
            return
        with delta_errors(f"table {name[-1]}"):
            if not compaction.groups(sized_files(table)):
                return
            reason = obstacle(table)
            if reason is None:
                told = CommitProperties(custom_metadata={"connect-core.compaction": self.connector})
                table.optimize.compact(target_size=compaction.target, commit_properties=told)
            elif name not in self._left_alone:
                self._left_alone.add(name)
                _LOG.warning(
                    "Small files of table %s are not merged: %s; let another engine run OPTIMIZE, or partition by "
                    "another column", name[-1], reason,
                )  # fmt: skip

    def _marker_of(self, decision: Mapping[str, Any]) -> tuple[str, int]:
        """Return the id and version of an interval's ``txn`` action."""
        # A recreated state must not trust the markers of the previous one: its identity is part of the id.
        application = f"connect-core/{self.deployment}/{self.connector}/{decision['control']}"
        return application, decision["incarnation"] * _SEQUENCES + decision["sequence"]

    def _reaches(self, table: DeltaTable, marker: tuple[str, int]) -> bool:
        with delta_errors("the table"):
            existing = table.transaction_version(marker[0])
        return existing is not None and existing >= marker[1]

    def recounts(self) -> DeltaRecounts:
        """Return the recounts of decided intervals in the tables."""
        return DeltaRecounts(self._tables, self.deployment, self.connector, _SEQUENCES)

    def remove_leftovers(self, name: TableName, decision: Mapping[str, Any]) -> None:
        """Remove files of a decided interval that the decision does not name, and copies of lost attempts."""
        place = decision["incarnation"], decision["sequence"]
        table = self._tables.find(name)
        is_applied = table is not None and self._reaches(table, self._marker_of(decision))
        contents = decision["tables"].values()
        named = {file["path"] for one in contents for file in one["lists"]}
        if not is_applied:
            named |= {file["file"] for one in contents for file in one.get("keys", ())}
        files = self._tables.files(self._tables.places.table(name))
        try:
            _remove_others(files, self._folders(decision).interval(*place), named)
            if table is not None and is_applied:
                _remove_copies(files, self._folders(decision).rewritten(*place), table)
        except OSError as error:
            _LOG.info("What lost attempts have left of interval %s in table %s stays there: %s", place, name[-1], error)

    def _folders(self, decision: Mapping[str, Any]) -> Folders:
        return Folders(plain_name(self.connector), decision["control"])

    def _existing(self, name: TableName) -> DeltaTable:
        table = self._tables.find(name)
        if table is None:
            raise ConnectError(
                f"table {name[-1]} is gone, and rows of a committed interval are to be added to it; restore it, or "
                "create an empty one of this name to go on without them"
            )
        return table


def _ensure_partitioned(name: TableName, table: DeltaTable, files: Sequence[Mapping[str, Any]]) -> None:
    """Raise ConnectError for files of other partitions than the table's: a reader would find nulls in the column."""
    now = table.metadata().partition_columns
    other = next((file["partition"] for file in files if set(file["partition"]) != set(now)), None)
    if other is not None:
        raise ConnectError(
            f"table {name[-1]} is partitioned by {', '.join(now) or 'nothing'} since rows of a committed interval were "
            f"written, for a table partitioned by {', '.join(other) or 'nothing'}: restore its version before that, "
            "resume the connector, and change the partitions while it is stopped"
        )


def _remove_others(files: FileSystem, folder: str, named: set[str]) -> None:
    for path in _files_in(files, folder):
        if path not in named:
            files.delete_file(path)


def _remove_copies(files: FileSystem, folder: str, table: DeltaTable) -> None:
    """Remove copies that no commit names; without a second attempt there are none."""
    found = _files_in(files, folder)
    tokens = {path.removeprefix(f"{folder}/").partition("/")[0] for path in found}
    if len(tokens) < 2:
        return
    known = {entry.get(REWRITE) for entry in table.history()}
    for path in found if tokens & known else ():
        if path.removeprefix(f"{folder}/").partition("/")[0] not in known:
            files.delete_file(path)


def _files_in(files: FileSystem, folder: str) -> list[str]:
    found = files.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True))
    return [posixpath.normpath(info.path) for info in found if info.type is FileType.File]


def _action(file: Mapping[str, Any]) -> AddAction:
    now = int(time.time() * 1000)
    return AddAction(file["path"], file["size"], file["partition"], now, True, file["statistics"])
