"""What the herder may ask of a scheduler, carried out by Airflow."""

from __future__ import annotations

import time
from collections.abc import Callable

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.errors import NotFoundError, RetriableError
from connect_core.store.database import Database
from connect_core.store.requests import Asked, add

__all__ = ["AirflowScheduler", "RequestingScheduler"]

_POLL_SECONDS = 0.2
_FAILED = ("failed",)


class AirflowScheduler:
    """Acts on Airflow at once, with the service identity. For ``connect rest``, the CLI and the watcher."""

    def __init__(self, api: AirflowApi, wait_seconds: float = 15.0) -> None:
        self._api = api
        self._wait_seconds = wait_seconds

    def deploy(self, connector: str) -> None:
        """Let the stored connector have its DAG, as its schedule is now.

        Raises RetriableError when the DAG does not appear in time.
        """
        dag_id = dag_id_of(connector)
        before = self._api.parsed_at(dag_id)
        self._reparse()
        self._await(lambda: self._api.parsed_at(dag_id) not in (None, before), f"the DAG of connector {connector}")

    def remove(self, connector: str) -> None:
        """Delete the DAG, and its history, of a connector that is no longer stored."""
        dag_id = dag_id_of(connector)
        if self._api.parsed_at(dag_id) is None:
            return
        before = self._api.parsed_at(HOUSEKEEPING_DAG_ID)
        self._reparse()
        self._await(lambda: self._api.parsed_at(HOUSEKEEPING_DAG_ID) != before, "the DAG file to be parsed")
        self._await(lambda: self._api.delete_dag(dag_id), f"the run of connector {connector} to end")

    def pause(self, connector: str) -> None:
        """Pause the DAG. Raises NotFoundError before it is deployed."""
        self._api.set_paused(dag_id_of(connector), True)

    def resume(self, connector: str) -> None:
        """Unpause the DAG. Raises NotFoundError before it is deployed."""
        self._api.set_paused(dag_id_of(connector), False)

    def trigger(self, connector: str) -> str:
        """Start a manual run and return its id. Raises NotFoundError before the connector is deployed."""
        return self._api.trigger(dag_id_of(connector))

    def retry(self, connector: str) -> None:
        """Try the unfinished interval again: clear the newest run if it failed, else trigger one."""
        dag_id = dag_id_of(connector)
        newest = self._api.latest_runs(dag_id)
        if newest and newest[0].state in _FAILED:
            self._api.clear(dag_id, newest[0].run_id)
        else:
            self._api.trigger(dag_id)

    def _reparse(self) -> None:
        try:
            self._api.reparse(HOUSEKEEPING_DAG_ID)
        except NotFoundError:
            # Airflow has not met the file yet: its first look at it will find everything.
            return

    def _await(self, is_done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + self._wait_seconds
        while not is_done():
            if time.monotonic() > deadline:
                raise RetriableError(
                    f"Waited {self._wait_seconds:.0f} s in vain for {what}: "
                    "see Airflow's import errors, and whether its DAG processor runs"
                )
            time.sleep(_POLL_SECONDS)


class RequestingScheduler:
    """Writes each act down for the watcher or ``connect rest`` to carry out.

    For code inside Airflow's API server, which must not call itself.
    """

    def __init__(self, database: Database, actor: str = "") -> None:
        self._database = database
        self._actor = actor

    def deploy(self, connector: str) -> None:
        """Ask for the connector's DAG."""
        self._ask("deploy", connector)

    def remove(self, connector: str) -> None:
        """Ask for the DAG to be deleted."""
        self._ask("remove", connector)

    def pause(self, connector: str) -> None:
        """Ask for the DAG to be paused."""
        self._ask("pause", connector)

    def resume(self, connector: str) -> None:
        """Ask for the DAG to be unpaused."""
        self._ask("resume", connector)

    def trigger(self, connector: str) -> str:
        """Ask for a manual run; its id is not known yet."""
        self._ask("trigger", connector)
        return ""

    def retry(self, connector: str) -> None:
        """Ask for another try of the unfinished interval."""
        self._ask("retry", connector)

    def _ask(self, kind: str, connector: str) -> None:
        with self._database.write() as connection:
            add(connection, Asked(kind, connector, actor=self._actor))
