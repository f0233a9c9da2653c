"""Planning one interval: recover the unfinished one, else fix the bounds of the next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from connect_core.interval.effects import LoadConnector, RecordDeal, TaskConfigs
from connect_core.interval.values import ConnectorState, ConnectorType, Plan, TargetState, TaskDeal
from connect_core.plan.deal import check_tasks_max
from connect_core.plan.run import Run, Steps
from connect_core.plan.settle import settle
from connect_core.plan.sink import plan_sink
from connect_core.plan.source import plan_source

__all__ = ["Planned", "Verdict", "plan_interval"]


class Verdict(Enum):
    """What a plan found to do."""

    RUN = "RUN"
    IDLE = "IDLE"
    STOP = "STOP"
    """The connector is paused or stopped; what a crash had left unfinished is ended."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The run after planning, what to do, and the plan when there is work."""

    run: Run
    verdict: Verdict
    plan: Plan | None = None


def plan_interval(run: Run) -> Steps[Planned]:
    """Plan the next interval; an unfinished one always comes first.

    Raises StaleEpochError when the connector was taken over, DataLossError,
    and what the connector's own ``task_configs`` raises.
    """
    state: ConnectorState = yield LoadConnector(run.connector)
    run = run.refreshed(state)
    if state.target_state is not TargetState.STARTED:
        return Planned((yield from settle(run)), Verdict.STOP)
    deal: TaskDeal = yield TaskConfigs(run.connector, run.settings.tasks_max)
    check_tasks_max(run.connector, deal, run.settings)
    yield RecordDeal(run.connector, run.holder, deal.configs, state.config_version)
    steps = plan_source if state.type is ConnectorType.SOURCE else plan_sink
    run, plan = yield from steps(run, deal)
    return Planned(run, Verdict.RUN if plan else Verdict.IDLE, plan)
