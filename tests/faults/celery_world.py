"""The whole stack with CeleryExecutor: two Celery workers and a broker that keeps nothing when it ends."""

from __future__ import annotations

import signal
from contextlib import suppress
from dataclasses import dataclass

import psutil

from connect_core.dev.celery import CELERY_WORKERS
from connect_core.dev.services import CELERY_NAMES
from tests.faults.airflow_world import AirflowWorld

WORKERS = tuple(service.name for service in CELERY_WORKERS)


@dataclass(slots=True)
class CeleryWorld(AirflowWorld):
    """A world whose runs are tasks of two Celery workers."""

    def __enter__(self) -> CeleryWorld:
        """Start the servers."""
        self.services = (*self.services, *CELERY_NAMES)
        self.settings = {**self.settings, "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor"}
        AirflowWorld.__enter__(self)
        return self

    def worker_of(self, pid: int) -> str | None:
        """Return the Celery worker among whose processes this one is."""
        return next((name for name in WORKERS if pid in {one.pid for one in self._family(name)}), None)

    def end_worker(self, name: str) -> None:
        """SIGKILL a Celery worker with all it started, as when its machine dies; nobody starts it again."""
        for one in self._family(name):
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGKILL)
        self.stack.service(name).stop()

    def _family(self, name: str) -> list[psutil.Process]:
        pid = self.stack.service(name).pid
        with suppress(psutil.NoSuchProcess):
            leader = psutil.Process(pid)
            return [leader, *leader.children(recursive=True)] if pid else []
        return []
