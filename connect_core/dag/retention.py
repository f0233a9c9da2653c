"""Limits the growth of our histories and of Airflow's runs, for the housekeeping DAG."""

from __future__ import annotations

import logging

from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, VERIFICATION_DAG_ID, dag_id_of
from connect_core.dag.past_runs import PastRuns
from connect_core.dag.wiring import airflow_api, open_database, worker_settings
from connect_core.errors import ConnectError
from connect_core.store import connectors
from connect_core.store.retention import Retention, sweep

__all__ = ["forget_runs", "sweep_histories"]

_LOG = logging.getLogger(__name__)


def sweep_histories() -> dict[str, int]:
    """Delete rows beyond ``history.retention.ms`` and ``history.retention.count`` → how many, by history."""
    database = open_database()
    try:
        return sweep(database, Retention.of(worker_settings()))
    finally:
        database.close()


def forget_runs() -> int:
    """Delete Airflow's past runs of our DAGs by the same two settings → how many; errors are logged."""
    settings, database = worker_settings(), open_database()
    try:
        with database.read() as connection:
            dag_ids = [HOUSEKEEPING_DAG_ID, VERIFICATION_DAG_ID, *map(dag_id_of, connectors.list_names(connection))]
        api = airflow_api(settings)
        try:
            return PastRuns(api, dag_ids, Retention.of(settings)).forget()
        finally:
            api.close()
    except ConnectError as error:
        _LOG.warning("Past runs stay in Airflow until the next sweep: %s", error)
        return 0
    finally:
        database.close()
