"""The herder's interface to the scheduler that starts runs: Airflow, or the standalone loop."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Literal, Protocol

from connect_core.errors import ConnectError
from connect_core.store import Database, requests
from connect_core.store.requests import Asked

__all__ = ["Act", "Scheduler", "ask"]

_LOG = logging.getLogger(__name__)

Act = Literal["deploy", "remove", "pause", "resume", "trigger", "retry"]
"""A method of the scheduler, and the kind of the request it becomes."""


class Scheduler(Protocol):
    """Starts and holds back runs; every act is idempotent. Raise ConnectError.

    The database is updated first: an act that fails here is stored there as
    a request, and carried out later.
    """

    def deploy(self, connector: str) -> None:
        """Schedule the stored connector, by its present schedule."""

    def remove(self, connector: str) -> None:
        """Stop scheduling a connector that is no longer stored; its run ends at a commit point."""

    def pause(self, connector: str) -> None:
        """Start no further run."""

    def resume(self, connector: str) -> None:
        """Start runs again."""

    def trigger(self, connector: str) -> str:
        """Start a run now and return its id, or an empty string if it is not known yet."""

    def retry(self, connector: str) -> None:
        """Try the unfinished interval again, and plan again."""

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Export past times again: start the runs of the schedule from ``first`` to ``last``, both included.

        Raise IllegalWorkerStateError where a backfill is running, BadRequestError where there is none. This act is
        not postponed: what it finds later may not be what was seen.
        """


def ask(scheduler: Scheduler, database: Database, act: Act, connector: str) -> None:
    """Let the scheduler act on a connector; an act that fails now is stored as a request."""
    try:
        getattr(scheduler, act)(connector)
    except ConnectError as error:
        _LOG.warning("Connector %s: %s is postponed: %s", connector, act, error)
        with database.write() as connection:
            requests.add(connection, Asked(act, connector, {"reason": str(error)}, "herder"))
