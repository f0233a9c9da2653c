"""Since when the scheduler has not answered, as each process that asks it has found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from connect_core.store.clock import age, now
from connect_core.store.models import SchedulerSilence

__all__ = ["Silence", "forget", "list_silences", "note"]

_NOTED_SECONDS = 60.0
"""Who has not repeated it for so long is gone, or hangs itself."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Who gets no answer, since when, and what the last request came to."""

    observer: str
    since: datetime
    reason: str


def note(connection: Connection, silence: Silence) -> None:
    """Say that the scheduler does not answer, again and again while that lasts."""
    forget(connection, silence.observer)
    values = {"observer": silence.observer, "since": silence.since, "reason": silence.reason, "noted_at": now()}
    connection.execute(insert(SchedulerSilence).values(**values))


def forget(connection: Connection, observer: str) -> None:
    """Say that it answers."""
    connection.execute(delete(SchedulerSilence).where(SchedulerSilence.observer == observer))


def list_silences(connection: Connection) -> list[Silence]:
    """Return who gets no answer at present, the longest first."""
    rows = connection.execute(
        select(SchedulerSilence.observer, SchedulerSilence.since, SchedulerSilence.reason)
        .where(age(SchedulerSilence.noted_at) < _NOTED_SECONDS)
        .order_by(SchedulerSilence.since)
    )
    return [Silence(row.observer, row.since, row.reason) for row in rows]
