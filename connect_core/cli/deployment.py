"""A deployment, opened from its worker's settings: database, Kafka and Airflow behind one herder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from connect_core.configs import ConfigProviders, load_worker, providers_of
from connect_core.dag.reconciler import AirflowReconciler
from connect_core.dag.scheduler import SERVICE_SECONDS, AirflowScheduler, RequestingScheduler
from connect_core.dag.service import RequestService, ServiceScheduler
from connect_core.dag.wiring import airflow_api
from connect_core.effects.closed_topics import closed_topics
from connect_core.herder.context import Herder
from connect_core.herder.observer import Observer
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.herder.scheduler import Scheduler
from connect_core.herder.topic_ends import TopicEnds
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database

__all__ = ["Deployment", "open_deployment", "settings_of"]


@dataclass(frozen=True, slots=True)
class Deployment:
    """The opened parts of a deployment; ``reconciler`` is ``None`` if ``airflow.url`` is not set."""

    settings: WorkerSettings
    database: Database
    providers: ConfigProviders
    reconciler: AirflowReconciler | None
    scheduler: Scheduler
    ends: TopicEnds

    def herder(self, actor: str) -> Herder:
        """Return a herder that acts on behalf of ``actor``."""
        return Herder(self.database, self.settings, self.scheduler, rewrite_offsets, self.providers, actor, self.ends)


def settings_of(worker: Path | None) -> WorkerSettings:
    """Read the deployment's settings: a file, by default ``CONNECT_WORKER_CONFIG``, and the environment."""
    return load_worker(worker, os.environ, WorkerMode.DISTRIBUTED)


def open_deployment(settings: WorkerSettings, *, is_service: bool) -> Deployment:
    """Open the deployment, without connecting to anything yet. Raise ConfigError.

    A service carries out requests in the background; a command waits for Airflow itself.
    """
    database = Database(settings.database_url)
    providers = providers_of(settings, os.environ)
    ends = TopicEnds(KafkaAdmin(KafkaClients(settings.resolved), closed_topics(settings, database)))
    if is_service:
        # Detects stalls even while the watcher itself is not running.
        Observer(database, ends).start()
    if not settings.values["airflow.url"]:
        # The watcher in Airflow carries out the requests.
        return Deployment(settings, database, providers, None, RequestingScheduler(database), ends)
    api = airflow_api(settings)
    airflow = AirflowScheduler(api, SERVICE_SECONDS) if is_service else AirflowScheduler(api)
    reconciler = AirflowReconciler(database, api, airflow, "rest")
    if not is_service:
        return Deployment(settings, database, providers, reconciler, airflow, ends)
    service = RequestService(reconciler)
    service.start()
    scheduler = ServiceScheduler(airflow, RequestingScheduler(database), service)
    return Deployment(settings, database, providers, reconciler, scheduler, ends)
