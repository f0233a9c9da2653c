"""What becomes of a file when the schema of its records changes."""

from __future__ import annotations

from enum import Enum

from connect_core.connectors.filesystem.columns import ColumnKinds, KindConflict, merge_columns

__all__ = ["Evolution"]


class Evolution(Enum):
    """A policy for records with a schema; records without one share the columns of their topic in any case."""

    UNION = "UNION"
    """A file has the columns of all its schemas; a column whose types conflict is refused."""
    NONE = "NONE"
    """Each schema begins a file of its own."""
    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"
    """As UNION, but where types conflict a file of its own begins."""

    def united(self, earlier: ColumnKinds, columns: ColumnKinds, *, is_schemaless: bool) -> ColumnKinds | None:
        """Return the columns of a file that goes on, ``None``: another begins. Raises KindConflict."""
        if not earlier or is_schemaless or self is Evolution.UNION:
            return merge_columns(earlier, columns)
        if self is Evolution.NONE:
            return columns if dict(earlier) == dict(columns) else None
        try:
            return merge_columns(earlier, columns)
        except KindConflict:
            return None
