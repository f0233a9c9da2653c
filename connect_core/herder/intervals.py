"""A connector's intervals, past and present, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from connect_core.api.offsets import parse
from connect_core.errors import NotFoundError
from connect_core.herder.context import Herder
from connect_core.interval.values import SourceBounds
from connect_core.store import attempts, connectors, interval_history
from connect_core.store.attempts import TaskAttempt
from connect_core.store.interval_history import PastInterval

__all__ = ["IntervalPage", "get_interval", "list_page", "source_form"]


@dataclass(frozen=True, slots=True)
class IntervalPage:
    """Some intervals, the newest first; ``next``: where the next page begins, if there is one."""

    intervals: list[dict[str, Any]]
    next: int | None


def list_page(herder: Herder, name: str, limit: int = 50, before: int | None = None) -> IntervalPage:
    """Return a page of a connector's intervals. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = interval_history.list_intervals(connection, name, limit + 1, before)
    shown = found[:limit]
    return IntervalPage([_view(one) for one in shown], shown[-1].row.key.sequence if len(found) > limit else None)


def get_interval(herder: Herder, name: str, sequence: int) -> dict[str, Any]:
    """Return one interval with its tasks. Raise NotFoundError."""
    with herder.database.read() as connection:
        connectors.get(connection, name)
        found = interval_history.find(connection, name, sequence)
        tasks = attempts.list_attempts(connection, name, sequence)
    if found is None:
        raise NotFoundError(f"Connector {name} has no interval {sequence} in its history")
    return {**_view(found), "tasks": [_task(one) for one in tasks]}


def _view(one: PastInterval) -> dict[str, Any]:
    row = one.row
    return {
        "sequence": row.key.sequence,
        "state": row.state.value,
        "reason": one.reason,
        "config_version": row.config_version,
        "incarnation": row.key.incarnation,
        "epoch": row.key.epoch,
        "ranges": [
            {"topic": part.topic, "partition": part.partition, "start": part.start, "end": part.end}
            for part in row.ranges
        ],
        "source": _source(row.source),
        "bound_time": row.bound_time,
        "counts": one.counts,
        "task_count": row.tasks,
        "attempts": row.attempts,
        "planned_at": one.planned_at,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
        "seconds": max(0.0, ((one.ended_at or datetime.now(UTC)) - one.started_at).total_seconds()),
        "heartbeat_at": one.heartbeat_at,
        "run_id": one.run_id,
        "job_tag": one.job_tag,
        "worker_id": one.worker,
    }


def _source(bounds: SourceBounds | None) -> dict[str, Any] | None:
    if bounds is None:
        return None
    upper = None if bounds.upper is None else source_form(bounds.upper)
    return {"start": source_form(bounds.start), "upper": upper}


def source_form(offsets: Mapping[str, Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return offsets by canonical JSON of their partition as Connect writes them."""
    return [
        {"partition": parse(partition), "offset": None if offset is None else dict(offset)}
        for partition, offset in sorted(offsets.items())
    ]


def _task(one: TaskAttempt) -> dict[str, Any]:
    return {
        "task": one.task,
        "attempts": one.attempts,
        "outcome": None if one.outcome is None else one.outcome.value,
        "counts": one.counts,
        "error_kind": one.error.kind if one.error else None,
        "error_message": one.error.message if one.error else None,
        "trace": one.error.trace if one.error else None,
        "is_retriable": bool(one.error and one.error.is_retriable),
        "worker_id": one.worker,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
    }
