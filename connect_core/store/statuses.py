"""The facts from which statuses are computed: all connectors in three statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, or_, select

from connect_core.interval.values import ConnectorType, IntervalState, TargetState, TaskOutcome
from connect_core.store.clock import age
from connect_core.store.models import Connector, DagState, Interval, IntervalTask, Restart, Waiting

__all__ = ["ConnectorFacts", "FailureFacts", "IntervalFacts", "TaskFacts", "WaitingFacts", "load_facts"]

_NAMES = "names"


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task's last attempt; ``outcome`` is ``None`` while it runs. ``is_started``: Spark has reported on it."""

    task: int
    outcome: TaskOutcome | None
    trace: str | None
    is_retriable: bool
    worker: str
    is_started: bool = True


@dataclass(frozen=True, slots=True)
class IntervalFacts:
    """The connector's last interval. ``heartbeat_age`` in seconds by the database's clock."""

    sequence: int
    state: IntervalState
    config_version: int
    heartbeat_age: float | None
    retry_at: datetime | None
    tries_left: int
    tasks: tuple[TaskFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """Why the connector itself failed, and under which configuration; ``is_retried``: a try follows by itself."""

    trace: str
    is_retriable: bool
    config_version: int
    is_retried: bool = False


@dataclass(frozen=True, slots=True)
class WaitingFacts:
    """Waiting work, without progress for ``age`` seconds, and the task of its run in Airflow, as last seen.

    ``work`` is a kind of ``herder.waiting.Work``; ``cleared`` counts how often the run was given up as lost.
    """

    work: str
    since: datetime
    age: float
    records: int | None = None
    run_id: str | None = None
    run_state: str | None = None
    run_since: datetime | None = None
    run_age: float | None = None
    run_pool: str | None = None
    cleared: int = 0


@dataclass(frozen=True, slots=True)
class ConnectorFacts:
    """Everything that a connector's status depends on.

    ``task_count`` is ``None`` until the first plan since it was created or
    stopped; ``restarting`` contains task numbers, and -1 for the connector. ``lease_age``: seconds
    since a run's last lease ended or was released, negative while it is valid.
    """

    name: str
    type: ConnectorType
    config: Mapping[str, str]
    config_version: int
    plugin_version: str | None
    target_state: TargetState
    is_dag_paused: bool
    planned_version: int | None
    task_count: int | None
    worker: str | None
    failure: FailureFacts | None = None
    interval: IntervalFacts | None = None
    restarting: frozenset[int] = field(default_factory=frozenset)
    committed_at: datetime | None = None
    next_run_at: datetime | None = None
    waiting: WaitingFacts | None = None
    lease_age: float | None = None


def load_facts(connection: Connection, names: Collection[str] | None = None) -> list[ConnectorFacts]:
    """Return the facts of all connectors, or of the named ones that exist, by name."""
    named = {} if names is None else {_NAMES: list(names)}
    of_connectors, of_tasks, of_restarts = _queries(names is None)
    rows = connection.execute(of_connectors, named).all()
    tasks = _by_name(connection.execute(of_tasks, named).all())
    restarts = _by_name(connection.execute(of_restarts, named).all())
    return [
        _facts(row, tasks.get(row.name, ()), frozenset(one.task for one in restarts.get(row.name, ()))) for row in rows
    ]


@cache
def _queries(of_all: bool) -> tuple[Any, Any, Any]:
    """Return the three statements, which take longer to put together than to run."""
    return _of(_connectors(), of_all), _of(_tasks(), of_all), _of(_restarts(), of_all)


def _connectors() -> Any:
    # The last interval counts only if it belongs to the present incarnation.
    last = and_(
        Interval.connector == Connector.name,
        Interval.sequence == Connector.sequence,
        Interval.incarnation == Connector.incarnation,
    )
    return (
        select(
            Connector.name,
            Connector.type,
            Connector.config,
            Connector.config_version,
            Connector.plugin_version,
            Connector.target_state,
            Connector.planned_version,
            Connector.task_count,
            Connector.worker,
            Connector.failure,
            Connector.committed_at,
            DagState.is_paused,
            DagState.next_run_at,
            Interval.sequence,
            Interval.state,
            Interval.config_version.label("interval_version"),
            Interval.retry_at,
            Interval.tries_left,
            age(Interval.heartbeat_at).label("heartbeat_age"),
            age(Connector.lease_until).label("lease_age"),
            Waiting.work,
            Waiting.since,
            age(Waiting.since).label("waiting_age"),
            Waiting.records,
            Waiting.run_id,
            Waiting.run_state,
            Waiting.run_since,
            age(Waiting.run_since).label("run_age"),
            Waiting.run_pool,
            Waiting.cleared,
        )
        .join(DagState, DagState.connector == Connector.name, isouter=True)
        .join(Waiting, Waiting.connector == Connector.name, isouter=True)
        .join(Interval, last, isouter=True)
        .order_by(Connector.name)
    )


def _tasks() -> Any:
    last = and_(IntervalTask.connector == Connector.name, IntervalTask.sequence == Connector.sequence)
    return select(
        Connector.name,
        IntervalTask.task,
        IntervalTask.outcome,
        IntervalTask.trace,
        IntervalTask.is_retriable,
        IntervalTask.worker,
        or_(IntervalTask.started_at.is_not(None), IntervalTask.progress.is_not(None)).label("is_started"),
    ).join(IntervalTask, last)


def _restarts() -> Any:
    return select(Connector.name, Restart.task).join(Restart, Restart.connector == Connector.name)


def _of(query: Any, of_all: bool) -> Any:
    living = query.where(Connector.deleted_at.is_(None))
    return living if of_all else living.where(Connector.name.in_(bindparam(_NAMES, expanding=True)))


def _by_name(rows: Any) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        grouped[row.name].append(row)
    return grouped


def _facts(row: Any, tasks: Collection[Any], restarting: frozenset[int]) -> ConnectorFacts:
    return ConnectorFacts(
        name=row.name,
        type=row.type,
        config=row.config,
        config_version=row.config_version,
        plugin_version=row.plugin_version,
        target_state=row.target_state,
        is_dag_paused=bool(row.is_paused),
        planned_version=row.planned_version,
        task_count=row.task_count,
        worker=row.worker,
        failure=None if row.failure is None else _failure(row.failure),
        interval=None if row.sequence is None else _interval(row, tasks),
        restarting=restarting,
        committed_at=row.committed_at,
        next_run_at=row.next_run_at,
        waiting=None if row.work is None else _waiting(row),
        lease_age=row.lease_age,
    )


def _waiting(row: Any) -> WaitingFacts:
    return WaitingFacts(
        row.work,
        row.since,
        row.waiting_age,
        row.records,
        row.run_id,
        row.run_state,
        row.run_since,
        row.run_age,
        row.run_pool,
        row.cleared,
    )


def _failure(value: Mapping[str, Any]) -> FailureFacts:
    # A release before this one has written no "is_retried".
    is_retried = bool(value.get("is_retried", False))
    return FailureFacts(value["trace"], value["is_retriable"], value["config_version"], is_retried)


def _interval(row: Any, tasks: Collection[Any]) -> IntervalFacts:
    return IntervalFacts(
        sequence=row.sequence,
        state=row.state,
        config_version=row.interval_version,
        heartbeat_age=row.heartbeat_age,
        retry_at=row.retry_at,
        tries_left=row.tries_left,
        tasks=tuple(
            TaskFacts(one.task, one.outcome, one.trace, one.is_retriable, one.worker, bool(one.is_started))
            for one in sorted(tasks, key=lambda task: task.task)
        ),
    )
