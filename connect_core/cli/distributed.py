"""``connect distributed``: check what a deployment depends on, then serve its REST API."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from connect_core.cli.airflow_pool import warn_of_airflow_pool
from connect_core.cli.deployment import open_deployment, settings_of
from connect_core.cli.rest import asks_for_login, log_to_console, serve_deployment
from connect_core.cli.time_outs import slow_time_outs
from connect_core.dag.wiring import airflow_api
from connect_core.effects.group_owner import ensure_group_owned
from connect_core.errors import ConfigError
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.rest import check_listeners
from connect_core.store import Database, migrate

__all__ = ["distributed"]

_LOG = logging.getLogger(__name__)


def distributed(
    worker: Annotated[Path, typer.Argument(help="The worker's settings, as Kafka's connect-distributed.properties.")],
) -> None:
    """Check database, Kafka and Airflow, prepare them, then serve the REST API until Ctrl-C or SIGTERM.

    Connectors run as Airflow DAGs; this process only manages them.
    """
    log_to_console()
    settings = settings_of(worker)
    check_listeners(settings.listeners, has_login=asks_for_login(settings))
    migrate(settings.database_url)
    _LOG.info("The metadata database is ready")
    create_internal_topics(settings)
    ensure_group_owned(settings, Database(settings.database_url))
    _LOG.info(
        "Kafka at %s has the topics %s and %s",
        settings.bootstrap_servers,
        settings.offsets_topic.name,
        settings.status_topic.name,
    )
    deployment = open_deployment(settings, is_service=True)
    if deployment.reconciler is None:
        raise ConfigError(
            'Missing required configuration "airflow.url": set it, airflow.user and airflow.password.file, '
            "or use `connect standalone`, which needs no Airflow"
        )
    deployment.reconciler.observe()
    _LOG.info("Airflow answers at %s", settings.values["airflow.url"])
    for slow in slow_time_outs(airflow_api(settings))[0]:
        _LOG.warning("Recovery is slow: %s", slow)
    warn_of_airflow_pool(airflow_api(settings), str(settings.values["airflow.url"]))
    serve_deployment(deployment)
