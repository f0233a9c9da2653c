"""Active topics of connectors (KIP-558)."""

from __future__ import annotations

from typing_extensions import TypedDict

from connect_core.herder.context import Herder
from connect_core.store import audit, topics
from connect_core.store.audit import Act

__all__ = ["ActiveTopics", "list_active", "reset_active"]


class ActiveTopics(TypedDict):
    """Topics that a connector has used, as REST shows them."""

    topics: list[str]


def list_active(herder: Herder, name: str) -> list[str]:
    """Return the topics that a connector has used; none for an unknown connector, as in Connect."""
    with herder.database.read() as connection:
        return topics.active(connection, name)


def reset_active(herder: Herder, name: str) -> None:
    """Forget the topics that a connector has used; an unknown connector is not an error, as in Connect."""
    with herder.database.write() as connection:
        topics.reset(connection, name)
        audit.record(connection, Act(herder.actor, "reset topics", name))
