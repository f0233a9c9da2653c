"""Whether an idle connector should be run, judged from the metadata database."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from connect_core.interval.values import IntervalState, TargetState, TaskOutcome
from connect_core.store.statuses import ConnectorFacts

__all__ = ["Readiness", "lacks_assignment", "readiness"]


class Readiness(Enum):
    """What a watcher does with a waiting connector."""

    DUE = "due"
    """Run it: no plan yet, a new configuration, an unfinished interval, a restart requested or due."""
    HELD = "held"
    """Leave it alone: paused, stopped, failed, or waiting for its next automatic restart."""
    QUIET = "quiet"
    """Check its systems for data."""


def readiness(facts: ConnectorFacts, now: datetime) -> Readiness:
    """Return whether a waiting connector should be run."""
    if facts.target_state is not TargetState.STARTED:
        return Readiness.DUE if _is_interrupted(facts) and not _has_failed_connector(facts) else Readiness.HELD
    if facts.is_dag_paused:
        return Readiness.HELD
    if facts.restarting or facts.task_count is None or facts.planned_version != facts.config_version:
        return Readiness.HELD if _has_failed_connector(facts) and not facts.restarting else Readiness.DUE
    if _has_failed_connector(facts):
        return Readiness.HELD
    interval = facts.interval
    if interval is None or interval.state.is_final:
        return Readiness.QUIET
    if interval.state is not IntervalState.FAILED:
        return Readiness.DUE
    is_fatal = any(task.outcome is TaskOutcome.FAILED and not task.is_retriable for task in interval.tasks)
    if is_fatal and interval.config_version == facts.config_version:
        return Readiness.HELD
    return Readiness.HELD if interval.retry_at is not None and interval.retry_at > now else Readiness.DUE


def lacks_assignment(facts: ConnectorFacts) -> bool:
    """Return whether all a due connector needs is a task assignment: it is new, or reconfigured."""
    if facts.target_state is not TargetState.STARTED or facts.is_dag_paused:
        return False
    if facts.restarting or facts.failure is not None:
        return False
    is_open = facts.interval is not None and not facts.interval.state.is_final
    return not is_open and (facts.task_count is None or facts.planned_version != facts.config_version)


def _is_interrupted(facts: ConnectorFacts) -> bool:
    """Whether a crash left an interval unfinished: a run ends it, even if no other is to follow."""
    interval = facts.interval
    return interval is not None and not interval.state.is_final and interval.state is not IntervalState.FAILED


def _has_failed_connector(facts: ConnectorFacts) -> bool:
    failure = facts.failure
    return failure is not None and not failure.is_retriable and failure.config_version == facts.config_version
