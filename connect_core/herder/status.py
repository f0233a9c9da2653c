"""A connector's status, computed from facts, with the JSON of Connect's REST API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.stalls import Deployment, Stall, stall_of
from connect_core.interval.values import ConnectorType, TargetState, TaskOutcome
from connect_core.store import reports, statuses
from connect_core.store.restarts import CONNECTOR
from connect_core.store.statuses import ConnectorFacts, TaskFacts

__all__ = [
    "ConnectorStateInfo",
    "ConnectorStatus",
    "PartState",
    "PartStatus",
    "State",
    "TaskState",
    "TaskStatus",
    "compute_status",
    "deployment_of",
    "get_status",
    "get_task_status",
    "list_statuses",
]


class State(StrEnum):
    """The states of connectors and tasks. Connect: ``AbstractStatus.State``."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


class PartState(TypedDict):
    """The state of a connector itself, as REST shows it."""

    state: State
    worker_id: str
    version: NotRequired[str]
    trace: NotRequired[str]


class TaskState(PartState):
    """The state of one task, as REST shows it."""

    id: int


class ConnectorStateInfo(TypedDict):
    """The state of a connector and of its tasks, as REST shows it."""

    name: str
    connector: PartState
    tasks: list[TaskState]
    type: Literal["source", "sink"]


@dataclass(frozen=True, slots=True)
class PartStatus:
    """The state of the connector itself."""

    state: State
    worker_id: str
    version: str | None = None
    trace: str | None = None

    def to_json(self) -> PartState:
        """Return REST's form: unknown fields are left out."""
        shown = PartState(state=self.state, worker_id=self.worker_id)
        if self.version is not None:
            shown["version"] = self.version
        if self.trace is not None:
            shown["trace"] = self.trace
        return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatus(PartStatus):
    """The state of one task."""

    task: int

    def to_json(self) -> TaskState:
        """Return REST's form."""
        return {"id": self.task, **PartStatus.to_json(self)}


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """The status of a connector and its tasks; ``stall``, which Connect does not have: why waiting work is not done."""

    name: str
    connector: PartStatus
    tasks: tuple[TaskStatus, ...]
    type: Literal["source", "sink"]
    stall: Stall | None = None

    @property
    def is_stalled(self) -> bool:
        """Whether work waits without progress."""
        return self.stall is not None

    def to_json(self) -> ConnectorStateInfo:
        """Return REST's form, which does not contain the stall."""
        return {
            "name": self.name,
            "connector": self.connector.to_json(),
            "tasks": [task.to_json() for task in self.tasks],
            "type": self.type,
        }


def get_status(herder: Herder, name: str) -> ConnectorStatus:
    """Return a connector's status. Raise NotFoundError."""
    found = list_statuses(herder, [name])
    if name not in found:
        raise NotFoundError(f"No status found for connector {name}")
    return found[name]


def get_task_status(herder: Herder, name: str, task: int) -> TaskStatus:
    """Return a task's status. Raise NotFoundError."""
    found = list_statuses(herder, [name]).get(name)
    for part in found.tasks if found else ():
        if part.task == task:
            return part
    raise NotFoundError(f"No status found for task {name}-{task}")


def list_statuses(herder: Herder, names: Collection[str] | None = None) -> dict[str, ConnectorStatus]:
    """Return the statuses of all connectors, or of the named ones that exist, by name: four statements."""
    with herder.database.read() as connection:
        facts = statuses.load_facts(connection, names)
        deployment = deployment_of(herder, reports.load(connection))
    worker_id = herder.worker_id
    return {one.name: compute_status(one, worker_id, deployment) for one in facts}


def deployment_of(herder: Herder, parts: Mapping[str, reports.PartReport]) -> Deployment:
    """Return the input for finding stalls: the reports of the shared parts, and the worker's settings."""
    settings = herder.worker
    return Deployment(parts, settings.values["stalled.after.ms"] / 1000, is_airflow=not settings.is_standalone)


def compute_status(facts: ConnectorFacts, worker_id: str, deployment: Deployment | None = None) -> ConnectorStatus:
    """Compute the status from facts; ``worker_id`` is shown if no driver has run.

    Without ``deployment`` stalls, which Connect's own status does not contain, are not looked for.
    """
    attempts = {task.task: task for task in facts.interval.tasks} if facts.interval else {}
    connector = _connector_state(facts)
    is_traced = connector in (State.FAILED, State.RESTARTING) and facts.failure is not None
    worker = facts.worker or worker_id
    tasks = tuple(_task_status(facts, number, attempts.get(number), worker) for number in range(_task_count(facts)))
    has_failed = State.FAILED in (connector, *(task.state for task in tasks))
    return ConnectorStatus(
        name=facts.name,
        connector=PartStatus(
            connector, worker, facts.plugin_version, facts.failure.trace if is_traced and facts.failure else None
        ),
        tasks=tasks,
        type="source" if facts.type is ConnectorType.SOURCE else "sink",
        stall=None if has_failed or deployment is None else stall_of(facts, deployment),
    )


def _task_count(facts: ConnectorFacts) -> int:
    return 0 if facts.target_state is TargetState.STOPPED else facts.task_count or 0


def _connector_state(facts: ConnectorFacts) -> State:
    is_restarting = CONNECTOR in facts.restarting
    failure = facts.failure
    has_failed = failure is not None and failure.config_version == facts.config_version
    # A new connector shows at once why it cannot begin; one that has worked is tried again first.
    if failure is not None and failure.is_retried and facts.task_count is not None:
        has_failed = False
    if facts.target_state is TargetState.STOPPED:
        return State.STOPPED
    if has_failed and not is_restarting:
        return State.FAILED
    if facts.task_count is None and facts.target_state is TargetState.STARTED:
        return State.RESTARTING if is_restarting else State.UNASSIGNED
    if _is_paused(facts):
        return State.PAUSED
    return State.RESTARTING if is_restarting else State.RUNNING


def _is_paused(facts: ConnectorFacts) -> bool:
    return facts.target_state is TargetState.PAUSED or facts.is_dag_paused


def _task_status(facts: ConnectorFacts, number: int, attempt: TaskFacts | None, worker_id: str) -> TaskStatus:
    has_failed = attempt is not None and _has_failed(facts, attempt)
    # A new configuration restarts tasks that failed under the old one.
    is_restarting = number in facts.restarting or (has_failed and _is_outdated(facts)) or _is_reassigned(facts)
    state = State.RUNNING
    if has_failed and not is_restarting:
        state = State.FAILED
    elif _is_paused(facts):
        state = State.PAUSED
    elif is_restarting:
        state = State.RESTARTING
    shown = attempt is not None and has_failed and state is not State.PAUSED
    trace = _trace(facts, attempt) if shown and attempt else None
    worker = attempt.worker if attempt is not None and attempt.worker else worker_id
    return TaskStatus(state, worker, facts.plugin_version, trace, task=number)


def _has_failed(facts: ConnectorFacts, attempt: TaskFacts) -> bool:
    """Whether the last attempt failed and no try is left, even while other tasks of the interval run again."""
    interval = facts.interval
    if interval is None or interval.state.is_final or attempt.outcome is not TaskOutcome.FAILED:
        return False
    return not (attempt.is_retriable and interval.tries_left > 0)


def _is_outdated(facts: ConnectorFacts) -> bool:
    return facts.interval is not None and facts.interval.config_version != facts.config_version


def _is_reassigned(facts: ConnectorFacts) -> bool:
    """Whether no interval is running and the next plan will assign the tasks by a newer configuration."""
    interval = facts.interval
    is_idle = interval is None or interval.state.is_final
    return is_idle and facts.planned_version != facts.config_version


def _trace(facts: ConnectorFacts, attempt: TaskFacts) -> str | None:
    retry_at = facts.interval.retry_at if facts.interval else None
    if retry_at is None or not attempt.is_retriable or not attempt.trace:
        return attempt.trace
    return f"{attempt.trace.rstrip()}\nThe next automatic restart is at {retry_at.isoformat(timespec='seconds')}.\n"
