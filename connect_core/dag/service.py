"""Airflow as ``connect rest`` drives it: quick acts at once, slow ones behind the answer."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field

from connect_core.dag.duties import AirflowDuties
from connect_core.dag.scheduler import AirflowScheduler, RequestingScheduler
from connect_core.errors import ConnectError

__all__ = ["RequestService", "ServiceScheduler"]

_LOG = logging.getLogger(__name__)
_SECONDS = 5.0


@dataclass(slots=True)
class RequestService:
    """Carries out requests in a thread: at once when woken, and what others asked for every few seconds."""

    duties: AirflowDuties
    _woken: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin; the thread ends with its process."""
        threading.Thread(target=self._work, name="connect-requests", daemon=True).start()

    def wake(self) -> None:
        """Look for requests now."""
        self._woken.set()

    def _work(self) -> None:
        while True:
            self._woken.wait(_SECONDS)
            self._woken.clear()
            try:
                self.duties.serve()
            except ConnectError as error:
                _LOG.warning("Requests are left for later: %s", error)


@dataclass(frozen=True, slots=True)
class ServiceScheduler:
    """Asks Airflow itself where that takes milliseconds; parsing the DAG file takes seconds and is asked for."""

    airflow: AirflowScheduler
    requests: RequestingScheduler
    service: RequestService

    def deploy(self, connector: str) -> None:
        """Ask for the connector's DAG."""
        self.requests.deploy(connector)
        self.service.wake()

    def remove(self, connector: str) -> None:
        """Ask for the DAG to be deleted."""
        self.requests.remove(connector)
        self.service.wake()

    def pause(self, connector: str) -> None:
        """Pause the DAG. Raises NotFoundError before it is deployed."""
        self.airflow.pause(connector)

    def resume(self, connector: str) -> None:
        """Unpause the DAG. Raises NotFoundError before it is deployed."""
        self.airflow.resume(connector)

    def trigger(self, connector: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError before the connector is deployed."""
        return self.airflow.trigger(connector)

    def retry(self, connector: str) -> None:
        """Try the unfinished interval again."""
        self.airflow.retry(connector)
