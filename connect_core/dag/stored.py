"""The DAGs of the stored connectors, for the process that parses the DAG file."""

from __future__ import annotations

from airflow.sdk import DAG, get_parsing_context

from connect_core.dag.factory import connector_dags
from connect_core.dag.wiring import current_connectors, worker_settings

__all__ = ["stored_dags"]


def stored_dags() -> dict[str, DAG]:
    """Return a DAG per stored connector, connect_housekeeping and, if it has a schedule, connect_verification.

    Only the one a task needs, where a task asks. Raises ConnectError.
    """
    settings = worker_settings()
    only = get_parsing_context().dag_id
    values = settings.values
    return connector_dags(
        current_connectors(settings, only), str(values["spark.mode"]), only, values["verification.schedule"]
    )
