"""How ``connect rest`` drives Airflow: requests are carried out in the background, after the response."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.scheduler import AirflowScheduler, RequestingScheduler
from connect_core.errors import ConnectError

__all__ = ["RequestService", "ServiceScheduler"]

_LOG = logging.getLogger(__name__)
_SECONDS = 5.0


@dataclass(slots=True)
class RequestService:
    """Carries out requests in one thread per service: at once when woken, else every few seconds."""

    reconciler: AirflowReconciler
    _woken: list[threading.Event] = field(default_factory=list)

    def start(self) -> None:
        """Start the threads, which end with the process."""
        for service in self.reconciler.services():
            woken = threading.Event()
            self._woken.append(woken)
            threading.Thread(target=_work, args=(service, woken), name="connect-requests", daemon=True).start()

    def wake(self) -> None:
        """Look for requests now."""
        for woken in self._woken:
            woken.set()


def _work(service: Callable[[], None], woken: threading.Event) -> None:
    while True:
        woken.wait(_SECONDS)
        woken.clear()
        try:
            service()
        except ConnectError as error:
            _LOG.warning("Requests are postponed: %s", error)
        except Exception:
            _LOG.exception("Requests are postponed")


@dataclass(frozen=True, slots=True)
class ServiceScheduler:
    """Stores acts for the background, which handles many together; ``trigger`` and ``backfill`` wait for the answer."""

    airflow: AirflowScheduler
    requests: RequestingScheduler
    service: RequestService

    def deploy(self, connector: str) -> None:
        """Request the connector's DAG."""
        self.requests.deploy(connector)
        self.service.wake()

    def remove(self, connector: str) -> None:
        """Request that the DAG is deleted."""
        self.requests.remove(connector)
        self.service.wake()

    def pause(self, connector: str) -> None:
        """Request that the DAG is paused."""
        self.requests.pause(connector)
        self.service.wake()

    def resume(self, connector: str) -> None:
        """Request that the DAG is unpaused."""
        self.requests.resume(connector)
        self.service.wake()

    def trigger(self, connector: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError before the connector is deployed."""
        return self.airflow.trigger(connector)

    def retry(self, connector: str) -> None:
        """Request another try of the unfinished interval."""
        self.requests.retry(connector)
        self.service.wake()

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Start the runs of past times. Raises as ``AirflowScheduler.backfill``."""
        self.airflow.backfill(connector, first, last)
