"""connect-core as an Airflow plugin: Connect's REST API under /connect, its page in the menu and beside each DAG.

Airflow finds it by the entry point ``airflow.plugins``; nothing has to be copied to its plugins folder.
"""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from connect_core.dag.mounting import LazyApp

__all__ = ["ConnectPlugin"]

_PAGE = "connect/ui/"  # relative: Airflow may be served under a prefix
_ICON = f"{_PAGE}icon.svg"


class ConnectPlugin(AirflowPlugin):
    """Mounts the REST API in Airflow's API server, and shows its page in iframes."""

    name = "connect"
    fastapi_apps = [  # noqa: RUF012
        {"app": LazyApp("connect_core.cli.mounted:make_app"), "url_prefix": "/connect", "name": "Kafka Connect"}
    ]
    external_views = [  # noqa: RUF012
        {"name": "Connect", "href": _PAGE, "url_route": "connectors", "icon": _ICON, "nav_top_level": True},
        {"name": "Connector", "href": f"{_PAGE}#/dag/{{DAG_ID}}", "url_route": "connector", "destination": "dag"},
    ]
