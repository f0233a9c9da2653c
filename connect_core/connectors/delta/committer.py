"""Appends decided files to Delta tables, one version per interval and table."""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Mapping
from typing import Any

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction
from pyarrow.fs import FileSelector, FileType

from connect_core.connectors.delta.config import PATH
from connect_core.connectors.delta.recount import DeltaRecounts
from connect_core.connectors.delta.tables import ONE_TRY, Tables, delta_errors
from connect_core.connectors.lake.committer import LakeCommitter
from connect_core.connectors.lake.decisions import Decisions, plain_name, until_first
from connect_core.connectors.lake.routing import TableName
from connect_core.errors import ConnectError

__all__ = ["DeltaCommitter", "interval_folder"]

_LOG = logging.getLogger(__name__)
_SEQUENCES = 2**40
"""How many intervals one incarnation of a connector may have."""


class DeltaCommitter(LakeCommitter):
    """Stores a table's newest interval as the version of a ``txn`` action, in the commit of the files."""

    def __init__(self, connector: str, deployment: str, tables: Tables, decisions: Decisions) -> None:
        super().__init__(connector, deployment, decisions, PATH)
        self._tables = tables

    def apply(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> None:
        """Append files as one version, unless the table contains the interval or a later one."""
        # A recreated state must not trust the markers of the previous one: its identity is part of the id.
        application = f"connect-core/{self.deployment}/{self.connector}/{decision['control']}"
        version = decision["incarnation"] * _SEQUENCES + decision["sequence"]
        properties = CommitProperties(
            custom_metadata=self.summary(decision),
            max_commit_retries=ONE_TRY,
            app_transactions=[Transaction(application, version, int(time.time() * 1000))],
        )
        files = [_action(file) for file in content["lists"]]

        def attempt() -> None:
            table = self._existing(name)
            if str(table.metadata().id) != content["uuid"]:
                _LOG.warning(
                    "Table %s was removed and recreated after interval %s was committed: its %s rows went with it",
                    name[-1], decision["sequence"], content["rows"],
                )  # fmt: skip
                return
            with delta_errors(f"table {name[-1]}"):
                standing = table.transaction_version(application)
                if standing is None or standing < version:
                    partitions = table.metadata().partition_columns
                    table.create_write_transaction(
                        files, "append", table.schema(), partitions, commit_properties=properties
                    )

        until_first(f"table {name[-1]}", attempt)

    def recounts(self) -> DeltaRecounts:
        """Return the recounts of decided intervals in the tables."""
        return DeltaRecounts(self._tables, self.deployment, self.connector, _SEQUENCES)

    def remove_leftovers(self, name: TableName, decision: Mapping[str, Any]) -> None:
        """Remove files of a decided interval that the decision does not name."""
        folder = interval_folder(self.connector, decision["incarnation"], decision["sequence"])
        named = {file["path"] for one in decision["tables"].values() for file in one["lists"]}
        files = self._tables.files(self._tables.places.table(name))
        try:
            for info in files.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True)):
                if info.type is FileType.File and posixpath.normpath(info.path) not in named:
                    files.delete_file(info.path)
        except OSError as error:
            _LOG.info("What lost attempts have left in %s of table %s stays there: %s", folder, name[-1], error)

    def _existing(self, name: TableName) -> DeltaTable:
        table = self._tables.find(name)
        if table is None:
            raise ConnectError(
                f"table {name[-1]} is gone, and rows of a committed interval are to be appended to it; restore it, or "
                "create an empty one of this name to go on without them"
            )
        return table


def interval_folder(connector: str, incarnation: int, sequence: int) -> str:
    """Return the folder of an interval's files, within that of their table."""
    return f"connect/{plain_name(connector)}/{incarnation}-{sequence}"


def _action(file: Mapping[str, Any]) -> AddAction:
    now = int(time.time() * 1000)
    return AddAction(file["path"], file["size"], file["partition"], now, True, file["statistics"])
