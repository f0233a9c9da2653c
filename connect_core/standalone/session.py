"""The process's only Spark session, started in the background."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

from connect_core.errors import RetriableError

__all__ = ["ProcessSession"]

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 0.2


@dataclass(slots=True)
class ProcessSession:
    """Starts Spark in a separate thread, so that neither starting nor stopping waits for it."""

    _session: Future[Any] | None = None
    _closing: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Start Spark, unless it is starting or has started."""
        self._starting()

    def get(self) -> Any:
        """Return the session, once it has started. Raises RetriableError when the worker stops before that."""
        starting = self._starting()
        while not wait([starting], _LOOK_SECONDS).done:
            if self._closing.is_set():
                raise RetriableError("the worker stopped before Spark had started")
        return starting.result()

    def refuse(self) -> None:
        """End all waiting for the session."""
        self._closing.set()

    def stop(self) -> None:
        """End the session; one that is still starting ends with the process."""
        with self._lock:
            session, self._session = self._session, None
        if session is None:
            return
        if not session.done():
            _LOG.info("Spark was still starting: it ends with the worker")
        elif session.exception() is None:
            session.result().stop()

    def _starting(self) -> Future[Any]:
        with self._lock:
            if self._session is None or (self._session.done() and self._session.exception() is not None):
                _LOG.info("starting Spark in this process")
                self._session = Future()
                # A daemon: a worker that ends because of its configuration does not wait for Spark.
                threading.Thread(target=_start, args=(self._session,), name="spark-start", daemon=True).start()
            return self._session


def _start(session: Future[Any]) -> None:
    try:
        # Imported here, as pyspark takes long to import: the worker imports the rest meanwhile.
        from connect_core.spark.session import local_session

        session.set_result(local_session("connect-standalone"))
    except BaseException as error:
        session.set_exception(error)
