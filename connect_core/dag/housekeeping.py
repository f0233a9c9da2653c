"""The DAG that always exists: it keeps the watcher running, and sweeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import DAG, BaseOperator
from airflow.triggers.base import StartTriggerArgs

from connect_core.dag.naming import HOUSEKEEPING_DAG_ID
from connect_core.dag.retention import forget_runs, sweep_histories
from connect_core.dag.trigger import WatcherTrigger
from connect_core.dag.wiring import open_database
from connect_core.store import run_reports
from connect_core.store.requests import forget_done

if TYPE_CHECKING:
    from airflow.sdk import Context

__all__ = ["SweepOperator", "WatchOperator", "housekeeping_dag"]

_KEPT = timedelta(days=7)
_DOCUMENTATION = """### Housekeeping of connect-core

Its task `watch` waits in the triggerer: it looks for data of all idle connectors, mirrors which DAGs are paused, and
performs what was requested through the REST API. `sweep` removes old records of performed requests,
and, beyond `history.retention.ms` and `history.retention.count`, history and Airflow's own past runs of these DAGs.
Keep it enabled: without it, idle connectors start late and the REST API cannot change schedules.
"""


class WatchOperator(BaseOperator):
    """Keep the watcher alive in the triggerer; needs no worker."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        trigger, arguments = WatcherTrigger().serialize()
        self.start_trigger_args = StartTriggerArgs(trigger_cls=trigger, trigger_kwargs=arguments, next_method="execute")
        self.start_from_trigger = True

    def execute(self, context: Context) -> None:
        """Defer again if ever started in a worker."""
        self.defer(trigger=WatcherTrigger(), method_name="execute")


class SweepOperator(BaseOperator):
    """Remove requests, histories and runs that are no longer kept."""

    def execute(self, context: Context) -> dict[str, int]:
        """Delete requests carried out long ago, and histories and runs beyond their retention → how many of each."""
        database, before = open_database(), datetime.now(UTC) - _KEPT
        with database.write() as connection:
            requests, reports = forget_done(connection, before), run_reports.forget(connection, before)
        return {"requests": requests, "reports": reports, **sweep_histories(), "runs": forget_runs()}


def housekeeping_dag(start_date: datetime) -> DAG:
    """Return the DAG ``connect_housekeeping``: one run at all times, a new one every hour."""
    with DAG(
        dag_id=HOUSEKEEPING_DAG_ID,
        description="Watches and sweeps for all connectors",
        doc_md=_DOCUMENTATION,
        schedule="@continuous",
        start_date=start_date,
        catchup=False,
        max_active_runs=1,
        is_paused_upon_creation=False,
    ) as dag:
        WatchOperator(task_id="watch")
        SweepOperator(task_id="sweep")
    return dag
