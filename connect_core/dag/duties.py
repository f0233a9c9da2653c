"""What the watcher does for all connectors: mirror Airflow's flags, carry out requests."""

from __future__ import annotations

import logging
import socket
import uuid
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.naming import dag_id_of
from connect_core.dag.scheduler import AirflowScheduler
from connect_core.errors import ConnectError, NotFoundError, RetriableError
from connect_core.interval.values import TargetState
from connect_core.store import audit, connectors, dag_states, requests
from connect_core.store.database import Connection, Database
from connect_core.store.requests import Claimed

__all__ = ["AirflowDuties"]

_LOG = logging.getLogger(__name__)
_CLAIM_SECONDS = 120.0
_MOST_TRIES = 20
_SLOW = ("deploy", "remove")
_BACKFILL = "backfill"
_MOST_FAILURES = 8
_FIRST_HOLD_SECONDS = 10.0
_LONGEST_HOLD_SECONDS = 600.0


class AirflowDuties:
    """The duties of the watcher, with Airflow's API and the metadata database."""

    def __init__(self, database: Database, api: AirflowApi, scheduler: AirflowScheduler) -> None:
        self._database = database
        self._api = api
        self._scheduler = scheduler
        self._paused: frozenset[str] = frozenset()
        self._holder = f"{socket.gethostname()} {uuid.uuid4().hex[:8]}"

    def observe(self) -> Collection[str]:
        """Mirror the pause flags and return the DAG ids with runs that wait for another run's end."""
        paused = self._api.paused_dags()
        with self._database.write() as connection:
            _mirror(connection, paused, self._paused - paused)
        self._paused = paused
        queued = {run.dag_id for run in self._api.queued_runs() if run.run_type != _BACKFILL}
        return queued - paused

    def hold_seconds(self, connector: str) -> float:
        """Return how long to leave a connector alone: the more runs in a row failed, the longer."""
        ended = [
            run
            for run in self._api.latest_runs(dag_id_of(connector), _MOST_FAILURES)
            if run.seconds_since_end is not None
        ]
        failures = list(takewhile(lambda run: run.state == "failed", ended))
        if not failures:
            return 0.0
        pause = min(_LONGEST_HOLD_SECONDS, _FIRST_HOLD_SECONDS * 2.0 ** (len(failures) - 1))
        return max(0.0, pause - (failures[0].seconds_since_end or 0.0))

    def serve(self) -> None:
        """Carry out what was asked for; acts that wait for the DAG file to be parsed wait together."""
        with self._database.write() as connection:
            claimed = requests.claim(connection, self._holder, _CLAIM_SECONDS)
        slow = [request for request in claimed if request.asked.kind in _SLOW]
        with ThreadPoolExecutor(len(slow) or 1, thread_name_prefix="connect-request") as threads:
            waiting = [threads.submit(self._serve, request) for request in slow]
            for request in claimed:
                if request not in slow:
                    self._serve(request)
        for one in waiting:
            one.result()

    def _serve(self, request: Claimed) -> None:
        self._settle(request, self._carry_out(request))

    def _acts(self) -> Mapping[str, Callable[[str], object]]:
        scheduler = self._scheduler
        return {
            "deploy": self._if_stored(scheduler.deploy),
            "remove": scheduler.remove,
            "pause": self._follow,
            "resume": self._follow,
            "trigger": self._if_stored(scheduler.trigger),
            "retry": self._if_stored(scheduler.retry),
        }

    def _if_stored(self, act: Callable[[str], object]) -> Callable[[str], object]:
        return lambda name: act(name) if self._state(name) is not None else None

    def _follow(self, name: str) -> None:
        """Let the DAG be paused as the connector is by now: requests may be late and out of order."""
        state = self._state(name)
        if state is not None:
            act = self._scheduler.resume if state is TargetState.STARTED else self._scheduler.pause
            act(name)

    def _state(self, name: str) -> TargetState | None:
        with self._database.read() as connection:
            found = connectors.find(connection, name)
        return None if found is None else found.target_state

    def _carry_out(self, request: Claimed) -> ConnectError | None:
        act, connector = self._acts().get(request.asked.kind), request.asked.connector
        if act is None or connector is None:
            return ConnectError(f"Nobody knows how to {request.asked.kind}: this request is of another version")
        try:
            act(connector)
        except ConnectError as error:
            return error
        return None

    def _settle(self, request: Claimed, error: ConnectError | None) -> None:
        # A DAG that is not there yet comes with the next parse of its file.
        may_come = isinstance(error, RetriableError | NotFoundError) and request.tries < _MOST_TRIES
        if error is not None:
            _LOG.warning("Request %d (%s %s): %s", request.id, request.asked.kind, request.asked.connector, error)
        with self._database.write() as connection:
            if error is not None and may_come:
                requests.give_back(connection, request.id, str(error), min(30.0, float(request.tries)))
            else:
                requests.finish(connection, request.id, None if error is None else str(error))


def _mirror(connection: Connection, paused: Collection[str], unpaused: Collection[str]) -> None:
    dags = [
        dag_states.Dag(name, dag_id_of(name), dag_id_of(name) in paused) for name in connectors.list_names(connection)
    ]
    dag_states.store(connection, dags)
    for dag in dags:
        if dag.dag_id in unpaused:
            _resume(connection, dag.connector)


def _resume(connection: Connection, name: str) -> None:
    """Let a DAG that somebody unpaused in Airflow be a connector that is no longer paused."""
    if connectors.get(connection, name).target_state is TargetState.PAUSED:
        connectors.set_target_state(connection, name, TargetState.STARTED)
        audit.record(connection, audit.Act("airflow", "resume", name))
