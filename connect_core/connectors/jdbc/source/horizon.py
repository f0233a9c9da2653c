"""PostgreSQL's horizon: the transaction before which all have ended, so that none of their rows can still appear.

Rows of transactions at or after it wait, whatever their number or timestamp, like records after Kafka's last stable
offset. A row that commits late is found by its transaction id in the next interval, above a *floor*: the position below
which no transaction that is still running can have written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sqlalchemy as sa
from sqlalchemy import Connection

from connect_core.errors import RetriableError

__all__ = [
    "STANDBY",
    "FloorState",
    "Horizon",
    "TableFile",
    "is_rewritten",
    "read_file_node",
    "read_horizon",
    "table_bytes",
]

STANDBY = (
    "The database is a hot standby, which does not know the primary's open transactions: rows that commit late "
    "would be lost. Connect to the primary, or read the tables through a view (table.types=VIEW) or query there, which "
    "wait for timestamp.delay.interval.ms or late.window.ms instead"
)


@dataclass(frozen=True, slots=True)
class Horizon:
    """A snapshot: ``xmin`` is the oldest running transaction, ``xmax`` the next one to begin.

    ``running``: virtual ids of all running transactions, including those that have written nothing yet.
    """

    xmin: int
    xmax: int
    running: frozenset[str]

    @property
    def has_wrapped(self) -> bool:
        """Whether a row's 32 bits of its transaction id may be those of one 2³² transactions later."""
        return self.xmax >= 1 << 32


def read_horizon(connection: Connection) -> Horizon:
    """Return the horizon of the connection's transaction. Raises RetriableError on a hot standby."""
    # 64-bit functions that PostgreSQL has had since version 8.3.
    xmin, xmax, is_standby = connection.execute(
        sa.text(
            "SELECT txid_snapshot_xmin(s), txid_snapshot_xmax(s), pg_is_in_recovery() FROM txid_current_snapshot() s"
        )
    ).one()
    if is_standby:
        raise RetriableError(STANDBY)
    rows = connection.execute(
        sa.text("SELECT virtualxid FROM pg_locks WHERE locktype = 'virtualxid' AND pid <> pg_backend_pid()")
    )
    return Horizon(xmin, xmax, frozenset(row[0] for row in rows))


_FILE_NODE = sa.text(
    "SELECT CASE relkind WHEN 'p' THEN :partitioned || coalesce((SELECT string_agg(relid::oid || ':' || "
    "pg_relation_filenode(relid), ' ' ORDER BY relid::oid) FROM pg_partition_tree(c.oid) "
    "WHERE isleaf AND pg_relation_filenode(relid) <> relid::oid), '') "
    "ELSE pg_relation_filenode(c.oid)::text END FROM pg_class c WHERE c.oid = to_regclass(:name)"
)
_TABLE_BYTES = sa.text(
    "SELECT coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(to_regclass(:name))), "
    "pg_relation_size(to_regclass(:name)))"
)
_PARTITIONED = "p"


def read_file_node(connection: Connection, table: str) -> str:
    """Return the file of a table's rows; it changes when they are rewritten. ``table`` is quoted.

    A partitioned table has no file: the result lists those of its partitions that were ever rewritten (a file that
    never was has the number of its partition), so that adding or removing one does not count as rewriting.
    """
    found = connection.execute(_FILE_NODE, {"name": table, "partitioned": _PARTITIONED}).scalar()
    return str(found or "")


def is_rewritten(before: str, now: str) -> bool:
    """Return whether rows were rewritten between two results of ``read_file_node``; an empty one proves nothing."""
    if not before or before == now:
        return False
    if not (before.startswith(_PARTITIONED) and now.startswith(_PARTITIONED)):
        return True
    return not set(now.removeprefix(_PARTITIONED).split()) <= set(before.removeprefix(_PARTITIONED).split())


def table_bytes(connection: Connection, table: str) -> int:
    """Return the size of a table's rows on disk, including all its partitions."""
    return int(connection.execute(_TABLE_BYTES, {"name": table}).scalar() or 0)


@dataclass(frozen=True, slots=True)
class TableFile:
    """The file of a table's rows: ``node`` changes when they are rewritten.

    ALTER TABLE copies all rows in its own transaction. Rows after the position by transactions before ``copied_before``
    are such copies, whoever wrote them first.
    """

    node: str = ""
    copied_before: int = 0


@dataclass(frozen=True, slots=True)
class FloorState:
    """How far down late rows are searched for; stored with the offset.

    ``floor``: a position, empty for the beginning. ``mark`` becomes the floor once the transactions in ``running`` have
    ended and all before ``mark_xmax`` are before the horizon. ``file``: the file of the rows.
    """

    floor: str = ""
    mark: str = ""
    mark_xmax: int = 0
    running: frozenset[str] = frozenset()
    file: TableFile = field(default_factory=TableFile)

    @classmethod
    def from_state(cls, state: Mapping[str, str] | None) -> FloorState:
        """Return the state stored with an offset."""
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
        """Return the state to store with an offset."""
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
