"""Since when the scheduler has not answered, as seen by each process that calls it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from connect_core.store.clock import age, now
from connect_core.store.models import SchedulerSilence

__all__ = ["Silence", "forget", "list_silences", "note"]

_NOTED_SECONDS = 60.0
"""An observer that has not repeated its note for so long is gone, or hangs."""


@dataclass(frozen=True, slots=True)
class Silence:
    """An observer that gets no answer, since when, and how the last request failed."""

    observer: str
    since: datetime
    reason: str


def note(connection: Connection, silence: Silence) -> None:
    """Note that the scheduler does not answer; to be repeated while that lasts."""
    forget(connection, silence.observer)
    values = {"observer": silence.observer, "since": silence.since, "reason": silence.reason, "noted_at": now()}
    connection.execute(insert(SchedulerSilence).values(**values))


def forget(connection: Connection, observer: str) -> None:
    """Note that the scheduler answers."""
    connection.execute(delete(SchedulerSilence).where(SchedulerSilence.observer == observer))


def list_silences(connection: Connection) -> list[Silence]:
    """Return the present silences, the longest first."""
    rows = connection.execute(
        select(SchedulerSilence.observer, SchedulerSilence.since, SchedulerSilence.reason)
        .where(age(SchedulerSilence.noted_at) < _NOTED_SECONDS)
        .order_by(SchedulerSilence.since)
    )
    return [Silence(row.observer, row.since, row.reason) for row in rows]
