"""Runs over the Spark Connect session of this environment, as a scheduler calls them."""

from __future__ import annotations

import os
from collections.abc import Callable

from connect_core.configs import load_worker
from connect_core.interval.runs import RunOutcome, RunRequest
from connect_core.interval.values import job_tag
from connect_core.run.loop import drive
from connect_core.run.runner import TaskRunner
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.settings.private_folder import private_folder
from connect_core.spark.runner import SparkRunner, interrupt_tag
from connect_core.spark.session import SessionSettings, shared_session
from connect_core.store import Database
from connect_core.store.intervals import load_unfinished

__all__ = ["environment_settings", "interrupt", "remote_runner", "run_connector"]

ShowJob = Callable[[str], None]
"""Called with the address of a Spark job's page when the job begins."""


def run_connector(request: RunRequest, show_job: ShowJob = lambda url: None) -> RunOutcome:
    """Run a connector over the shared Spark Connect session of this environment.

    Raises ConnectError, RetriableError, StaleEpochError.
    """
    settings = environment_settings()

    def open_runner() -> TaskRunner:
        show_job(os.environ.get("CONNECT_SPARK_UI", ""))
        return remote_runner(settings)

    return drive(request, settings, open_runner)


def interrupt(connector: str) -> None:
    """End the Spark job of the connector's unfinished interval; its markers decide what was done."""
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
