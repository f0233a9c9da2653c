"""Attempts of an interval's tasks: what the last one reported, and what earlier ones moved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from connect_core.api.sink import IntervalKey
from connect_core.interval.values import Counts, TaskError, TaskOutcome, TaskResult
from connect_core.store.models import IntervalTask
from connect_core.store.rows import counts_from, counts_json, result_json, with_result

__all__ = [
    "TaskAttempt",
    "TaskProgress",
    "begin",
    "clear_outcomes",
    "list_attempts",
    "load_results",
    "record",
    "report_progress",
    "total",
]


@dataclass(frozen=True, slots=True)
class TaskAttempt:
    """A task of an interval after its last attempt; ``outcome`` is ``None`` while it runs."""

    task: int
    attempts: int
    outcome: TaskOutcome | None
    counts: Counts
    error: TaskError | None
    progress: Mapping[str, Any] | None
    worker: str
    process: int
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """The progress of a running attempt; ``positions`` is JSON."""

    task: int
    records: int = 0
    positions: Mapping[str, Any] = field(default_factory=dict)


def begin(connection: Connection, key: IntervalKey, tasks: int, kept: Collection[int] = ()) -> None:
    """Prepare one row per task for another attempt; counts of what the previous attempt moved are carried over.

    Tasks in ``kept`` are left as they are: their results remain valid.
    """
    known = {row.task: row for row in connection.execute(_tasks(key))}
    for task, row in known.items():
        if task in kept:
            continue
        # Staged data of an attempt is discarded with it; committed data remains.
        counts = Counts() if row.is_staged else counts_from(row.counts)
        carried = counts_json(counts_from(row.carried) + counts)
        values = {
            "carried": carried,
            "counts": counts_json(Counts()),
            "outcome": None,
            "progress": None,
            "result": None,
        }
        connection.execute(_task(key, task).values(**values, is_staged=False, attempts=row.attempts + 1))
    fresh = [_fresh(key, task) for task in range(tasks) if task not in known]
    if fresh:
        connection.execute(insert(IntervalTask), fresh)


def _fresh(key: IntervalKey, task: int) -> dict[str, Any]:
    zero = counts_json(Counts())
    return {
        "connector": key.connector,
        "sequence": key.sequence,
        "task": task,
        "attempts": 1,
        "counts": zero,
        "carried": zero,
        "is_staged": False,
        "is_retriable": False,
        "worker": "",
        "process": 0,
    }


def record(connection: Connection, key: IntervalKey, results: Iterable[TaskResult]) -> None:
    """Store the results of tasks."""
    for result in results:
        values = _reported(result)
        if connection.execute(_task(key, result.task).values(**values)).rowcount == 0:
            connection.execute(insert(IntervalTask).values(**{**_fresh(key, result.task), **values}))


def _reported(result: TaskResult) -> dict[str, Any]:
    values: dict[str, Any] = {
        "outcome": result.outcome,
        "counts": counts_json(result.counts),
        "is_staged": bool(result.staged),
        "progress": None,
        "worker": result.host,
        "process": result.pid,
        "started_at": result.started,
        "ended_at": result.ended,
        "error_kind": None,
        "error_message": None,
        "trace": None,
        "is_retriable": False,
        "result": None if result.outcome is not TaskOutcome.DONE else result_json(result),
    }
    if result.error is not None:
        error = result.error
        values |= {"error_kind": error.kind, "error_message": error.message, "trace": error.trace}
        values["is_retriable"] = error.is_retriable
    return values


def clear_outcomes(connection: Connection, key: IntervalKey, tasks: Collection[int]) -> None:
    """Clear the outcomes of tasks, so that they run again."""
    for task in tasks:
        connection.execute(_task(key, task).values(outcome=None, result=None))


def load_results(connection: Connection, key: IntervalKey) -> tuple[TaskResult, ...]:
    """Return the results of the last attempts of tasks that have ended."""
    return tuple(_result(row) for row in connection.execute(_tasks(key)) if row.outcome is not None)


def _result(row: Any) -> TaskResult:
    attempt = _attempt(row)
    base = TaskResult(
        row.task,
        row.outcome,
        counts=counts_from(row.counts),
        error=attempt.error,
        host=row.worker,
        pid=row.process,
        started=row.started_at,
        ended=row.ended_at,
    )
    return base if row.result is None else with_result(base, row.result)


def report_progress(connection: Connection, key: IntervalKey, tasks: Iterable[TaskProgress]) -> None:
    """Store the progress of running tasks."""
    for one in tasks:
        values = {"records": one.records, "positions": dict(one.positions)}
        running = _task(key, one.task).where(IntervalTask.outcome.is_(None))
        connection.execute(running.values(progress=values))


def total(connection: Connection, key: IntervalKey) -> Counts:
    """Return the counts of an interval, over all tasks and attempts whose data remains."""
    counts = Counts()
    for row in connection.execute(_tasks(key)):
        counts = counts + counts_from(row.carried) + counts_from(row.counts)
    return counts


def list_attempts(connection: Connection, connector: str, sequence: int) -> list[TaskAttempt]:
    """Return the tasks of one interval."""
    rows = connection.execute(_tasks(IntervalKey(connector, 0, sequence, 0)))
    return [_attempt(row) for row in rows]


def _attempt(row: Any) -> TaskAttempt:
    error = None
    if row.error_kind is not None:
        error = TaskError(row.error_kind, row.error_message, row.trace, row.is_retriable)
    return TaskAttempt(
        task=row.task,
        attempts=row.attempts,
        outcome=row.outcome,
        counts=counts_from(row.carried) + counts_from(row.counts),
        error=error,
        progress=row.progress,
        worker=row.worker,
        process=row.process,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def _of(key: IntervalKey) -> tuple[Any, ...]:
    return IntervalTask.connector == key.connector, IntervalTask.sequence == key.sequence


def _tasks(key: IntervalKey) -> Any:
    return select(IntervalTask.__table__).where(*_of(key)).order_by(IntervalTask.task)


def _task(key: IntervalKey, task: int) -> Any:
    return update(IntervalTask).where(*_of(key), IntervalTask.task == task)
