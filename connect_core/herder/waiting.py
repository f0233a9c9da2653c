"""The waiting work of a connector, judged from the metadata database and the ends of topics."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from connect_core.herder.readiness import Readiness, readiness
from connect_core.interval.values import ConnectorType, IntervalState, TargetState
from connect_core.store.statuses import ConnectorFacts

__all__ = ["CONTINUOUS", "Work", "is_continuous", "waits_for_more", "work_of"]

CONTINUOUS = "@continuous"
_LONG_LINGER_MILLIS = 30_000


class Work(Enum):
    """A kind of waiting work."""

    RECORDS = "records"
    """A sink's position is before the last stable offset."""
    PLAN = "plan"
    """It was created, or resumed after a stop, and has no plan yet."""
    CONFIG = "config"
    """It has a new configuration."""
    RESTART = "restart"
    """A restart was requested."""
    INTERVAL = "interval"
    """An interval is not finished."""
    RETRY = "retry"
    """An interval failed and waits for its next try."""
    RUN = "run"
    """A run of it has begun, or is to begin, and has started no interval yet."""


def is_continuous(facts: ConnectorFacts) -> bool:
    """Return whether the connector runs whenever there is data, not at set times."""
    return (facts.config.get("schedule") or CONTINUOUS) == CONTINUOUS


def waits_for_more(facts: ConnectorFacts) -> bool:
    """Return whether a run of the connector waits for more data for so long that it could look like a stall."""
    linger = str(facts.config.get("run.linger.ms") or "0").strip()
    return not linger.isdecimal() or int(linger) > _LONG_LINGER_MILLIS


def work_of(facts: ConnectorFacts, now: datetime, lag: int | None, *, is_run_due: bool = False) -> Work | None:
    """Return the kind of waiting work, or ``None``.

    ``lag``: records a sink is behind, if known. ``is_run_due``: Airflow has a task of it that has not ended.
    A connector that is paused, stopped or failed has none; one that runs at set times only work begun or requested.
    """
    if facts.target_state is not TargetState.STARTED or facts.is_dag_paused:
        return None
    ready = readiness(facts, now)
    if ready is Readiness.DUE:
        return _due(facts)
    if ready is Readiness.HELD:
        return Work.RETRY if _is_retried(facts, now) else None
    if facts.type is ConnectorType.SINK and is_continuous(facts) and lag:
        return Work.RECORDS
    return Work.RUN if is_run_due else None


def _due(facts: ConnectorFacts) -> Work | None:
    interval = facts.interval
    if facts.restarting:
        return Work.RESTART
    if interval is not None and not interval.state.is_final and interval.state is not IntervalState.FAILED:
        return Work.INTERVAL
    if not is_continuous(facts):
        return None
    if facts.task_count is None:
        return Work.PLAN
    return Work.CONFIG if facts.planned_version != facts.config_version else Work.INTERVAL


def _is_retried(facts: ConnectorFacts, now: datetime) -> bool:
    interval = facts.interval
    if interval is None or interval.state is not IntervalState.FAILED or interval.retry_at is None:
        return False
    return interval.retry_at > now and interval.tries_left > 0
