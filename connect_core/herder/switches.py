"""Refuses what would disturb a switch of a connector between this deployment and a Kafka Connect cluster."""

from __future__ import annotations

from connect_core.errors import IllegalWorkerStateError
from connect_core.herder.context import Herder
from connect_core.store import origins
from connect_core.store.database import Connection

__all__ = ["ensure_no_switch"]


def ensure_no_switch(herder: Herder, connection: Connection, name: str, act: str) -> None:
    """Raise IllegalWorkerStateError while a switch of the connector is in progress, unless the switch itself acts.

    ``act``: what is refused, as in "deleted". The switch may have ended long ago by being killed: it is in progress
    until it is completed or undone, since the connector is then stopped on both sides.
    """
    origin = origins.find(connection, name)
    if origin is None or origin.state is None or herder.is_switching:
        return
    raise IllegalWorkerStateError(
        f"{name} cannot be {act} now: a switch between {origin.url} and here is in progress. Complete or undo it by "
        f"connect switch {name} (to here) or connect switch {name} --back (to the cluster), then try again."
    )
