"""Requests: acts on the scheduler, to be carried out by a process that serves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from connect_core.store.clock import later, now
from connect_core.store.models import Request

__all__ = ["Asked", "Claimed", "Kinds", "PastRequest", "add", "claim", "finish", "forget_done", "give_back", "latest"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A requested act, such as ``deploy``, ``trigger`` or ``pause``; ``detail`` is JSON."""

    kind: str
    connector: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A request claimed by a process, which carries it out; ``tries`` includes this one."""

    id: int
    asked: Asked
    tries: int


@dataclass(frozen=True, slots=True)
class Kinds:
    """Kinds of requests claimed together, or, with ``are_left_out``, those not claimed; at most ``limit`` requests."""

    names: tuple[str, ...] = ()
    limit: int = 20
    are_left_out: bool = False


@dataclass(frozen=True, slots=True)
class PastRequest:
    """A request and what became of it; ``error``: of the last try, or for good if it is done."""

    asked: Asked
    asked_at: datetime
    done_at: datetime | None
    error: str | None


_ALL = Kinds(are_left_out=True)


def add(connection: Connection, asked: Asked) -> int:
    """Request an act and return the request's id."""
    values = {"kind": asked.kind, "connector": asked.connector, "detail": dict(asked.detail), "actor": asked.actor}
    made = connection.execute(insert(Request).values(**values, tries=0, asked_at=now()).returning(Request.id))
    number: int = made.scalar_one()
    return number


def claim(connection: Connection, holder: str, seconds: float, kinds: Kinds = _ALL) -> list[Claimed]:
    """Claim the oldest free requests of these kinds for ``seconds``; no other process gets them meanwhile."""
    free = and_(Request.done_at.is_(None), or_(Request.taken_until.is_(None), Request.taken_until < now()))
    wanted = Request.kind.not_in(kinds.names) if kinds.are_left_out else Request.kind.in_(kinds.names)
    waiting = (
        select(Request.id).where(free, wanted).order_by(Request.id).limit(kinds.limit).with_for_update(skip_locked=True)
    )
    numbers = connection.scalars(waiting).all()
    if not numbers:
        return []
    rows = connection.execute(
        update(Request)
        .where(Request.id.in_(numbers))
        .values(taken_by=holder, taken_until=later(seconds), tries=Request.tries + 1)
        .returning(Request.id, Request.kind, Request.connector, Request.detail, Request.actor, Request.tries)
    ).all()
    return [
        Claimed(row.id, Asked(row.kind, row.connector, row.detail, row.actor), row.tries)
        for row in sorted(rows, key=lambda one: one.id)
    ]


def finish(connection: Connection, number: int, error: str | None = None) -> None:
    """Mark a request as done, or as failed for good with ``error``."""
    connection.execute(update(Request).where(Request.id == number).values(done_at=now(), error=error))


def give_back(connection: Connection, number: int, error: str, seconds: float) -> None:
    """Put a failed request back into the queue, to be claimed again after ``seconds``."""
    again = {"taken_by": None, "taken_until": later(seconds), "error": error}
    connection.execute(update(Request).where(Request.id == number).values(**again))


def forget_done(connection: Connection, older_than: datetime) -> int:
    """Delete requests done before a time and return how many."""
    return connection.execute(delete(Request).where(Request.done_at < older_than)).rowcount


def latest(connection: Connection, kind: str, connector: str) -> PastRequest | None:
    """Return the newest request of a kind for a connector that is still kept."""
    mine = (Request.kind == kind, Request.connector == connector)
    row = connection.execute(select(Request.__table__).where(*mine).order_by(Request.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    return PastRequest(Asked(row.kind, row.connector, row.detail, row.actor), row.asked_at, row.done_at, row.error)
