"""Restarts of connectors and of single tasks that were requested and have not begun."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, select, update

from connect_core.api.sink import IntervalKey
from connect_core.interval.values import IntervalState
from connect_core.store import attempts
from connect_core.store.clock import now
from connect_core.store.models import Interval, Restart

__all__ = ["CONNECTOR", "ask", "asked", "begin", "clear_outcomes", "forget", "unblock"]

CONNECTOR = -1
"""Stands for the connector itself, in place of a task's number."""


def ask(connection: Connection, name: str, parts: Iterable[int]) -> None:
    """Request a restart of tasks, or of ``CONNECTOR``."""
    waiting = asked(connection, name)
    rows = [{"connector": name, "task": part, "asked_at": now()} for part in sorted(set(parts) - waiting)]
    for row in rows:
        connection.execute(insert(Restart).values(row))


def asked(connection: Connection, name: str) -> frozenset[int]:
    """Return the parts whose restart was requested."""
    return frozenset(connection.scalars(select(Restart.task).where(Restart.connector == name)))


def begin(connection: Connection, name: str) -> None:
    """Note that a new plan begins the requested restarts; a failed interval may run again."""
    clear_outcomes(connection, name, asked(connection, name) - {CONNECTOR})
    forget(connection, name)


def clear_outcomes(connection: Connection, name: str, tasks: Collection[int]) -> None:
    """Let these tasks of the unfinished interval run again; others are unchanged."""
    if not tasks:
        return
    row = connection.execute(
        select(Interval.incarnation, Interval.sequence, Interval.epoch).where(
            Interval.connector == name, Interval.state.not_in((IntervalState.COMMITTED, IntervalState.ABANDONED))
        )
    ).one_or_none()
    if row is not None:
        attempts.clear_outcomes(connection, IntervalKey(name, row.incarnation, row.sequence, row.epoch), tasks)
    unblock(connection, name)


def forget(connection: Connection, name: str) -> None:
    """Delete all requested restarts of a connector."""
    connection.execute(delete(Restart).where(Restart.connector == name))


def unblock(connection: Connection, name: str) -> None:
    """Let a failed interval run again as if it had been interrupted."""
    failed = update(Interval).where(Interval.connector == name, Interval.state == IntervalState.FAILED)
    connection.execute(failed.values(state=IntervalState.PLANNED, retry_at=None, tries_left=0))
