"""The audit: who did what to which connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from connect_core.store.clock import now
from connect_core.store.models import Audit

__all__ = ["Act", "PastAct", "history", "record"]


@dataclass(frozen=True, slots=True)
class Act:
    """One act of an operator; ``before`` and ``after`` are JSON without secrets."""

    actor: str
    action: str
    connector: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class PastAct:
    """An act with its number and time."""

    id: int
    act: Act
    done_at: datetime


def record(connection: Connection, act: Act) -> None:
    """Record an act, in the transaction that carries it out."""
    connection.execute(
        insert(Audit).values(
            actor=act.actor,
            action=act.action,
            connector=act.connector,
            before=None if act.before is None else dict(act.before),
            after=None if act.after is None else dict(act.after),
            done_at=now(),
        )
    )


def history(connection: Connection, connector: str | None = None, limit: int = 100) -> list[PastAct]:
    """Return acts, the newest first, of one connector or of all."""
    query = select(Audit.__table__).order_by(Audit.id.desc()).limit(limit)
    if connector is not None:
        query = query.where(Audit.connector == connector)
    rows = connection.execute(query)
    return [
        PastAct(row.id, Act(row.actor, row.action, row.connector, row.before, row.after), row.done_at) for row in rows
    ]
