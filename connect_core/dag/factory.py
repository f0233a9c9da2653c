"""Builds one DAG per stored connector, from the few fields that shape it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import DAG, Asset, AssetAlias, AssetWatcher

from connect_core.dag.connector_task import ConnectorTask
from connect_core.dag.housekeeping import housekeeping_dag
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, TAG, TASK_ID, VERIFICATION_DAG_ID, dag_id_of
from connect_core.dag.operators import ConnectorRunOperator
from connect_core.dag.schedule import CONTINUOUS, Schedule, parse_asset, parse_schedule
from connect_core.dag.submit import ConnectorSubmitOperator
from connect_core.dag.trigger import WorkTrigger
from connect_core.dag.verification import verification_dag
from connect_core.store.schedules import ScheduledConnector

__all__ = ["connector_dags"]

_LOG = logging.getLogger(__name__)
_START_DATE = datetime(2024, 1, 1, tzinfo=UTC)
_TAG_LENGTH = 100
_DISPLAY_LENGTH = 2000
_MOST_RUNS = 3
"""One run that is ending, one requested by data and one by hand; their tasks run one by one.

With a limit of one, a parse of the file that ends after a run did blocks the next run until the file is parsed again:
Airflow 3.3.2 stores the state from the beginning of the parse, when the DAG had all the runs it may have.
"""
_OPERATORS: dict[str, type[ConnectorTask]] = {"submit": ConnectorSubmitOperator}


def connector_dags(
    connectors: Iterable[ScheduledConnector],
    spark_mode: str = "connect",
    only: str | None = None,
    verification: str | None = None,
) -> dict[str, DAG]:
    """Return the DAGs by id, sorted; with ``only``, at most the one with that id.

    ``connect_housekeeping`` is always included: its file token is used to
    request another parse. ``verification`` is the schedule of
    ``connect_verification``, which does not exist without one.
    """
    wanted = {dag_id_of(connector.name): connector for connector in connectors}
    operator = _OPERATORS.get(spark_mode, ConnectorRunOperator)
    dags = {
        dag_id: _connector_dag(dag_id, connector, operator)
        for dag_id, connector in sorted(wanted.items())
        if only in (None, dag_id)
    }
    if only in (None, HOUSEKEEPING_DAG_ID):
        dags[HOUSEKEEPING_DAG_ID] = housekeeping_dag(_START_DATE)
    if verification is not None and only in (None, VERIFICATION_DAG_ID):
        dags[VERIFICATION_DAG_ID] = verification_dag(verification, _START_DATE)
    return dags


def _connector_dag(dag_id: str, connector: ScheduledConnector, operator: type[ConnectorTask]) -> DAG:
    schedule, outlets, remark = _readable(connector)
    settings: dict[str, Any] = {"pool": connector.pool} if connector.pool else {}
    with DAG(
        dag_id=dag_id,
        dag_display_name=connector.name[:_DISPLAY_LENGTH],
        description=f"Kafka Connect {connector.type.value} connector",
        doc_md=_documentation(connector, remark),
        tags=sorted({TAG, connector.type.value, connector.name[:_TAG_LENGTH]}),
        schedule=_work(dag_id, connector.name) if schedule == CONTINUOUS else schedule,
        start_date=_start_date(connector),
        catchup=connector.catchup_since is not None,
        max_active_runs=_MOST_RUNS if schedule == CONTINUOUS else 1,
        is_paused_upon_creation=False,
    ) as dag:
        operator(
            task_id=TASK_ID,
            connector=connector.name,
            continuous=schedule == CONTINUOUS,
            retries=connector.retries,
            outlets=[AssetAlias(dag_id), *outlets],
            max_active_tis_per_dag=1,
            **settings,
        )
    return dag


def _start_date(connector: ScheduledConnector) -> datetime:
    return _START_DATE if connector.catchup_since is None else datetime.fromisoformat(connector.catchup_since)


def _work(dag_id: str, connector: str) -> Asset:
    """Return the asset that schedules a ``@continuous`` DAG: an idle connector has no run, only this watcher."""
    return Asset(f"work-{dag_id}", group="connect-core", watchers=[AssetWatcher("work", WorkTrigger(connector))])


def _readable(connector: ScheduledConnector) -> tuple[Schedule, list[Asset], str]:
    """Return schedule, outlets and a remark; a schedule that cannot be read must not break the other DAGs."""
    try:
        return parse_schedule(connector.schedule), [parse_asset(uri) for uri in sorted(set(connector.outlets))], ""
    except Exception as error:
        _LOG.warning("Connector %s runs only when triggered: %s", connector.name, error)
        return None, [], f"\n\nIts schedule cannot be read, so it runs only when triggered. {_escaped(str(error))}"


def _documentation(connector: ScheduledConnector, remark: str) -> str:
    return (
        f"### {_escaped(connector.name)}\n\n"
        f"A Kafka Connect {connector.type.value} connector, run in bounded intervals; each is one Spark job, linked "
        "from the task. Configuration, offsets, history and errors are kept by connect-core: see its REST API.\n\n"
        "Pausing this DAG pauses the connector: an interval that has begun ends first. Clearing a run tries the "
        "unfinished interval again; what is committed is never repeated. A triggered run moves what is there now; a "
        "backfill exports a past time again, where the connector can replace its files."
        f"{remark}\n"
    )


def _escaped(text: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
