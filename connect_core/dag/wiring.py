"""Builds the parts of the DAG file, its tasks and the watcher from the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connect_core.configs import load_worker
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.naming import dag_id_of
from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.run_monitor import RunMonitor
from connect_core.dag.scheduler import SERVICE_SECONDS, AirflowScheduler, RequestingScheduler
from connect_core.dag.snapshot import read_one_or_last_good, read_or_last_good
from connect_core.dag.watcher import Watcher
from connect_core.errors import ConfigError
from connect_core.herder.context import Herder
from connect_core.herder.observer import Observer
from connect_core.herder.topic_ends import TopicEnds
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import connectors
from connect_core.store.database import Database
from connect_core.store.schedules import ScheduledConnector, scheduled_connectors

__all__ = [
    "airflow_api",
    "current_connectors",
    "make_run_monitor",
    "make_watcher",
    "open_database",
    "opened_herder",
    "worker_settings",
]

_SNAPSHOT = "connect_dags.json"


def worker_settings() -> WorkerSettings:
    """Return the worker's settings. Raises ConfigError."""
    return load_worker(None, os.environ, WorkerMode.DISTRIBUTED)


def current_connectors(settings: WorkerSettings, only: str | None = None) -> tuple[ScheduledConnector, ...]:
    """Return the stored connectors, those last read while the database is down; ``only``: the one of this DAG id.

    A task parses the file for its own DAG: it must not take longer the more connectors there are.
    """
    database = Database(settings.database_url, pooled=False)

    def read() -> tuple[ScheduledConnector, ...]:
        with database.read() as connection:
            if only is None:
                return scheduled_connectors(connection)
            names = [name for name in connectors.list_names(connection) if dag_id_of(name) == only]
            return scheduled_connectors(connection, names)

    file = Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser() / _SNAPSHOT
    return read_or_last_good(read, file) if only is None else read_one_or_last_good(read, file)


def open_database() -> Database:
    """Return the metadata database, for a short-lived process. Raises ConfigError."""
    return Database(worker_settings().database_url, pooled=False)


def make_watcher() -> Watcher:
    """Return the triggerer's watcher. Raises ConfigError."""
    from airflow.configuration import conf

    # The probe imports Kafka's client, which would slow down parsing the DAG file.
    from connect_core.run.probe import open_probe

    settings = worker_settings()
    database, api = Database(settings.database_url), airflow_api(settings)
    reconciler = AirflowReconciler(database, api, AirflowScheduler(api, SERVICE_SECONDS), "watcher")
    # The other half of Airflow's slots is for connectors with data.
    starts = max(1, conf.getint("core", "parallelism") // 2)
    return Watcher(open_probe(settings, database), reconciler, starts_at_once=starts)


def make_run_monitor() -> RunMonitor:
    """Return the run monitor that runs beside the watcher. Raises ConfigError."""
    from connect_core.kafka.admin import KafkaAdmin
    from connect_core.kafka.clients import KafkaClients

    settings = worker_settings()
    database = Database(settings.database_url)
    ends = TopicEnds(KafkaAdmin(KafkaClients(settings.resolved, client_id="connect-overseer")))
    lost_after = settings.values["run.lost.after.ms"] / 1000
    return RunMonitor(database, airflow_api(settings), Observer(database, ends), lost_after)


@contextmanager
def opened_herder(actor: str) -> Iterator[Herder]:
    """Open a herder for one task, whose acts would be stored as requests. Raises ConfigError."""
    from connect_core.configs import providers_of
    from connect_core.effects.closed_topics import closed_topics
    from connect_core.herder.rewriting import rewrite_offsets
    from connect_core.kafka.admin import KafkaAdmin
    from connect_core.kafka.clients import KafkaClients

    settings = worker_settings()
    database = Database(settings.database_url, pooled=False)
    try:
        ends = TopicEnds(KafkaAdmin(KafkaClients(settings.resolved), closed_topics(settings, database)))
        providers, scheduler = providers_of(settings, os.environ), RequestingScheduler(database, actor)
        yield Herder(database, settings, scheduler, rewrite_offsets, providers, actor, ends)
    finally:
        database.close()


def airflow_api(settings: WorkerSettings) -> AirflowApi:
    """Return the client of Airflow's API, with the service identity. Raises ConfigError."""
    values, file = settings.values, settings.airflow_password_file
    if not (values["airflow.url"] and values["airflow.user"] and file):
        raise ConfigError(
            "Airflow cannot be called: set airflow.url, airflow.user and airflow.password.file, or "
            "CONNECT_AIRFLOW_URL, CONNECT_AIRFLOW_USER and CONNECT_AIRFLOW_PASSWORD_FILE"
        )
    return AirflowApi(ServiceIdentity(values["airflow.url"], values["airflow.user"], file))
