"""A deployment as its own machine sees it: database, Kafka and Airflow behind one herder."""

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
    """What operators of a deployment work with; ``reconciler`` is missing where Airflow's address is not known."""

    settings: WorkerSettings
    database: Database
    providers: ConfigProviders
    reconciler: AirflowReconciler | None
    scheduler: Scheduler
    ends: TopicEnds

    def herder(self, actor: str) -> Herder:
        """Return the herder that acts in somebody's name."""
        return Herder(self.database, self.settings, self.scheduler, rewrite_offsets, self.providers, actor, self.ends)


def settings_of(worker: Path | None) -> WorkerSettings:
    """Read the deployment's settings: a file, by default ``CONNECT_WORKER_CONFIG``, and the environment."""
    return load_worker(worker, os.environ, WorkerMode.DISTRIBUTED)


def open_deployment(settings: WorkerSettings, *, is_service: bool) -> Deployment:
    """Open the deployment; nothing is connected yet. Raise ConfigError.

    A service carries requests out in the background; a command waits for Airflow itself.
    """
    database = Database(settings.database_url)
    providers = providers_of(settings, os.environ)
    ends = TopicEnds(KafkaAdmin(KafkaClients(settings.resolved), closed_topics(settings, database)))
    if is_service:
        # So that a stall is seen where the watcher itself is gone.
        Observer(database, ends).start()
    if not settings.values["airflow.url"]:
        # The watcher in Airflow carries out what is asked for.
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
