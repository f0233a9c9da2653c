"""Limits the growth of a standalone worker's histories."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from connect_core.errors import ConnectError
from connect_core.store.database import Database
from connect_core.store.retention import Retention, sweep

__all__ = ["Sweeper"]

_LOG = logging.getLogger(__name__)
_SECONDS = 3600.0


@dataclass(slots=True)
class Sweeper:
    """Deletes what is beyond the retention, at the start and every hour, until ``stopping`` is set."""

    database: Database
    retention: Retention
    stopping: threading.Event

    def start(self) -> None:
        """Start the sweeper's thread."""
        threading.Thread(target=self._live, name="sweeper", daemon=True).start()

    def _live(self) -> None:
        while not self.stopping.is_set():
            try:
                _LOG.debug("swept: %s", sweep(self.database, self.retention))
            except ConnectError as error:
                _LOG.warning("history cleanup is postponed: %s", error)
            self.stopping.wait(_SECONDS)
