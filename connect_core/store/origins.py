"""Where imported connectors come from, and which side has their newest offsets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from connect_core.errors import IllegalWorkerStateError
from connect_core.store.clock import now
from connect_core.store.database import Database
from connect_core.store.models import Origin

__all__ = ["OriginRow", "alone", "find", "forget", "record"]

_LOCK = 0x73776974
"""The class of the advisory locks of switches; the letters of ``swit``."""


@dataclass(frozen=True, slots=True)
class OriginRow:
    """A Connect cluster's address, without a login, and how far a switch has come.

    ``is_here``: the newest offsets are here, not there. ``state``: of a switch under way, the state the connector had
    when it began, and will have again; ``None`` while there is none.
    """

    url: str
    is_here: bool
    state: str | None = None
    changed_at: datetime | None = None


def find(connection: Connection, connector: str) -> OriginRow | None:
    """Return where a connector comes from; ``None`` for one that was made here."""
    columns = Origin.url, Origin.is_here, Origin.state, Origin.changed_at
    row = connection.execute(select(*columns).where(Origin.connector == connector)).one_or_none()
    return None if row is None else OriginRow(row.url, row.is_here, row.state, row.changed_at)


def record(connection: Connection, connector: str, origin: OriginRow) -> None:
    """Keep where it comes from and how far a switch has come; the time is that of the database."""
    values = {"url": origin.url, "is_here": origin.is_here, "state": origin.state, "changed_at": now()}
    known = connection.execute(update(Origin).where(Origin.connector == connector).values(**values))
    if not known.rowcount:
        connection.execute(insert(Origin).values(connector=connector, **values))


def forget(connection: Connection, connector: str) -> None:
    """Drop it: a connector of the same name may come from elsewhere."""
    connection.execute(delete(Origin).where(Origin.connector == connector))


@contextmanager
def alone(database: Database, connector: str) -> Iterator[None]:
    """Let no other command switch a connector during the block; the lock goes with the process that has it.

    SQLite has no such lock: one command at a time is then the user's part. Raise IllegalWorkerStateError where another
    command has it.
    """
    with database.read() as connection:
        if connection.dialect.name == "postgresql":
            mine = func.pg_try_advisory_xact_lock(_LOCK, func.hashtext(connector))
            if not connection.scalar(select(mine)):
                raise IllegalWorkerStateError(
                    f"Another command is switching {connector} just now: wait until it has ended, then run this again."
                )
        yield
