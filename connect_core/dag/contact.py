"""Records in the database since when Airflow has not answered, for the page and the REST API."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from connect_core.dag.airflow_client import AirflowClient, Silence
from connect_core.errors import ConnectError
from connect_core.store import silences
from connect_core.store.database import Database

__all__ = ["Contact"]

_LOG = logging.getLogger(__name__)
_REPEAT_SECONDS = 10.0


class Contact:
    """Airflow's silence as seen by one observer; written when it changes, and repeated while it lasts."""

    def __init__(self, database: Database, client: AirflowClient, observer: str) -> None:
        self._database = database
        self._client = client
        self._observer = observer
        self._lock = threading.Lock()
        self._written: Silence | None = None
        self._written_at: float | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the state after the calls of a block, whether or not they succeeded."""
        try:
            yield
        finally:
            self.note()

    def note(self) -> None:
        """Write the present state, if it has changed or is to be repeated."""
        with self._lock:
            silence = self._client.silence
            if not self._is_news(silence):
                return
            try:
                self._write(silence)
            except ConnectError as error:
                _LOG.warning("Whether Airflow responds will be recorded later: %s", error)
                return
            self._written, self._written_at = silence, time.monotonic()

    def _is_news(self, silence: Silence | None) -> bool:
        if self._written_at is None:
            return True
        if silence is None:
            return self._written is not None
        return self._written is None or time.monotonic() > self._written_at + _REPEAT_SECONDS

    def _write(self, silence: Silence | None) -> None:
        with self._database.write() as connection:
            if silence is None:
                silences.forget(connection, self._observer)
            else:
                silences.note(connection, silences.Silence(self._observer, silence.since, silence.reason))
