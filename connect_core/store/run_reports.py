"""How runs ended whose driver is another process, perhaps on another machine: left here for the one that started it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, insert

from connect_core.store.clock import now
from connect_core.store.models import RunReport

__all__ = ["forget", "leave", "take"]


def leave(connection: Connection, ticket: str, report: str) -> None:
    """Store the report of the run that was started with this ticket; a second one replaces the first."""
    connection.execute(delete(RunReport).where(RunReport.ticket == ticket))
    connection.execute(insert(RunReport).values(ticket=ticket, report=report, reported_at=now()))


def take(connection: Connection, ticket: str) -> str | None:
    """Remove the report and return it; None: the driver left none."""
    taken = delete(RunReport).where(RunReport.ticket == ticket).returning(RunReport.report)
    report: str | None = connection.execute(taken).scalar_one_or_none()
    return report


def forget(connection: Connection, before: datetime) -> int:
    """Delete older reports, which nobody has taken, and return how many."""
    return connection.execute(delete(RunReport).where(RunReport.reported_at < before)).rowcount
