"""Keeps Airflow in agreement with the metadata database, for all connectors: pause flags, requests of operators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from connect_core.dag import holds
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.contact import Contact
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.dag.scheduler import AirflowScheduler
from connect_core.dag.serving import Serving
from connect_core.interval.values import TargetState
from connect_core.store import audit, connectors, dag_states
from connect_core.store.database import Connection, Database

__all__ = ["AirflowReconciler"]


class AirflowReconciler:
    """Mirrors what people do in Airflow, and carries out there what operators ask of connectors.

    ``observer``: which process looks at Airflow, ``watcher`` or ``rest``.
    """

    def __init__(self, database: Database, api: AirflowApi, scheduler: AirflowScheduler, observer: str) -> None:
        self._database = database
        self._api = api
        self._contact = Contact(database, api, observer)
        self._serving = Serving(database, scheduler, self._contact)
        self._paused: frozenset[str] = frozenset()

    def observe(self) -> None:
        """Mirror the pause flags."""
        with self._contact.noted():
            paused = self._api.paused_dags()
            with self._database.write() as connection:
                _mirror(connection, paused, self._paused - paused)
            if self._paused - paused:
                self._watch_again()
            self._paused = paused

    def _watch_again(self) -> None:
        """Airflow drops the watch of a paused DAG's asset, and takes it up when the file is parsed next: now."""
        file = self._api.file_of(HOUSEKEEPING_DAG_ID)
        if file is not None:
            self._api.reparse(file)

    def holds(self, names: Collection[str]) -> Mapping[str, float]:
        """Return how long to leave connectors alone: the more runs in a row failed, the longer."""
        with self._contact.noted():
            return holds.holds(self._api, names)

    def services(self) -> Sequence[Callable[[], None]]:
        """Return what carries out requests, to be called again and again; none waits for another."""
        return self._serving.services()

    def serve(self) -> None:
        """Carry out what is asked for, once."""
        for service in self.services():
            service()


def _mirror(connection: Connection, paused: Collection[str], unpaused: Collection[str]) -> None:
    ids = {name: dag_id_of(name) for name in connectors.list_names(connection)}
    dags = [dag_states.Dag(name, dag_id, dag_id in paused) for name, dag_id in ids.items()]
    dag_states.store(connection, dags)
    for dag in dags:
        if dag.dag_id in unpaused:
            _resume(connection, dag.connector)


def _resume(connection: Connection, name: str) -> None:
    """Let a DAG that somebody unpaused in Airflow be a connector that is no longer paused."""
    if connectors.get(connection, name).target_state is TargetState.PAUSED:
        connectors.set_target_state(connection, name, TargetState.STARTED)
        audit.record(connection, audit.Act("airflow", "resume", name))
