"""Airflow as ``connect rest`` drives it: acts are carried out behind the answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.scheduler import AirflowScheduler, RequestingScheduler
from connect_core.errors import ConnectError

__all__ = ["RequestService", "ServiceScheduler"]

_LOG = logging.getLogger(__name__)
_SECONDS = 5.0


@dataclass(slots=True)
class RequestService:
    """Carries out requests in a thread a service: at once when woken, and what others asked for every few seconds."""

    reconciler: AirflowReconciler
    _woken: list[threading.Event] = field(default_factory=list)

    def start(self) -> None:
        """Begin; the threads end with their process."""
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
            _LOG.warning("Requests are left for later: %s", error)
        except Exception:
            _LOG.exception("Requests are left for later")


@dataclass(frozen=True, slots=True)
class ServiceScheduler:
    """Has acts carried out behind the answer, many together; only a run that is started now has an id to wait for."""

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
        """Ask for the DAG to be paused."""
        self.requests.pause(connector)
        self.service.wake()

    def resume(self, connector: str) -> None:
        """Ask for the DAG to be unpaused."""
        self.requests.resume(connector)
        self.service.wake()

    def trigger(self, connector: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError before the connector is deployed."""
        return self.airflow.trigger(connector)

    def retry(self, connector: str) -> None:
        """Ask for another try of the unfinished interval."""
        self.requests.retry(connector)
        self.service.wake()
