"""The last known state of the connectors' DAGs in Airflow, so that computing a status needs no call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from connect_core.store.clock import now
from connect_core.store.models import Connector, DagState

__all__ = ["Dag", "forget", "list_dags", "set_paused", "store"]


@dataclass(frozen=True, slots=True)
class Dag:
    """The state of a connector's DAG in Airflow."""

    connector: str
    dag_id: str
    is_paused: bool
    run_id: str | None = None
    run_state: str | None = None
    next_run_at: datetime | None = None


def store(connection: Connection, dags: Iterable[Dag]) -> None:
    """Store the state of these DAGs; those of unknown connectors are left out.

    Only changes are written: this is called every second or so, for all connectors.
    """
    given = {dag.connector: dag for dag in dags}
    known = set(connection.scalars(select(Connector.name)))
    stored = {dag.connector: dag for dag in list_dags(connection)}
    for name in given.keys() & known:
        dag = given[name]
        if name not in stored:
            connection.execute(insert(DagState).values(connector=name, **_values(dag)))
        elif stored[name] != dag:
            connection.execute(update(DagState).where(DagState.connector == name).values(**_values(dag)))


def _values(dag: Dag) -> dict[str, Any]:
    return {
        "dag_id": dag.dag_id,
        "is_paused": dag.is_paused,
        "run_id": dag.run_id,
        "run_state": dag.run_state,
        "next_run_at": dag.next_run_at,
        "seen_at": now(),
    }


def list_dags(connection: Connection) -> list[Dag]:
    """Return the state of all DAGs."""
    rows = connection.execute(select(DagState.__table__).order_by(DagState.connector))
    return [Dag(row.connector, row.dag_id, row.is_paused, row.run_id, row.run_state, row.next_run_at) for row in rows]


def set_paused(connection: Connection, connector: str, is_paused: bool) -> None:
    """Set the pause flag in advance, as the mirror will show it once the scheduler has carried out the request."""
    connection.execute(update(DagState).where(DagState.connector == connector).values(is_paused=is_paused))


def forget(connection: Connection, connector: str) -> None:
    """Delete the state of a DAG that no longer exists."""
    connection.execute(delete(DagState).where(DagState.connector == connector))
