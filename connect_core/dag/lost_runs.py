"""Runs that Airflow believes queued and nobody will ever start: found by facts alone, and let go again."""

from __future__ import annotations

from datetime import UTC, datetime

from connect_core.dag.airflow_tasks import OpenTask
from connect_core.interval.values import IntervalState
from connect_core.store.statuses import ConnectorFacts

__all__ = ["is_lost", "seconds_until_lost"]

_MOST_DOUBLINGS = 6


def is_lost(facts: ConnectorFacts, task: OpenTask, lost_after: float, now: datetime | None = None) -> bool:
    """Return whether the task of a connector's run was handed to an executor that has lost it.

    An executor's worker that dies with a task in hand leaves it ``queued`` for ever where the executor, like
    LocalExecutor, cannot revoke it. It is lost when it has been queued beyond ``lost_after`` seconds (twice as long
    each time it was lost before, so that a slow cluster gets the time it needs) and no process shows itself: no
    lease, no heartbeat. Were there one after all, the epoch keeps what it does apart from what comes after.
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
    """Return the seconds after which a queued task is given up that was given up so often before."""
    return lost_after * 2.0 ** min(cleared, _MOST_DOUBLINGS)
