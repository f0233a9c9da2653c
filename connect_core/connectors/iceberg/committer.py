"""Applies decisions to Iceberg tables, one snapshot per interval and table."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from connect_core.connectors.iceberg.catalog_properties import PREFIX
from connect_core.connectors.iceberg.compacting import Compacting
from connect_core.connectors.iceberg.config import CONTROL_NAMESPACE
from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.iceberg.leftovers import remove_leftovers
from connect_core.connectors.iceberg.recount import IcebergRecounts
from connect_core.connectors.iceberg.snapshots import Change, begin_branch, change_once
from connect_core.connectors.iceberg.tables import Tables
from connect_core.connectors.iceberg.upserts import Upsert
from connect_core.connectors.lake.committer import LakeCommitter
from connect_core.connectors.lake.compaction import Compaction
from connect_core.connectors.lake.decisions import Decisions, until_first
from connect_core.connectors.lake.folders import Folders, identity_of
from connect_core.connectors.lake.routing import TableName
from connect_core.connectors.path_names import escaped
from connect_core.connectors.staged_file import check_visible
from connect_core.errors import ConnectError

__all__ = ["IcebergCommitter"]

_LOG = logging.getLogger(__name__)
_MARKER = "connect-core.committed."


class IcebergCommitter(LakeCommitter):
    """Stores a table's newest interval as a property of it, set in the commit of the snapshot."""

    def __init__(self, connector: str, deployment: str, tables: Tables, decisions: Decisions) -> None:
        super().__init__(connector, deployment, decisions, CONTROL_NAMESPACE, tables.settings.lake.compaction)
        self._tables = tables

    def staged_for(self, name: TableName) -> Mapping[str, Any]:
        """Return the branch: a decision stays valid if the settings change later."""
        return {"branch": self._tables.settings.of_table(name).branch}

    def check_visible(self, name: TableName, content: Mapping[str, Any]) -> None:
        """Look for the files of a warehouse that is a folder, perhaps one of another machine."""
        for path in (file.file_path for one in content["lists"] for file in files_of_text(one["files"], one["spec"])):
            scheme, _, place = PyArrowFileIO.parse_location(path)
            if scheme == "file" and not Path(unquote(place)).exists():
                check_visible(Path(place), f"{PREFIX}warehouse", path)

    def apply(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> None:
        """Add files as one snapshot, unless the table contains the interval or a later one.

        Rows that have one of the keys staged are removed in this snapshot.
        """

        def attempt() -> None:
            table = self._standing(name, content["branch"])
            if str(table.metadata.table_uuid) != content["uuid"]:
                _LOG.warning(
                    "Table %s was dropped and recreated after interval %s was committed: its %s rows went with it",
                    ".".join(name), decision["sequence"], content["rows"],
                )  # fmt: skip
            elif not _has(table.properties.get(self._marker_key(decision["control"])), decision):
                append = self._append(content, decision)
                change_once(table, self._upsert(table, append, decision, content) if "keys" in content else append)

        until_first(f"table {'.'.join(name)}", attempt)

    def _append(self, content: Mapping[str, Any], decision: Mapping[str, Any]) -> Change:
        files = [file for one in content["lists"] for file in files_of_text(one["files"], one["spec"])]
        marker = {part: decision[part] for part in ("control", "incarnation", "sequence", "epoch")}
        properties = {self._marker_key(decision["control"]): json.dumps(marker)}
        return Change(self.summary(decision), properties, files, branch=content["branch"])

    def _upsert(self, table: Table, append: Change, decision: Mapping[str, Any], content: Mapping[str, Any]) -> Change:
        folder = self._folders(decision["control"]).rewritten(decision["incarnation"], decision["sequence"])
        key, properties = self._marker_key(decision["control"]), self._tables.settings.write_properties
        return Upsert(table, append, key, folder, properties).change(content)

    def compact(self, name: TableName, compaction: Compaction) -> None:
        """Merge small files of a table in one snapshot, unless another writer is first. Raises ConnectError."""
        table = self._tables.find(name)
        if table is not None:
            settings = self._tables.settings
            branch = settings.of_table(name).branch
            folder = self._folders(identity_of(self.decisions.store)).compacted
            change = Compacting(table, branch, folder, compaction, settings.write_properties).change()
            if change is not None:
                change_once(table, change)

    def recounts(self) -> IcebergRecounts:
        """Return the recounts of decided intervals in the tables."""
        return IcebergRecounts(self._tables, self.deployment, self.connector, self._marker_key)

    def remove_leftovers(self, name: TableName, decision: Mapping[str, Any]) -> None:
        """Remove files of a decided interval that the decision does not name."""
        table = self._tables.find(name)
        if table is not None:
            marker = json.loads(table.properties.get(self._marker_key(decision["control"])) or "{}")
            remove_leftovers(table, self._folders(decision["control"]), decision, marker)

    def _folders(self, control: str) -> Folders:
        return Folders(escaped(self.connector), control)

    def _marker_key(self, control: str) -> str:
        # Deployments may have one name: each has its control table, and must not replace the other's marker.
        return f"{_MARKER}{self.deployment}.{self.connector}.{control}"

    def _standing(self, name: TableName, branch: str) -> Table:
        """Return a table that has the branch, which is created if need be."""
        table = self._existing(name)
        while branch != "main" and branch not in table.refs():
            begin_branch(table, branch)
            table = self._existing(name)
        return table

    def _existing(self, name: TableName) -> Table:
        table = self._tables.find(name)
        if table is None:
            raise ConnectError(
                f"table {'.'.join(name)} is gone, and rows of a committed interval are to be added to it; restore "
                "it, or create an empty one of this name to go on without them"
            )
        return table


def _has(text: str | None, decision: Mapping[str, Any]) -> bool:
    """Return whether a table already contains an interval, or a later one of the same control table."""
    if text is None:
        return False
    found = json.loads(text)
    is_later = (found["incarnation"], found["sequence"]) >= (decision["incarnation"], decision["sequence"])
    return bool(found["control"] == decision["control"] and is_later)
