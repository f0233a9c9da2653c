"""Planning one interval: recover the unfinished one, or fix the bounds of the next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from connect_core.errors import ConnectError, RetriableError
from connect_core.interval.effects import LoadConnector, LoadUnfinished, RecordAssignment, TaskConfigs
from connect_core.interval.values import ConnectorType, Plan, TargetState, TaskAssignment
from connect_core.plan.assignment import check_tasks_max
from connect_core.plan.backfill import plan_backfill
from connect_core.plan.run import Run, Steps
from connect_core.plan.settle import settle
from connect_core.plan.sink import plan_sink
from connect_core.plan.source import plan_source

__all__ = ["Planned", "Verdict", "assign_tasks", "plan_interval"]


class Verdict(Enum):
    """The result of a plan."""

    RUN = "RUN"
    IDLE = "IDLE"
    STOP = "STOP"
    """The connector is paused or stopped; what a crash left unfinished is ended."""
    REFUSED = "REFUSED"
    """A backfill that is impossible, or not possible now; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The run after planning, the verdict, and the plan when there is work."""

    run: Run
    verdict: Verdict
    plan: Plan | None = None
    refusal: ConnectError | None = None
    """Why a backfill is refused; it is not a failure of the connector itself."""


def plan_interval(run: Run) -> Steps[Planned]:
    """Plan the next interval; an unfinished one always comes first.

    Raises StaleEpochError when the connector was taken over, DataLossError,
    and what the connector's own ``task_configs`` raises.
    """
    state = yield from LoadConnector(run.connector)
    run = run.refreshed(state)
    if run.since is not None:
        return (yield from _plan_backfill(run))
    if state.target_state is not TargetState.STARTED:
        return Planned((yield from settle(run)), Verdict.STOP)
    assignment = yield from _assign(run)
    steps = plan_source if state.type is ConnectorType.SOURCE else plan_sink
    run, plan = yield from steps(run, assignment)
    return Planned(run, Verdict.RUN if plan else Verdict.IDLE, plan)


def _plan_backfill(run: Run) -> Steps[Planned]:
    if run.state.target_state is not TargetState.STARTED:
        state = run.state.target_state.value
        return _refused(run, RetriableError(f"Connector {run.connector} is {state}: no backfill now"))
    if run.state.type is ConnectorType.SOURCE:
        return _refused(run, ConnectError("A source has no past time to export again: backfill is for sinks of files"))
    assignment = yield from _assign(run)
    run, found = yield from plan_backfill(run, assignment)
    if isinstance(found, ConnectError):
        return _refused(run, found)
    return Planned(run, Verdict.RUN if found else Verdict.IDLE, found)


def _refused(run: Run, refusal: ConnectError) -> Planned:
    return Planned(run, Verdict.REFUSED, refusal=refusal)


def assign_tasks(run: Run) -> Steps[bool]:
    """Assign the tasks of a connector with nothing unfinished, without a plan → whether they were assigned.

    They are not if a plan must fix where reading begins: a sink with ``auto.offset.reset=latest`` would skip what
    arrives before it. Raises StaleEpochError when the connector was taken over, and what its ``task_configs`` raises.
    """
    state = yield from LoadConnector(run.connector)
    run = run.refreshed(state)
    if state.type is ConnectorType.SINK and run.settings.offset_reset != "earliest":
        return False
    if state.target_state is not TargetState.STARTED or (yield from LoadUnfinished(run.connector)) is not None:
        return False
    yield from _assign(run)
    return True


def _assign(run: Run) -> Steps[TaskAssignment]:
    assignment = yield from TaskConfigs(run.connector, run.settings.tasks_max)
    check_tasks_max(run.connector, assignment, run.settings)
    yield from RecordAssignment(run.connector, run.holder, assignment.configs, run.state.config_version)
    return assignment
