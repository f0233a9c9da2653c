"""Compares the snapshots of Iceberg tables with the decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from connect_core.api.recount import Difference
from connect_core.connectors.iceberg.catalog import catalog_errors
from connect_core.connectors.iceberg.file_lists import files_of_text
from connect_core.connectors.iceberg.tables import Tables
from connect_core.connectors.iceberg.upserts import COPIED, REWRITE, SUPERSEDED
from connect_core.connectors.lake.recount import RecountedTable
from connect_core.connectors.lake.routing import TableName

__all__ = ["IcebergRecounts"]

_ROWS, _FILES = "added-records", "added-data-files"
_EXPIRED = "snapshots that are expired no longer tell what they added: the table's marker has their intervals"
_RECREATED = "tables were dropped and recreated: the rows of earlier intervals went with them"
Place = tuple[int, int]
"""Incarnation and sequence."""


@dataclass(slots=True)
class _Seen:
    """A table as of when it was opened, with the snapshots of each interval."""

    table: Table
    snapshots: Mapping[Place, list[Mapping[str, str]]]


@dataclass(slots=True)
class IcebergRecounts:
    """``key``: takes the identity of a control table → the table property that contains its newest interval."""

    tables: Tables
    deployment: str
    connector: str
    key: Callable[[str], str]
    _seen: dict[TableName, _Seen | None] = field(default_factory=dict)

    def of(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> RecountedTable:
        """Return the state of an interval in the table's snapshots, and whether its files exist."""
        place, number = ".".join(name), decision["sequence"]
        seen = self._opened(name)
        if seen is None:
            return RecountedTable(differences=(Difference("missing", place, _rows(content["rows"]), "", number),))
        if str(seen.table.metadata.table_uuid) != content["uuid"]:
            return RecountedTable(notes=(_RECREATED,))
        made = seen.snapshots.get((decision["incarnation"], number), [])
        if not made:
            if _reaches(seen.table.properties.get(self.key(decision["control"])), decision):
                return RecountedTable(notes=(_EXPIRED,))
            gone = Difference("missing", place, f"a snapshot of {_rows(content['rows'])}", "none", number)
            return RecountedTable(0, (gone,))
        rows = sum(_added(one) for one in made)
        wrong = []
        if len(made) > 1:
            wrong.append(Difference("snapshots", place, "1 snapshot", f"{len(made)} snapshots", number))
        if rows != content["rows"]:
            wrong.append(Difference("rows", place, _rows(content["rows"]), _rows(rows), number))
        wrong += self._files(seen.table, content, number)
        return RecountedTable(rows, tuple(wrong))

    def _files(self, table: Table, content: Mapping[str, Any], number: int) -> list[Difference]:
        """Check the files: a snapshot that is kept needs all of its own."""
        named = [file for one in content["lists"] for file in files_of_text(one["files"], one["spec"])]
        return [found for file in named for found in _file(table, file, number)]

    def _opened(self, name: TableName) -> _Seen | None:
        if name not in self._seen:
            table = self.tables.find(name)
            self._seen[name] = None if table is None else self._of(table)
        return self._seen[name]

    def _of(self, table: Table) -> _Seen:
        snapshots: dict[Place, list[Mapping[str, str]]] = {}
        for one in table.metadata.snapshots:
            told = {} if one.summary is None else one.summary.additional_properties
            mine = (told.get("connect-core.deployment"), told.get("connect-core.connector"))
            if mine == (self.deployment, self.connector) and (told.get(_FILES) or REWRITE in told):
                place = int(told["connect-core.incarnation"]), int(told["connect-core.sequence"])
                snapshots.setdefault(place, []).append(told)
        return _Seen(table, snapshots)


def _added(told: Mapping[str, str]) -> int:
    """Return how many rows of the interval a snapshot added: copies of earlier rows are none."""
    added, copied, superseded = (int(told.get(key, "0")) for key in (_ROWS, COPIED, SUPERSEDED))
    return added - copied + superseded


def _file(table: Table, file: DataFile, number: int) -> list[Difference]:
    with catalog_errors(file.file_path):
        source = table.io.new_input(file.file_path)
        if not source.exists():
            return [Difference("missing", file.file_path, _rows(file.record_count), "", number)]
        size = len(source)
    if size == file.file_size_in_bytes:
        return []
    return [Difference("size", file.file_path, f"{file.file_size_in_bytes} bytes", f"{size} bytes", number)]


def _reaches(text: str | None, decision: Mapping[str, Any]) -> bool:
    if text is None:
        return False
    marker = json.loads(text)
    newest = marker["incarnation"], marker["sequence"]
    return bool(newest >= (decision["incarnation"], decision["sequence"]))


def _rows(count: int) -> str:
    return f"{count} rows"
