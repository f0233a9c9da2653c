"""Detection of runs that Airflow holds for queued, but that no executor will ever start."""

from __future__ import annotations

from datetime import UTC, datetime

from connect_core.dag.airflow_tasks import OpenTask
from connect_core.interval.values import IntervalState
from connect_core.store.statuses import ConnectorFacts

__all__ = ["is_lost", "seconds_until_lost"]

_MOST_DOUBLINGS = 6


def is_lost(facts: ConnectorFacts, task: OpenTask, lost_after: float, now: datetime | None = None) -> bool:
    """Return whether the task of a connector's run was handed to an executor that has lost it.

    An executor's worker that dies holding a task leaves it ``queued`` for ever where the executor, like
    LocalExecutor, cannot revoke it. It is lost when it has been queued for more than ``lost_after`` seconds (twice as
    long each time it was lost before, to allow for a slow cluster) and there is no sign of a process: no lease, no
    heartbeat. If there is one after all, it is fenced off by the epoch.
    """
    cleared = facts.waiting.cleared if facts.waiting else 0
    if task.state != "queued" or task.since is None:
        return False
    if facts.lease_age is not None and facts.lease_age < 0:
        return False
    interval = facts.interval
    is_running = interval is not None and not interval.state.is_final and interval.state is not IntervalState.FAILED
    age = interval.heartbeat_age if is_running and interval is not None else None
    if age is not None and age < lost_after:
        return False
    return ((now or datetime.now(UTC)) - task.since).total_seconds() > seconds_until_lost(lost_after, cleared)


def seconds_until_lost(lost_after: float, cleared: int) -> float:
    """Return after how many seconds a queued task counts as lost that was cleared so often before."""
    return lost_after * 2.0 ** min(cleared, _MOST_DOUBLINGS)
