"""The staged parts of one file, in the form in which a task passes them to the committer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.columns import (
    ColumnKinds,
    columns_of_texts,
    merge_columns,
    texts_of_columns,
    with_shared,
)
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.filesystem.sink.staging.parts import Part, Parts

__all__ = ["FileKey", "StagedData", "StagedFolder"]


@dataclass(frozen=True, slots=True)
class FileKey:
    """Identifies the rows of a range that are in one file."""

    topic: str
    """The topic after transforms."""
    folder: str
    """Its path within the topic's folder."""
    first: int | None = None
    """The first offset of a file that starts within the range, or of any file if names contain first offsets."""
    last: int | None = None
    """The last offset of a finished file; missing in manifests of earlier versions."""


@dataclass(frozen=True, slots=True)
class StagedData:
    """The rows of one range in one file.

    ``columns``: those of all parts; ``found``: the offset at which a column first had its type. JSON by ``to_detail``.
    """

    key: FileKey
    is_schemaless: bool | None
    """``None`` if all values are null: such a file has the columns of the topic's schemaless rows, if there are any."""
    columns: ColumnKinds
    found: Mapping[str, int]
    parts: tuple[Part, ...]
    ends: int | None = None
    """When the time of its folder ends, in milliseconds since 1970."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(part.rows for part in self.parts)

    def to_detail(self) -> dict[str, Any]:
        """Return it as JSON."""
        parts = [
            {
                "held": dict(part.held),
                "rows": part.rows,
                "columns": texts_of_columns(part.columns),
                "final": part.final,
            }
            for part in self.parts
        ]
        return {
            "topic": self.key.topic,
            "folder": self.key.folder,
            "first": self.key.first,
            "last": self.key.last,
            "schemaless": self.is_schemaless,
            "columns": texts_of_columns(self.columns),
            "found": dict(self.found),
            "ends": self.ends,
            "parts": parts,
        }

    @classmethod
    def from_detail(cls, detail: Mapping[str, Any]) -> StagedData:
        """Parse the result of ``to_detail``."""
        parts = tuple(
            Part(part["held"], columns_of_texts(part["columns"]), part["rows"], part["final"])
            for part in detail["parts"]
        )
        key = FileKey(detail["topic"], detail["folder"], detail["first"], detail.get("last"))
        columns = columns_of_texts(detail["columns"])
        return cls(key, detail["schemaless"], columns, detail["found"], parts, detail.get("ends"))


@dataclass(slots=True)
class StagedFolder:
    """Collects the rows of one range and folder into one file."""

    key: FileKey
    parts: Parts
    found: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    bytes: int = 0
    """The size of the rows in memory, before they are written."""

    @property
    def columns(self) -> ColumnKinds:
        """The columns of all rows so far."""
        return self.parts.columns

    def add(self, rows: Rows, columns: ColumnKinds, offsets: pa.Array) -> None:
        """Add rows; ``columns`` contains their columns and those of all earlier rows."""
        before, after = dict(self.columns), dict(columns)
        for (name, _), array in zip(rows.columns, rows.arrays, strict=True):
            if before.get(name) != after[name]:
                first = pc.index(pc.is_valid(array), True).as_py()
                self.found[name] = offsets[max(0, first)].as_py()
        self.rows += rows.length
        self.key = replace(self.key, last=offsets[rows.length - 1].as_py())
        self.bytes += sum(array.nbytes for array in rows.arrays)
        self.parts.add(rows, columns)

    def finish(self, shared: ColumnKinds, final: str = "") -> StagedData:
        """Complete the parts; ``shared``: the columns of the topic's schemaless rows, ``final``: as in ``Output``."""
        is_schemaless = self.parts.is_schemaless
        columns = merge_columns(self.columns, shared) if is_schemaless else self.columns
        if is_schemaless is None:
            # Another task may find what columns the topic has.
            columns, final = with_shared(self.columns, shared), ""
        done = tuple(self.parts.finish(columns, final))
        return StagedData(self.key, is_schemaless, columns, self.found, done)
