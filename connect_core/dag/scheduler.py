"""The scheduler of the herder, implemented by Airflow; many connectors in few calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import MappingProxyType

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import REQUESTS_AT_ONCE
from connect_core.dag.naming import HOUSEKEEPING_DAG_ID, dag_id_of
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.store.database import Database
from connect_core.store.requests import Asked, add

__all__ = ["SERVICE_SECONDS", "AirflowScheduler", "Outcomes", "RequestingScheduler"]

Outcomes = Mapping[str, ConnectError | None]
"""The outcome of an act, by connector: ``None``, or the error that prevented it."""

SERVICE_SECONDS = 90.0
"""How long a service waits for a parse, which takes a minute with a thousand connectors on a busy machine."""

_POLL_SECONDS = 0.25
_FAILED = ("failed",)


class AirflowScheduler:
    """Calls Airflow immediately, with the service identity. For ``connect rest``, the CLI and the watcher."""

    def __init__(self, api: AirflowApi, wait_seconds: float = 30.0) -> None:
        self._api = api
        self._wait_seconds = wait_seconds

    def deploy(self, connector: str) -> None:
        """Make Airflow load the DAG of the stored connector, with its present schedule.

        Raises RetriableError when the DAG does not appear in time.
        """
        _raise(self.deploy_all([connector])[connector])

    def remove(self, connector: str) -> None:
        """Delete the DAG, and its history, of a connector that is no longer stored.

        Raises RetriableError while one of its runs has not ended.
        """
        deadline = time.monotonic() + self._wait_seconds
        while True:
            error = self.remove_all([connector], lambda name: False)[connector]
            if not isinstance(error, RetriableError) or time.monotonic() > deadline:
                _raise(error)
                return
            time.sleep(_POLL_SECONDS)

    def pause(self, connector: str) -> None:
        """Pause the DAG. Raises NotFoundError before it is deployed."""
        _raise(self.pause_all([connector], True)[connector])

    def resume(self, connector: str) -> None:
        """Unpause the DAG. Raises NotFoundError before it is deployed."""
        _raise(self.pause_all([connector], False)[connector])

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

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Start the runs of past times. Raises NotFoundError before it is deployed, and as ``AirflowApi.backfill``."""
        self._api.backfill(dag_id_of(connector), first, last)

    def deploy_all(self, connectors: Collection[str]) -> Outcomes:
        """Make Airflow load the DAGs of stored connectors: one parse of the file they share, then one list.

        Raises RetriableError where Airflow does not answer.
        """
        missing = {dag_id_of(name): name for name in connectors}
        # A parse that began before the last connector was stored may end first: then a second one finds them all.
        # No second request if the parse takes too long, as it stays requested, or if all DAGs are there.
        for _ in range(2):
            is_parsed = self._parse()
            for dag_id in self._api.known_dags(missing):
                del missing[dag_id]
            if not missing or not is_parsed:
                break
        errors = {name: RetriableError(_not_parsed(f"the DAG of connector {name}")) for name in missing.values()}
        return {name: errors.get(name) for name in connectors}

    def remove_all(self, connectors: Collection[str], is_stored: Callable[[str], bool]) -> Outcomes:
        """Delete the DAGs of connectors that are not stored; one whose task is running is left for later.

        ``is_stored`` is checked right before each deletion: a connector created again keeps its DAG.
        Raises RetriableError where Airflow does not answer or does not parse the file.
        """
        dag_ids = {dag_id_of(name): name for name in connectors}
        known = self._api.known_dags(dag_ids, also_stale=True)
        # A DAG that was still in the file at its last parse would come back.
        if known and not self._parse():
            raise RetriableError(_not_parsed("the DAG file to be parsed"))
        errors = self.each(
            [dag_ids[dag_id] for dag_id in sorted(known)],
            lambda name: None if is_stored(name) else self._delete(name),
        )
        return {name: errors.get(name) for name in connectors}

    def pause_all(self, connectors: Collection[str], is_paused: bool) -> Outcomes:
        """Pause or unpause DAGs."""
        dag_ids = {name: dag_id_of(name) for name in connectors}
        known = self._api.set_paused(list(dag_ids.values()), is_paused)
        return {
            name: None if dag_id in known else NotFoundError(f"Airflow has no DAG of connector {name} yet")
            for name, dag_id in dag_ids.items()
        }

    def each(self, connectors: Collection[str], act: Callable[[str], object]) -> Outcomes:
        """Carry out an act that takes one call per connector; once Airflow is silent the rest is left for later."""
        if not connectors:
            return {}
        began = time.monotonic()

        def carry_out(name: str) -> ConnectError | None:
            silence = self._api.silence
            if silence is not None and time.monotonic() > began + _POLL_SECONDS:
                return RetriableError(f"Airflow does not respond ({silence.reason})")
            try:
                act(name)
            except ConnectError as error:
                return error
            return None

        with ThreadPoolExecutor(min(REQUESTS_AT_ONCE // 2, len(connectors)), "connect-act") as threads:
            return dict(zip(connectors, threads.map(carry_out, connectors), strict=True))

    def _delete(self, connector: str) -> None:
        if not self._api.delete_dag(dag_id_of(connector)):
            raise RetriableError(f"Waiting for the run of connector {connector} to end")

    def _parse(self) -> bool:
        """Have the DAG file of all connectors parsed → whether that was done in time."""
        deadline = time.monotonic() + self._wait_seconds
        before = self._api.file_of(HOUSEKEEPING_DAG_ID)
        # If Airflow has not found the file yet, its first parse includes everything.
        if before is not None:
            self._api.reparse(before)
        while True:
            found = self._api.file_of(HOUSEKEEPING_DAG_ID)
            if found is not None and (before is None or found.parsed_at != before.parsed_at):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)


def _not_parsed(what: str) -> str:
    return f"Timed out waiting for {what}: see Airflow's import errors, and check that its DAG processor is running"


def _raise(error: ConnectError | None) -> None:
    if error is not None:
        raise error


class RequestingScheduler:
    """Stores each request for the watcher or ``connect rest`` to carry out.

    For code inside Airflow's API server, which must not call itself.
    """

    def __init__(self, database: Database, actor: str = "") -> None:
        self._database = database
        self._actor = actor

    def deploy(self, connector: str) -> None:
        """Request the connector's DAG."""
        self._ask("deploy", connector)

    def remove(self, connector: str) -> None:
        """Request that the DAG is deleted."""
        self._ask("remove", connector)

    def pause(self, connector: str) -> None:
        """Request that the DAG is paused."""
        self._ask("pause", connector)

    def resume(self, connector: str) -> None:
        """Request that the DAG is unpaused."""
        self._ask("resume", connector)

    def trigger(self, connector: str) -> str:
        """Request a manual run; its id is not known yet."""
        self._ask("trigger", connector)
        return ""

    def retry(self, connector: str) -> None:
        """Request another try of the unfinished interval."""
        self._ask("retry", connector)

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Request the runs of past times; whether Airflow refuses them is stored with the request."""
        self._ask("backfill", connector, {"first": first.isoformat(), "last": last.isoformat()})

    def _ask(self, kind: str, connector: str, detail: Mapping[str, str] = MappingProxyType({})) -> None:
        with self._database.write() as connection:
            add(connection, Asked(kind, connector, detail, self._actor))
