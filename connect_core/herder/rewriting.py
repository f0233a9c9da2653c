"""Moving offsets of connectors whose truth is the metadata database itself."""

from __future__ import annotations

from connect_core.herder.context import Herder
from connect_core.store import connectors, intents, offsets
from connect_core.store.intents import Wish
from connect_core.store.offsets import Changes

__all__ = ["rewrite_in_database"]


def rewrite_in_database(herder: Herder, connector: str, wanted: Changes | None) -> None:
    """Store the intent and let SQL follow at once: no target keeps a position of its own.

    Raise NotFoundError, IllegalWorkerStateError unless STOPPED, StaleEpochError if overtaken.
    """
    with herder.database.write() as connection:
        epoch = intents.store(connection, connector, Wish(wanted, herder.actor))
    with herder.database.write() as connection:
        kind = connectors.get(connection, connector).type
        moved = dict.fromkeys(offsets.load(connection, connector, kind)) if wanted is None else wanted
        intents.finish(connection, connector, epoch, moved)
