"""Pause, resume, stop, restart (KIP-745), run now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from connect_core.errors import IllegalWorkerStateError, NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.status import ConnectorStatus, PartStatus, State, get_status
from connect_core.herder.switches import ensure_no_switch
from connect_core.interval.values import ConnectorState, TargetState
from connect_core.store import audit, connectors, dag_states, restarts
from connect_core.store.audit import Act

__all__ = ["RestartRequest", "pause", "restart", "restart_task", "resume", "run_now", "stop"]

Part = TypeVar("Part", bound=PartStatus)


@dataclass(frozen=True, slots=True)
class RestartRequest:
    """Which parts to restart. Connect: ``RestartRequest``."""

    only_failed: bool = False
    include_tasks: bool = False

    @property
    def is_answered(self) -> bool:
        """Whether the response contains the status: only if a parameter was set."""
        return self.only_failed or self.include_tasks


def pause(herder: Herder, name: str) -> None:
    """End the running interval at its next commit point, and start no other.

    Raise NotFoundError, IllegalWorkerStateError during a switch.
    """
    _aim(herder, name, TargetState.PAUSED)
    herder.ask("pause", name)


def resume(herder: Herder, name: str) -> None:
    """Start a paused or stopped connector again. Raise NotFoundError, IllegalWorkerStateError during a switch."""
    _aim(herder, name, TargetState.STARTED)
    herder.ask("resume", name)


def stop(herder: Herder, name: str) -> None:
    """End the running interval at its next commit point and give up the tasks (KIP-875). Raise NotFoundError."""
    _aim(herder, name, TargetState.STOPPED)
    herder.ask("pause", name)


def _aim(herder: Herder, name: str, target: TargetState) -> None:
    with herder.database.write() as connection:
        if connectors.find(connection, name) is None:
            raise NotFoundError(f"Unknown connector {name}")
        if target is not TargetState.STOPPED:
            # A stop disturbs no switch, and may be what an operator needs.
            ensure_no_switch(herder, connection, name, "paused" if target is TargetState.PAUSED else "resumed")
        # Before the connector's own row, in the order in which the mirror takes its locks.
        dag_states.set_paused(connection, name, target is not TargetState.STARTED)
        before = connectors.set_target_state(connection, name, target)
        if before is not target:
            states = {"target_state": before.value}, {"target_state": target.value}
            audit.record(connection, Act(herder.actor, target.value.lower(), name, *states))


def restart(herder: Herder, name: str, request: RestartRequest) -> ConnectorStatus | None:
    """Restart the connector, and its tasks if wanted → the status with the restarting parts, or ``None`` by default.

    Raise NotFoundError.
    """
    state = _known(herder, name)
    planned = _restart_plan(get_status(herder, name), request)
    parts = [restarts.CONNECTOR] if planned.connector.state is State.RESTARTING else []
    parts += [task.task for task in planned.tasks if task.state is State.RESTARTING]
    if parts:
        _begin(herder, state, parts)
    return planned if request.is_answered else None


def restart_task(herder: Herder, name: str, task: int) -> None:
    """Restart one task. Raise NotFoundError; IllegalWorkerStateError for one that is no longer assigned.

    Connect keeps the configurations of tasks given up by a stop or a new assignment: no worker has
    them, to which its REST API responds with 409 (``DistributedHerder.restartTask``).
    """
    state = _known(herder, name)
    if all(part.task != task for part in get_status(herder, name).tasks):
        if 0 <= task < state.tasks_ever:
            is_stopped = state.target_state is not TargetState.STARTED
            remedy = (
                "the connector has no tasks now. Resume it first." if is_stopped else "the connector has fewer tasks."
            )
            raise IllegalWorkerStateError(f"Task {name}-{task} cannot be restarted: {remedy}")
        raise NotFoundError(f"Unknown task: {name}-{task}")
    _begin(herder, state, [task])


def run_now(herder: Herder, name: str) -> str:
    """Start a run regardless of the schedule → its id, or empty if not known yet. Raise NotFoundError."""
    _known(herder, name)
    with herder.database.write() as connection:
        audit.record(connection, Act(herder.actor, "run", name))
    return herder.scheduler.trigger(name)


def _known(herder: Herder, name: str) -> ConnectorState:
    with herder.database.read() as connection:
        state = connectors.find(connection, name)
    if state is None:
        raise NotFoundError(f"Unknown connector: {name}")
    return state


def _restart_plan(status: ConnectorStatus, request: RestartRequest) -> ConnectorStatus:
    """Return the status with the parts to restart as RESTARTING. Connect: ``RestartPlan``."""

    def restarted(part: Part) -> Part:
        wanted = not request.only_failed or part.state is State.FAILED
        return replace(part, state=State.RESTARTING) if wanted else part

    tasks = tuple(restarted(task) for task in status.tasks) if request.include_tasks else status.tasks
    return replace(status, connector=restarted(status.connector), tasks=tasks)


def _begin(herder: Herder, state: ConnectorState, parts: Sequence[int]) -> None:
    name = state.name
    tasks = [part for part in parts if part != restarts.CONNECTOR]
    # While it is paused or stopped, or held by failed tasks that are not restarted, no run would begin the
    # restart: the failures are cleared at once.
    is_run = state.target_state is TargetState.STARTED and (bool(tasks) or not _is_held_by_tasks(herder, name))
    with herder.database.write() as connection:
        connectors.lock(connection, name)
        audit.record(connection, Act(herder.actor, "restart", name, after={"parts": list(parts)}))
        if is_run:
            restarts.ask(connection, name, parts)
        else:
            connectors.clear_failure(connection, name)
            restarts.clear_outcomes(connection, name, tasks)
    if is_run:
        herder.ask("retry", name)


def _is_held_by_tasks(herder: Herder, name: str) -> bool:
    return any(task.state is State.FAILED for task in get_status(herder, name).tasks)
