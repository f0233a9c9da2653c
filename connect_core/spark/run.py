"""A run as a scheduler calls it: from the environment's settings to the run's end."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable

from connect_core.configs import load_worker
from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.runs import RunOutcome, RunRequest
from connect_core.interval.values import job_tag
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.settings.private_folder import private_folder
from connect_core.spark.driver import Driver
from connect_core.spark.job import main
from connect_core.spark.runner import LazyRunner, SparkRunner, TaskRunner, interrupt_tag
from connect_core.spark.session import SessionSettings, shared_session
from connect_core.store import Database
from connect_core.store.intervals import RunIdentity, load_unfinished

__all__ = ["drive", "environment_settings", "interrupt", "remote_runner", "run_connector"]

ShowJob = Callable[[str], None]
"""Is told the address of a Spark job's page when one begins."""


def run_connector(request: RunRequest, show_job: ShowJob = lambda url: None) -> RunOutcome:
    """Run a connector over the shared Spark Connect session of this environment.

    Raises ConnectError, RetriableError, StaleEpochError.
    """
    settings = environment_settings()

    def open_runner() -> TaskRunner:
        show_job(os.environ.get("CONNECT_SPARK_UI", ""))
        return remote_runner(settings)

    return drive(request, settings, open_runner)


def drive(
    request: RunRequest,
    settings: WorkerSettings,
    open_runner: Callable[[], TaskRunner],
    stopping: threading.Event | None = None,
) -> RunOutcome:
    """Run a connector with any runner, which is opened when there is work.

    Raises ConnectError, RetriableError, StaleEpochError.
    """
    database = Database(settings.database_url)
    identity = RunIdentity(request.run_id, f"{socket.gethostname()}:{os.getpid()}")
    worker = ConnectorWorker(settings, database, request.connector, identity)
    try:
        return main(request, Driver(worker, stopping or threading.Event()), LazyRunner(open_runner))
    finally:
        worker.close()
        database.close()


def interrupt(connector: str) -> None:
    """End the Spark job of the connector's unfinished interval; its data decides what was done."""
    settings = environment_settings()
    database = Database(settings.database_url, pooled=False)
    with database.read() as connection:
        row = load_unfinished(connection, connector)
    if row is not None:
        interrupt_tag(_session(settings), job_tag(row.key))


def remote_runner(settings: WorkerSettings) -> SparkRunner:
    """Return the runner over the deployment's Spark Connect session. Raises RetriableError."""
    return SparkRunner(_session(settings))


def environment_settings() -> WorkerSettings:
    """Return the settings of ``CONNECT_WORKER_CONFIG`` and the environment. Raises ConfigError."""
    return load_worker(None, os.environ, WorkerMode.DISTRIBUTED)


def _session(settings: WorkerSettings) -> object:
    folder = private_folder("code")
    return shared_session(SessionSettings(settings.deployment, settings.spark_remote or "", folder))
