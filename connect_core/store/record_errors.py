"""Skipped records, summed up by interval, stage and error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from connect_core.api.sink import IntervalKey
from connect_core.store.clock import now
from connect_core.store.models import RecordError

__all__ = ["Skipped", "SkippedLine", "add", "forget", "history"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records one task skipped for one reason; ``sample`` says where the first one lies."""

    task: int
    stage: str
    error_kind: str
    message: str
    records: int
    sample: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """Skipped records of one interval."""

    sequence: int
    skipped: Skipped
    first_at: datetime
    last_at: datetime


def add(connection: Connection, key: IntervalKey, skipped: Iterable[Skipped]) -> None:
    """Keep what an interval's tasks skipped."""
    rows = [
        {
            "connector": key.connector,
            "sequence": key.sequence,
            "task": one.task,
            "stage": one.stage,
            "error_kind": one.error_kind,
            "message": one.message,
            "records": one.records,
            "sample": dict(one.sample),
        }
        for one in skipped
    ]
    if rows:
        connection.execute(insert(RecordError).values(first_at=now(), last_at=now()), rows)


def history(connection: Connection, connector: str, limit: int = 100) -> list[SkippedLine]:
    """Return what a connector's intervals skipped, the newest first."""
    query = select(RecordError.__table__).where(RecordError.connector == connector)
    return [
        SkippedLine(
            row.sequence,
            Skipped(row.task, row.stage, row.error_kind, row.message, row.records, row.sample),
            row.first_at,
            row.last_at,
        )
        for row in connection.execute(query.order_by(RecordError.last_at.desc(), RecordError.id.desc()).limit(limit))
    ]


def forget(connection: Connection, older_than: datetime) -> int:
    """Drop lines from before a time and return how many went."""
    return connection.execute(delete(RecordError).where(RecordError.last_at < older_than)).rowcount
