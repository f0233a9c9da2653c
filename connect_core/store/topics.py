"""Active topics: those that a connector wrote to or read from (KIP-558)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select

from connect_core.store.clock import now
from connect_core.store.models import Topic

__all__ = ["active", "add", "reset"]


def active(connection: Connection, connector: str) -> list[str]:
    """Return the active topics, sorted; none for an unknown connector."""
    return sorted(connection.scalars(select(Topic.topic).where(Topic.connector == connector)))


def add(connection: Connection, connector: str, topics: Iterable[str]) -> None:
    """Add active topics; the caller has locked the connector's row."""
    wanted = set(topics)
    if not wanted:
        return
    for topic in sorted(wanted.difference(active(connection, connector))):
        connection.execute(insert(Topic).values(connector=connector, topic=topic, first_seen_at=now()))


def reset(connection: Connection, connector: str) -> None:
    """Forget all active topics of a connector."""
    connection.execute(delete(Topic).where(Topic.connector == connector))
