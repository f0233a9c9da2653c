"""When each part of the deployment last worked, by the database's clock, so that computing a status needs no call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from connect_core.store.clock import age, now
from connect_core.store.models import Report

__all__ = [
    "AIRFLOW",
    "DAG_PROCESSOR",
    "KAFKA",
    "SCHEDULER",
    "TRIGGERER",
    "WATCHER",
    "PartReport",
    "PartUpdate",
    "load",
    "tell",
]

WATCHER = "watcher"
"""The watcher that wakes connectors; it reports itself, so silence means that it is gone."""
OBSERVER = "observer"
"""The process that last looked for waiting work."""
KAFKA = "kafka"
AIRFLOW = "airflow"
SCHEDULER = "scheduler"
TRIGGERER = "triggerer"
DAG_PROCESSOR = "dag_processor"


@dataclass(frozen=True, slots=True)
class PartUpdate:
    """A report on a part by a process that used it: it works, or ``error``. ``worked_at``: if it was not just now."""

    part: str
    error: str | None = None
    worked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """When a part last worked, by the last report; ages in seconds, by the database's clock."""

    part: str
    worked_at: datetime | None
    worked_age: float | None
    reported_age: float
    error: str | None


def load(connection: Connection) -> dict[str, PartReport]:
    """Return the reports by part; there are only a few."""
    query = select(
        Report.part,
        Report.worked_at,
        age(Report.worked_at).label("worked_age"),
        age(Report.told_at).label("reported_age"),
        Report.error,
    )
    return {
        row.part: PartReport(row.part, row.worked_at, row.worked_age, row.reported_age, row.error)
        for row in connection.execute(query)
    }


def tell(connection: Connection, told: Iterable[PartUpdate]) -> None:
    """Store reports; a part that does not work keeps the time at which it last did."""
    for one in told:
        values = _values(one)
        known = update(Report).where(Report.part == one.part).values(**values)
        if connection.execute(known).rowcount == 0:
            connection.execute(insert(Report).values(part=one.part, **{"worked_at": None, **values}))


def _values(told: PartUpdate) -> Mapping[str, Any]:
    values: dict[str, Any] = {"told_at": now(), "error": told.error}
    if told.worked_at is not None:
        values["worked_at"] = told.worked_at
    elif told.error is None:
        values["worked_at"] = now()
    return values
