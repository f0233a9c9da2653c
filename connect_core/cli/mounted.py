"""The REST API inside Airflow's API server: Airflow authorizes, and requests are stored for the watcher."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from connect_core.cli.options import rest_options
from connect_core.configs import load_worker, providers_of
from connect_core.dag.access import AirflowAccess
from connect_core.dag.naming import dag_id_of
from connect_core.dag.scheduler import RequestingScheduler
from connect_core.effects.closed_topics import closed_topics
from connect_core.herder.context import Herder
from connect_core.herder.observer import Observer
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.herder.topic_ends import TopicEnds
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.rest import Links, create_app
from connect_core.settings import WorkerMode
from connect_core.store import Database

__all__ = ["make_app"]


def make_app() -> Any:
    """Return the ASGI application that the Airflow plugin mounts. Raise ConfigError."""
    settings = load_worker(None, os.environ, WorkerMode.DISTRIBUTED)
    database = Database(settings.database_url)
    providers = providers_of(settings, os.environ)
    ends = TopicEnds(KafkaAdmin(KafkaClients(settings.resolved), closed_topics(settings, database)))
    # Detects stalls even while the watcher itself is not running.
    Observer(database, ends).start()

    def herder(actor: str) -> Herder:
        # Airflow's server may have a single worker, so it must never send requests to itself.
        scheduler = RequestingScheduler(database, actor)
        return Herder(database, settings, scheduler, rewrite_offsets, providers, actor, ends)

    links = Links(dag_id_of, "", os.environ.get("CONNECT_SPARK_UI"))
    return create_app(herder, AirflowAccess(), replace(rest_options(settings), deployment="airflow", links=links))
