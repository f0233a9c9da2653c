"""The DAG file: one DAG per stored connector, and connect_housekeeping."""

from __future__ import annotations

from airflow.sdk import get_parsing_context

from connect_core.dag.factory import connector_dags
from connect_core.dag.wiring import current_connectors, worker_settings

_settings = worker_settings()
globals().update(
    connector_dags(
        current_connectors(_settings), str(_settings.values["spark.mode"]), only=get_parsing_context().dag_id
    )
)
