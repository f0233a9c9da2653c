"""The entry in Airflow's list of providers."""

from __future__ import annotations

from typing import Any

__all__ = ["get_provider_info"]


def get_provider_info() -> dict[str, Any]:
    """Return the description for the entry point ``apache_airflow_provider``."""
    return {
        "package-name": "connect-core",
        "name": "Kafka Connect",
        "description": "Kafka Connect's connectors as DAGs of Spark jobs, with its REST API and a page in the menu.",
    }
