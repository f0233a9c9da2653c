"""Compares decisions with the tables: one decision in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from connect_core.api.recount import Difference, RecountedInterval
from connect_core.api.sink import CommitMarker, IntervalKey
from connect_core.connectors.lake.routing import TableName

__all__ = ["RecountedTable", "TableRecounts", "recounted"]


@dataclass(frozen=True, slots=True)
class RecountedTable:
    """A table's part of an interval; ``rows`` is ``None`` if the table no longer shows it."""

    rows: int | None = None
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()


class TableRecounts(Protocol):
    """Finds decided intervals in tables; each table is opened once."""

    def of(self, name: TableName, content: Mapping[str, Any], decision: Mapping[str, Any]) -> RecountedTable:
        """Return a table's part of an interval, compared with the decision. Raises ConnectError."""


def recounted(marker: CommitMarker, tables: TableRecounts) -> RecountedInterval:
    """Return the result for one decided interval."""
    decision: Mapping[str, Any] = marker.detail or {}
    found = [tables.of(tuple(one["name"]), one, decision) for _, one in sorted(_staged(decision))]
    rows = [one.rows for one in found]
    return RecountedInterval(
        key=IntervalKey(decision["connector"], decision["incarnation"], decision["sequence"], decision["epoch"]),
        ranges=marker.ranges or (),
        is_aborted=marker.aborted,
        is_foreign=marker.is_foreign,
        rows=sum(one["rows"] for _, one in _staged(decision)),
        found=None if None in rows else sum(filter(None, rows)),
        parts=len(found),
        differences=tuple(difference for one in found for difference in one.differences),
        notes=tuple(sorted({note for one in found for note in one.notes})),
    )


def _staged(decision: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the tables that received rows or lost some."""
    return ((name, one) for name, one in decision["tables"].items() if one["lists"] or one.get("keys"))
