"""The task ``run`` of a connector's DAG, over a remote Spark session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from connect_core.dag.connector_task import ConnectorTask
from connect_core.interval.runs import RunOutcome, RunRequest

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["ConnectorRunOperator"]

_KILL_SECONDS = 4.0


class ConnectorRunOperator(ConnectorTask):
    """Run a connector in the Airflow task, its intervals as jobs of a Spark Connect server."""

    def drive(self, request: RunRequest, context: Context) -> RunOutcome:
        """Carry out one run in this process. Raises ConnectError."""
        from connect_core.spark.remote import run_connector

        return run_connector(request, lambda url: self.show_job(context, url))

    def on_kill(self) -> None:
        """Interrupt the connector's Spark job.

        Called from a signal handler while the run's own thread may hold the
        client's locks: hence a separate thread, and a short wait for it.
        """
        from connect_core.spark.remote import interrupt

        killer = threading.Thread(target=interrupt, args=(self.connector,), daemon=True)
        killer.start()
        killer.join(_KILL_SECONDS)
