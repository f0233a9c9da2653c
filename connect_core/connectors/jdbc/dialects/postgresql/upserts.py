"""Upserts of rows that are all new: PostgreSQL takes those by COPY into the table itself, the quickest way it has.

Whether they are new is not asked beforehand: the table's own unique index says
so, to a COPY that is undone to its savepoint, and the rows are merged instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from connect_core.connectors.jdbc.catalog import TableName
from connect_core.connectors.jdbc.dialects.postgresql.copy import check_upsert, copy_into, merge, quoted_table
from connect_core.connectors.jdbc.dialects.writes import Write

__all__ = ["upsert"]

_PACES = "connect.upserts"
_LONGEST = 64
_NOT_BY_COPY = frozenset({"23505", "42809", "0A000"})
"""SQLSTATE: the key is there already; a view; a table with row-level security."""


@dataclass(slots=True)
class _Pace:
    """How many upserts into a table are merged before COPY is tried again: after each failure twice as many.

    A table whose rows are mostly changed is so spared the attempts, which cost
    time and leave dead rows behind.
    """

    pause: int = 0
    left: int = 0

    def count(self) -> bool:
        """Count one upsert → whether COPY is tried for it."""
        self.left -= 1
        return self.left < 0

    def note(self, is_copied: bool) -> None:
        """Take the end of an attempt."""
        self.pause = 0 if is_copied else min(max(1, 2 * self.pause), _LONGEST)
        self.left = self.pause


def upsert(connection: Connection, write: Write) -> None:
    """Insert rows and replace those whose key is there. Raises DBAPIError."""
    paces: dict[TableName, _Pace] = connection.info.setdefault(_PACES, {})
    pace = paces.setdefault(write.table.name, _Pace())
    if pace.count():
        is_copied = _is_copied(connection, write)
        pace.note(is_copied)
        if is_copied:
            return
    merge(connection, write)


def _is_copied(connection: Connection, write: Write) -> bool:
    """Return whether COPY could write the rows; nothing stays where it could not."""
    # Without a unique index COPY would write a key twice.
    check_upsert(connection, write)
    try:
        with connection.begin_nested():
            copy_into(connection, quoted_table(write.table.name), write.data)
    except DBAPIError as error:
        original = error.orig
        if isinstance(original, psycopg.Error) and original.sqlstate in _NOT_BY_COPY:
            return False
        raise
    return True
