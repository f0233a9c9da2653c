"""``connect rest``: Connect's REST API, driving Airflow."""

from __future__ import annotations

import logging
import os
from dataclasses import replace

from connect_core.cli.deployment import Deployment, open_deployment, settings_of
from connect_core.cli.options import rest_options
from connect_core.dag.naming import dag_id_of
from connect_core.effects.group_owner import ensure_group_owned
from connect_core.errors import ConfigError, ConnectError
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.rest import Gateway, Links, LoopbackAuthorizer, check_listeners, create_app, serve
from connect_core.settings import WorkerSettings
from connect_core.store import migrate

__all__ = ["asks_for_login", "log_to_console", "rest", "serve_deployment"]

_LOG = logging.getLogger(__name__)


def rest() -> None:
    """Serve Connect's REST API until Ctrl-C or SIGTERM.

    Settings come from the file named by CONNECT_WORKER_CONFIG and from CONNECT_… variables;
    the database is migrated and the internal topics are created if need be.
    """
    log_to_console()
    settings = settings_of(None)
    check_listeners(settings.listeners, has_login=asks_for_login(settings))
    migrate(settings.database_url)
    create_internal_topics(settings)
    deployment = open_deployment(settings, is_service=True)
    ensure_group_owned(settings, deployment.database)
    serve_deployment(deployment)


def log_to_console() -> None:
    """Set up logging in the format of Connect's workers."""
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)")
    for noisy in ("alembic", "httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def serve_deployment(deployment: Deployment) -> None:
    """Serve the REST API until the process is asked to stop."""
    settings = deployment.settings
    first, *others = settings.listeners
    if others:
        raise ConnectError(f"listeners names {len(others) + 1} addresses: the REST API listens on one, {first}")
    links = Links(dag_id_of, settings.values["airflow.url"], os.environ.get("CONNECT_SPARK_UI"))
    options = replace(rest_options(settings), links=links)
    app = (
        # The API inside Airflow stores requests; this process still carries them out.
        Gateway(settings.values["airflow.url"])
        if asks_for_login(settings)
        else create_app(deployment.herder, LoopbackAuthorizer(), options)
    )
    _LOG.info("REST API of deployment %s on %s", settings.deployment, first)
    serve(app, first)
    deployment.database.close()


def asks_for_login(settings: WorkerSettings) -> bool:
    """Return whether callers log in as Airflow users. Raise ConfigError if so and airflow.url is not set."""
    if settings.values["rest.authentication"] != "airflow":
        return False
    if not settings.values["airflow.url"]:
        raise ConfigError("rest.authentication", "airflow", "logins are checked by Airflow: set airflow.url")
    return True
