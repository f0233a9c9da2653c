"""A run by ``spark-submit``, on whatever cluster the environment's Airflow connection names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from airflow.sdk import DAG

from connect_core.dag.submit import ConnectorSubmitOperator
from connect_core.interval.runs import RunOutcome, RunRequest

__all__ = ["run"]


def run(connector: str, turn: int) -> RunOutcome:
    """Run the connector as Airflow's task does."""
    with DAG("dag", schedule=None):
        operator = ConnectorSubmitOperator(task_id="run", connector=connector)
    context: Any = {"ti": SimpleNamespace(xcom_push=lambda **pushed: None)}
    return operator.drive(RunRequest(connector, f"manual__{turn}", asked=True), context)
