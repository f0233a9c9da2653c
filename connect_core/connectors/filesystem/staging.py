"""What a task has staged of one range, and how it tells the committer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.filesystem.columns import ColumnKinds, columns_of_texts, merge_columns, texts_of_columns
from connect_core.connectors.filesystem.parquet import ParquetParts, Part
from connect_core.connectors.filesystem.rows import Rows
from connect_core.connectors.staged_file import Written

__all__ = ["StagedRange", "StagedTopic"]


@dataclass(frozen=True, slots=True)
class StagedTopic:
    """The rows of one range that go to one topic's folder.

    ``columns`` are those of all parts; ``found`` tells the offset at which a
    column first had its type. JSON by ``to_detail``; paths are relative to the
    staging folder.
    """

    topic: str
    is_schemaless: bool
    columns: ColumnKinds
    found: Mapping[str, int]
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(part.rows for part in self.parts)

    def to_detail(self) -> dict[str, Any]:
        """Return the JSON of it, part paths by name only."""
        parts = [
            {
                "name": part.file.path.name,
                "size": part.file.size,
                "sha256": part.file.sha256,
                "rows": part.rows,
                "columns": texts_of_columns(part.columns),
            }
            for part in self.parts
        ]
        return {
            "topic": self.topic,
            "schemaless": self.is_schemaless,
            "columns": texts_of_columns(self.columns),
            "found": dict(self.found),
            "parts": parts,
        }

    @classmethod
    def from_detail(cls, detail: Mapping[str, Any], folder: Path) -> StagedTopic:
        """Read what ``to_detail`` wrote of an attempt's folder."""
        parts = tuple(
            Part(
                Written(folder / part["name"], part["size"], part["sha256"]),
                columns_of_texts(part["columns"]),
                part["rows"],
            )
            for part in detail["parts"]
        )
        columns = columns_of_texts(detail["columns"])
        return cls(detail["topic"], detail["schemaless"], columns, detail["found"], parts)


@dataclass(slots=True)
class StagedRange:
    """Rows of one range on their way into parts."""

    parts: ParquetParts
    found: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> ColumnKinds:
        """The columns of all rows so far."""
        return self.parts.columns

    def add(self, rows: Rows, columns: ColumnKinds, offsets: pa.Array) -> None:
        """Take rows; ``columns`` hold these and all earlier ones."""
        before, after = dict(self.columns), dict(columns)
        for (name, _), array in zip(rows.columns, rows.arrays, strict=True):
            if before.get(name) != after[name]:
                first = pc.index(pc.is_valid(array), True).as_py()
                self.found[name] = offsets[max(0, first)].as_py()
        self.parts.add(rows, columns)

    def finish(self, topic: str, shared: ColumnKinds) -> StagedTopic:
        """Complete the parts; ``shared`` are the columns of the topic's schemaless rows."""
        columns = merge_columns(self.columns, shared) if self.parts.is_schemaless else self.columns
        done = tuple(self.parts.finish(columns))
        return StagedTopic(topic, self.parts.is_schemaless, columns, self.found, done)

    def discard(self) -> None:
        """Close what is open."""
        self.parts.discard()
