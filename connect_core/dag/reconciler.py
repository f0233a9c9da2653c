"""Keeps Airflow and the metadata database consistent, for all connectors: pause flags, operators' requests."""

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
    """Mirrors changes made in Airflow, and carries out operators' requests there.

    ``observer``: the process that observes Airflow, ``watcher`` or ``rest``.
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
        """Request a parse: Airflow drops the watch of a paused DAG's asset until the file is parsed again."""
        file = self._api.file_of(HOUSEKEEPING_DAG_ID)
        if file is not None:
            self._api.reparse(file)

    def holds(self, names: Collection[str]) -> Mapping[str, float]:
        """Return how long to hold connectors back: the longer, the more runs in a row failed."""
        with self._contact.noted():
            return holds.holds(self._api, names)

    def services(self) -> Sequence[Callable[[], None]]:
        """Return functions that carry out requests, to be called repeatedly; none waits for another."""
        return self._serving.services()

    def serve(self) -> None:
        """Carry out the pending requests, once: new DAGs are there before their pause flags are set."""
        acts, deploys, *others = self.services()
        for service in (deploys, acts, *others):
            service()


def _mirror(connection: Connection, paused: Collection[str], unpaused: Collection[str]) -> None:
    ids = {name: dag_id_of(name) for name in connectors.list_names(connection)}
    dags = [dag_states.Dag(name, dag_id, dag_id in paused) for name, dag_id in ids.items()]
    dag_states.store(connection, dags)
    for dag in dags:
        if dag.dag_id in unpaused:
            _resume(connection, dag.connector)


def _resume(connection: Connection, name: str) -> None:
    """Resume a paused connector whose DAG was unpaused in Airflow."""
    if connectors.get(connection, name).target_state is TargetState.PAUSED:
        connectors.set_target_state(connection, name, TargetState.STARTED)
        audit.record(connection, audit.Act("airflow", "resume", name))
