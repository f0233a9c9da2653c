"""What the herder may ask of whatever starts runs: Airflow, or the standalone loop."""

from __future__ import annotations

import logging
from typing import Literal, Protocol

from connect_core.errors import ConnectError
from connect_core.store import Database, requests
from connect_core.store.requests import Asked

__all__ = ["Act", "Scheduler", "ask"]

_LOG = logging.getLogger(__name__)

Act = Literal["deploy", "remove", "pause", "resume", "trigger", "retry"]
"""A method of the scheduler, and the kind of the request it becomes."""


class Scheduler(Protocol):
    """Starts and holds back runs; every act may be repeated. Raise ConnectError.

    The database is told first: an act that fails here is written down there as
    a request, and carried out later.
    """

    def deploy(self, connector: str) -> None:
        """Let the stored connector be run, as its schedule is now."""

    def remove(self, connector: str) -> None:
        """Run a connector that is no longer stored no more; its run ends at a commit point."""

    def pause(self, connector: str) -> None:
        """Start no further run."""

    def resume(self, connector: str) -> None:
        """Start runs again."""

    def trigger(self, connector: str) -> str:
        """Start a run now and return its id, or nothing where it is not known yet."""

    def retry(self, connector: str) -> None:
        """Try the unfinished interval again, and plan again."""


def ask(scheduler: Scheduler, database: Database, act: Act, connector: str) -> None:
    """Let the scheduler act on a connector; what it cannot do now becomes a request."""
    try:
        getattr(scheduler, act)(connector)
    except ConnectError as error:
        _LOG.warning("Connector %s: %s is left for later: %s", connector, act, error)
        with database.write() as connection:
            requests.add(connection, Asked(act, connector, {"reason": str(error)}, "herder"))
