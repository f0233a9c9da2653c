"""The origins of imported connectors, and which side has their newest offsets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from connect_core.errors import IllegalWorkerStateError
from connect_core.store.clock import age, now
from connect_core.store.database import Database
from connect_core.store.models import Origin

__all__ = ["OriginRow", "alone", "find", "forget", "record", "unswitched"]

_LOCK = 0x73776974
"""The class of the switches' advisory locks: the letters of ``swit``."""
_GUARD = threading.Lock()
_SWITCHED: set[tuple[str, str]] = set()
"""What this process switches just now, by SQLite's file and connector."""


@dataclass(frozen=True, slots=True)
class OriginRow:
    """A Connect cluster's address, without credentials, and the progress of a switch.

    ``is_here``: the newest offsets are here, not in the cluster. ``state``: during a switch, the state the connector
    had at its beginning, and will have again; else ``None``. ``age``: seconds since it was recorded, by the database.
    """

    url: str
    is_here: bool
    state: str | None = None
    changed_at: datetime | None = None
    age: float | None = None


def find(connection: Connection, connector: str) -> OriginRow | None:
    """Return the origin of a connector; ``None`` if it was created here."""
    columns = Origin.url, Origin.is_here, Origin.state, Origin.changed_at, age(Origin.changed_at)
    row = connection.execute(select(*columns).where(Origin.connector == connector)).one_or_none()
    return None if row is None else OriginRow(*row)


def unswitched(connection: Connection) -> frozenset[str]:
    """Return the connectors whose newest offsets are in their cluster, or which are being switched."""
    is_elsewhere = or_(Origin.is_here.is_(False), Origin.state.is_not(None))
    return frozenset(connection.scalars(select(Origin.connector).where(is_elsewhere)))


def record(connection: Connection, connector: str, origin: OriginRow) -> None:
    """Store the origin and the progress of a switch, with the database's time."""
    values = {"url": origin.url, "is_here": origin.is_here, "state": origin.state, "changed_at": now()}
    known = connection.execute(update(Origin).where(Origin.connector == connector).values(**values))
    if not known.rowcount:
        connection.execute(insert(Origin).values(connector=connector, **values))


def forget(connection: Connection, connector: str) -> None:
    """Delete the origin, as another connector of the same name may have another."""
    connection.execute(delete(Origin).where(Origin.connector == connector))


@contextmanager
def alone(database: Database, connector: str) -> Iterator[None]:
    """Lock a connector against other switches during the block; the lock ends with its process.

    SQLite has no lock between processes: the user must then run one command at a time, beside one REST API. Raise
    IllegalWorkerStateError if another switch holds it.
    """
    with database.read() as connection:
        if connection.dialect.name == "postgresql":
            mine = func.pg_try_advisory_xact_lock(_LOCK, func.hashtext(connector))
            if not connection.scalar(select(mine)):
                raise _busy(connector)
            yield
            return
    with _alone_here(database.address, connector):
        yield


@contextmanager
def _alone_here(address: str, connector: str) -> Iterator[None]:
    key = address, connector
    with _GUARD:
        if key in _SWITCHED:
            raise _busy(connector)
        _SWITCHED.add(key)
    try:
        yield
    finally:
        with _GUARD:
            _SWITCHED.discard(key)


def _busy(connector: str) -> IllegalWorkerStateError:
    return IllegalWorkerStateError(
        f"Another command is switching {connector} right now: wait until it ends, then run this again."
    )
