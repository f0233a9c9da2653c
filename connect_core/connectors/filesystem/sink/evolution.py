"""What happens to a file when the schema of its records changes."""

from __future__ import annotations

from enum import Enum

from connect_core.connectors.filesystem.columns import ColumnKinds, KindConflict, merge_columns

__all__ = ["Evolution"]


class Evolution(Enum):
    """A policy for records with a schema; records without one always share the columns of their topic."""

    UNION = "UNION"
    """A file has the columns of all its schemas; a column whose types conflict is refused."""
    NONE = "NONE"
    """Each schema starts a new file."""
    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"
    """Like UNION, but conflicting types start a new file."""

    def united(self, earlier: ColumnKinds, columns: ColumnKinds, *, is_schemaless: bool | None) -> ColumnKinds | None:
        """Return the columns of a file that is continued, ``None``: another one starts. Raises KindConflict.

        is_schemaless: ``None`` for rows whose values are all null, which are in any file.
        """
        if not earlier or is_schemaless or self is Evolution.UNION:
            return merge_columns(earlier, columns)
        if self is Evolution.NONE and is_schemaless is not None:
            return columns if dict(earlier) == dict(columns) else None
        try:
            return merge_columns(earlier, columns)
        except KindConflict:
            return None
