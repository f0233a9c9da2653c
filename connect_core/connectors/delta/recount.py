"""Compares the logs of Delta tables with the decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import FileSystem, FileType

from connect_core.api.recount import Difference
from connect_core.connectors.delta.tables import Tables, delta_errors
from connect_core.connectors.lake.recount import RecountedTable
from connect_core.connectors.lake.routing import TableName

__all__ = ["DeltaRecounts"]

_REWRITTEN = "files that the table no longer has, as others compacted, deleted or overwrote them, are not recounted"
_RECREATED = "tables were removed and recreated: the rows of earlier intervals went with them"


@dataclass(slots=True)
class _Seen:
    """A table as of when it was opened: the row count of each of its files; ``None`` if the log does not contain it."""

    table: DeltaTable
    files: FileSystem
    rows: Mapping[str, int | None]


@dataclass(slots=True)
class DeltaRecounts:
    """Recounts the tables of one connector."""

    tables: Tables
    deployment: str
    connector: str
    sequences: int
    """How many intervals one incarnation of a connector may have."""
    _seen: dict[TableName, _Seen | None] = field(default_factory=dict)

    def of(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> RecountedTable:
        """Return the state of an interval's files in the table's log and folder."""
        place, number = name[-1], decision["sequence"]
        seen = self._opened(name)
        if seen is None:
            return RecountedTable(differences=(Difference("missing", place, _rows(content["rows"]), "", number),))
        if str(seen.table.metadata().id) != content["uuid"]:
            return RecountedTable(notes=(_RECREATED,))
        if not self._reaches(seen.table, decision):
            gone = Difference("missing", place, f"a version of {_rows(content['rows'])}", "none", number)
            return RecountedTable(0, (gone,))
        existing = [file for file in content["lists"] if file["path"] in seen.rows]
        wrong = [found for file in existing for found in _file(seen, file, number)]
        if len(existing) < len(content["lists"]):
            return RecountedTable(None, tuple(wrong), (_REWRITTEN,))
        told = [seen.rows[file["path"]] for file in existing]
        rows = None if None in told else sum(filter(None, told))
        if rows is not None and rows != content["rows"]:
            wrong.append(Difference("rows", place, _rows(content["rows"]), _rows(rows), number))
        return RecountedTable(rows, tuple(wrong))

    def _reaches(self, table: DeltaTable, decision: Mapping[str, Any]) -> bool:
        application = f"connect-core/{self.deployment}/{self.connector}/{decision['control']}"
        version = table.transaction_version(application)
        return version is not None and version >= decision["incarnation"] * self.sequences + decision["sequence"]

    def _opened(self, name: TableName) -> _Seen | None:
        if name not in self._seen:
            table = self.tables.find(name)
            self._seen[name] = None if table is None else self._of(name, table)
        return self._seen[name]

    def _of(self, name: TableName, table: DeltaTable) -> _Seen:
        with delta_errors(f"table {name[-1]}"):
            actions = pa.table(table.get_add_actions(flatten=True))
        paths = [unquote(path) for path in actions.column("path").to_pylist()]
        is_told = "num_records" in actions.column_names
        counts = actions.column("num_records").to_pylist() if is_told else [None] * len(paths)
        return _Seen(table, self.tables.files(self.tables.places.table(name)), dict(zip(paths, counts, strict=True)))


def _file(seen: _Seen, file: Mapping[str, Any], number: int) -> list[Difference]:
    with delta_errors(file["path"]):
        info = seen.files.get_file_info(file["path"])
    said = json.loads(file["statistics"]).get("numRecords", "?") if file.get("statistics") else "?"
    if info.type is not FileType.File:
        return [Difference("missing", file["path"], f"{said} rows", "", number)]
    if info.size == file["size"]:
        return []
    return [Difference("size", file["path"], f"{file['size']} bytes", f"{info.size} bytes", number)]


def _rows(count: int) -> str:
    return f"{count} rows"
