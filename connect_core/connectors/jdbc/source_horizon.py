"""PostgreSQL's horizon: the transaction before which all have ended, so that none of their rows can still appear.

Rows of transactions at or behind it wait, whatever their number or timestamp, as
records behind Kafka's last stable offset do. A row that commits late is found by
its transaction id in the next interval, above a *floor*: the position below which
no transaction that is still running can have written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sqlalchemy as sa
from sqlalchemy import Connection

__all__ = ["FloorState", "Horizon", "TableFile", "read_file_node", "read_horizon", "table_bytes"]


@dataclass(frozen=True, slots=True)
class Horizon:
    """A snapshot: ``xmin`` is the oldest running transaction, ``xmax`` the next to come.

    ``running``: virtual ids of all transactions under way, also of those that
    have written nothing yet.
    """

    xmin: int
    xmax: int
    running: frozenset[str]


def read_horizon(connection: Connection) -> Horizon:
    """Return the horizon of the connection's transaction."""
    # Functions of 64 bits that PostgreSQL has had since version 8.3.
    xmin, xmax = connection.execute(
        sa.text("SELECT txid_snapshot_xmin(s), txid_snapshot_xmax(s) FROM txid_current_snapshot() s")
    ).one()
    rows = connection.execute(
        sa.text("SELECT virtualxid FROM pg_locks WHERE locktype = 'virtualxid' AND pid <> pg_backend_pid()")
    )
    return Horizon(xmin, xmax, frozenset(row[0] for row in rows))


def read_file_node(connection: Connection, table: str) -> str:
    """Return the file a table's rows are in; another one when they were rewritten. ``table`` is quoted."""
    found = connection.execute(sa.text("SELECT pg_relation_filenode(to_regclass(:name))"), {"name": table}).scalar()
    return str(found or "")


def table_bytes(connection: Connection, table: str) -> int:
    """Return how large a table's rows are on disk."""
    found = connection.execute(sa.text("SELECT pg_relation_size(to_regclass(:name))"), {"name": table}).scalar()
    return int(found or 0)


@dataclass(frozen=True, slots=True)
class TableFile:
    """Where a table's rows are: ``node`` is another one after they were rewritten.

    ALTER TABLE copies all rows in a transaction of its own. Rows behind the position
    by transactions before ``copied_before`` are such copies, whoever wrote them first.
    """

    node: str = ""
    copied_before: int = 0


@dataclass(frozen=True, slots=True)
class FloorState:
    """How far down late rows are looked for; kept beside the offset.

    ``floor``: a position, empty for the beginning. ``mark`` becomes the floor once
    the transactions in ``running`` have ended and all before ``mark_xmax`` are behind
    the horizon. ``file``: where the rows were.
    """

    floor: str = ""
    mark: str = ""
    mark_xmax: int = 0
    running: frozenset[str] = frozenset()
    file: TableFile = field(default_factory=TableFile)

    @classmethod
    def from_state(cls, state: Mapping[str, str] | None) -> FloorState:
        """Return what was kept with an offset."""
        known = state or {}
        running = frozenset(known.get("running", "").split())
        return cls(
            known.get("floor", ""),
            known.get("mark", ""),
            int(known.get("mark_xmax") or 0),
            running,
            TableFile(known.get("file_node", ""), int(known.get("copied_before") or 0)),
        )

    def to_state(self) -> dict[str, str]:
        """Return what to keep with an offset."""
        return {
            "floor": self.floor,
            "mark": self.mark,
            "mark_xmax": str(self.mark_xmax),
            "running": " ".join(sorted(self.running)),
            "file_node": self.file.node,
            "copied_before": str(self.file.copied_before),
        }

    def advanced(self, position: str, xmin: int, now: Horizon) -> FloorState:
        """Return the state after all rows up to ``position`` of transactions before ``xmin`` were read.

        ``now`` is a later horizon.
        """
        if self.mark and self.running:
            left = self.running & now.running
            return replace(self, running=left, mark_xmax=self.mark_xmax if left else now.xmax)
        if self.mark and xmin < self.mark_xmax:
            return self
        return replace(self, floor=self.mark, mark=position, mark_xmax=now.xmax, running=now.running)
