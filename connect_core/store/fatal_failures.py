"""Fatal failures, which keep a connector from running until a restart or a new configuration."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from connect_core.interval.values import IntervalState, TaskOutcome
from connect_core.store import restarts
from connect_core.store.models import Interval, IntervalTask

__all__ = ["fatal_failure_of"]


def fatal_failure_of(connection: Connection, row: Any) -> str | None:
    """Return the trace of the fatal failure in force of a connector, a row of ``connectors``; else ``None``."""
    failure = row.failure
    of_connector = failure is not None and not failure["is_retriable"] and _is_current(failure, row)
    trace = _failed_task(connection, row)
    if not of_connector and trace is None:
        return None
    asked = restarts.asked(connection, row.name)
    if of_connector and restarts.CONNECTOR not in asked:
        return str(failure["trace"])
    return None if asked - {restarts.CONNECTOR} else trace


def _is_current(failure: dict[str, Any], row: Any) -> bool:
    return bool(failure["config_version"] == row.config_version)


def _failed_task(connection: Connection, row: Any) -> str | None:
    failed = (
        select(IntervalTask.trace)
        .join(
            Interval,
            (Interval.connector == IntervalTask.connector) & (Interval.sequence == IntervalTask.sequence),
        )
        .where(
            Interval.connector == row.name,
            Interval.sequence == row.sequence,
            Interval.incarnation == row.incarnation,
            Interval.config_version == row.config_version,
            Interval.state == IntervalState.FAILED,
            IntervalTask.outcome == TaskOutcome.FAILED,
            IntervalTask.is_retriable.is_(False),
        )
        .order_by(IntervalTask.task)
        .limit(1)
    )
    return connection.scalar(failed)
