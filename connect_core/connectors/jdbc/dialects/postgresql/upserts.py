"""Upserts of rows that are all new: PostgreSQL copies these directly into the table, which is its fastest way.

Whether they are new is not checked beforehand: if the table's unique index finds an existing key, the COPY is rolled
back to its savepoint, and the rows are merged instead.
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
"""SQLSTATE: the key exists already; a view; a table with row-level security."""


@dataclass(slots=True)
class _Pace:
    """How many upserts into a table are merged before COPY is tried again: doubled after each failure.

    This avoids attempts on a table whose rows are mostly updated, as they cost time and leave dead rows.
    """

    pause: int = 0
    left: int = 0

    def count(self) -> bool:
        """Count one upsert → whether COPY is tried for it."""
        self.left -= 1
        return self.left < 0

    def note(self, is_copied: bool) -> None:
        """Record the result of an attempt."""
        self.pause = 0 if is_copied else min(max(1, 2 * self.pause), _LONGEST)
        self.left = self.pause


def upsert(connection: Connection, write: Write) -> None:
    """Insert rows and replace those whose key exists. Raises DBAPIError."""
    paces: dict[TableName, _Pace] = connection.info.setdefault(_PACES, {})
    pace = paces.setdefault(write.table.name, _Pace())
    if pace.count():
        is_copied = _is_copied(connection, write)
        pace.note(is_copied)
        if is_copied:
            return
    merge(connection, write)


def _is_copied(connection: Connection, write: Write) -> bool:
    """Return whether COPY has written the rows; if not, nothing is left of it."""
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
