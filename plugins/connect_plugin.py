"""connect-core as a plugin of Airflow: Connect's REST API under /connect."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from connect_core.dag.mounting import LazyApp


class ConnectPlugin(AirflowPlugin):
    """Mounts the REST API in Airflow's API server."""

    name = "connect"
    fastapi_apps = [  # noqa: RUF012
        {"app": LazyApp("connect_core.cli.mounted:make_app"), "url_prefix": "/connect", "name": "Kafka Connect"}
    ]
