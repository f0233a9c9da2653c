"""A connector's intervals, past and present, for display."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime

from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.herder.offsets import ConnectorOffset, as_connector_offsets
from connect_core.interval.values import Counts, IntervalState, SourceBounds, TaskOutcome
from connect_core.store import attempts, connectors, interval_history
from connect_core.store.attempts import TaskAttempt
from connect_core.store.interval_history import PastInterval

__all__ = [
    "Interval",
    "IntervalPage",
    "IntervalTask",
    "IntervalWithTasks",
    "SourceRange",
    "TopicRange",
    "get_interval",
    "list_page",
]


@dataclass(frozen=True, slots=True)
class TopicRange:
    """Offsets ``[start, end)`` of one topic partition."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceRange:
    """Where a source's interval starts, and where it ends if the source declares a bound."""

    start: list[ConnectorOffset]
    upper: list[ConnectorOffset] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One interval: its range, counts, duration and attempts, and where it ran.

    ``ranges`` are set for a sink, ``source`` for a source. ``seconds`` is the time from start to end, or until now.
    ``job_tag`` is the tag of the Spark job. ``run_url`` links to the Airflow run and ``spark_url`` to Spark's list of
    jobs, if the API has them.
    """

    sequence: int
    state: IntervalState
    reason: str | None
    config_version: int
    incarnation: int
    epoch: int
    ranges: list[TopicRange]
    source: SourceRange | None
    bound_time: datetime | None
    counts: Counts
    task_count: int
    attempts: int
    planned_at: datetime
    started_at: datetime
    ended_at: datetime | None
    seconds: float
    heartbeat_at: datetime | None
    run_id: str
    run_url: str | None = None
    job_tag: str
    spark_url: str | None = None
    worker_id: str


@dataclass(frozen=True, slots=True)
class IntervalPage:
    """Intervals, the newest first; pass ``next`` as ``before`` to get the next page; it is null at the end."""

    intervals: list[Interval]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTask:
    """One task of an interval: its last attempt. ``outcome`` is null while it runs."""

    task: int
    attempts: int
    outcome: TaskOutcome | None
    counts: Counts
    error_kind: str | None
    error_message: str | None
    trace: str | None
    is_retriable: bool
    worker_id: str
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalWithTasks(Interval):
    """An interval with its tasks."""

    tasks: list[IntervalTask]


def list_page(herder: Herder, name: str, limit: int = 50, before: int | None = None) -> IntervalPage:
    """Return a page of a connector's intervals. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = interval_history.list_intervals(connection, name, limit + 1, before)
    shown = found[:limit]
    return IntervalPage([_interval(one) for one in shown], shown[-1].row.key.sequence if len(found) > limit else None)


def get_interval(herder: Herder, name: str, sequence: int) -> IntervalWithTasks:
    """Return one interval with its tasks. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = interval_history.find(connection, name, sequence)
        tasks = attempts.list_attempts(connection, name, sequence)
    if found is None:
        raise NotFoundError(f"Connector {name} has no interval {sequence} in its history")
    interval = _interval(found)
    shared = {one.name: getattr(interval, one.name) for one in fields(interval)}
    return IntervalWithTasks(**shared, tasks=[_task(one) for one in tasks])


def _interval(one: PastInterval) -> Interval:
    row = one.row
    return Interval(
        sequence=row.key.sequence,
        state=row.state,
        reason=one.reason,
        config_version=row.config_version,
        incarnation=row.key.incarnation,
        epoch=row.key.epoch,
        ranges=[TopicRange(part.topic, part.partition, part.start, part.end) for part in row.ranges],
        source=_source(row.source),
        bound_time=row.bound_time,
        counts=one.counts,
        task_count=row.tasks,
        attempts=row.attempts,
        planned_at=one.planned_at,
        started_at=one.started_at,
        ended_at=one.ended_at,
        seconds=max(0.0, ((one.ended_at or datetime.now(UTC)) - one.started_at).total_seconds()),
        heartbeat_at=one.heartbeat_at,
        run_id=one.run_id,
        job_tag=one.job_tag,
        worker_id=one.worker,
    )


def _source(bounds: SourceBounds | None) -> SourceRange | None:
    if bounds is None:
        return None
    return SourceRange(
        as_connector_offsets(bounds.start), None if bounds.upper is None else as_connector_offsets(bounds.upper)
    )


def _task(one: TaskAttempt) -> IntervalTask:
    return IntervalTask(
        task=one.task,
        attempts=one.attempts,
        outcome=one.outcome,
        counts=one.counts,
        error_kind=one.error.kind if one.error else None,
        error_message=one.error.message if one.error else None,
        trace=one.error.trace if one.error else None,
        is_retriable=bool(one.error and one.error.is_retriable),
        worker_id=one.worker,
        started_at=one.started_at,
        ended_at=one.ended_at,
    )
