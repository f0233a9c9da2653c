"""The topics that connectors must not use at this moment, even if a sink's pattern matches them."""

from __future__ import annotations

from collections.abc import Callable

from connect_core.settings import WorkerSettings
from connect_core.store import Database, connectors

__all__ = ["closed_topics"]


def closed_topics(settings: WorkerSettings, database: Database) -> Callable[[], frozenset[str]]:
    """Return a function that returns the worker's own topics and the offsets topics of all connectors.

    It may raise RetriableError. It is called each time a pattern is matched: any
    connector may have named an offsets topic since.
    """

    def closed() -> frozenset[str]:
        with database.read() as connection:
            return settings.internal_topics | connectors.offsets_topics(connection)

    return closed
