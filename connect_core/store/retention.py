"""Retention of histories: past intervals, moves of offsets, skipped records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from connect_core.settings import WorkerSettings
from connect_core.store import interval_history, offsets, record_errors
from connect_core.store.database import Database

__all__ = ["Retention", "sweep"]


@dataclass(frozen=True, slots=True)
class Retention:
    """Deletes what is older than ``age``, or beyond the last ``most`` of a connector."""

    age: timedelta
    most: int

    @classmethod
    def of(cls, settings: WorkerSettings) -> Retention:
        """Return the retention of the worker's settings."""
        age = timedelta(milliseconds=settings.values["history.retention.ms"])
        return cls(age, settings.values["history.retention.count"])


def sweep(database: Database, retention: Retention) -> dict[str, int]:
    """Delete what is no longer kept, each history in a separate transaction → how many rows, by history.

    Raises RetriableError when the database is down.
    """
    before = datetime.now(UTC) - retention.age
    with database.write() as connection:
        intervals = interval_history.forget(connection, before, retention.most)
    with database.write() as connection:
        moves = offsets.forget_history(connection, before, retention.most)
    with database.write() as connection:
        skipped = record_errors.forget(connection, before)
    return {"intervals": intervals, "offset moves": moves, "skipped records": skipped}
