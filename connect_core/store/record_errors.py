"""Skipped records, summed up by interval, stage and error."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from connect_core.api.sink import IntervalKey
from connect_core.interval.values import SkippedRecords, TaskResult
from connect_core.store.clock import now
from connect_core.store.models import Connector, RecordError

__all__ = ["SkippedLine", "add", "forget", "history"]


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """Skipped records of one task in one interval."""

    sequence: int
    task: int
    skipped: SkippedRecords
    first_at: datetime
    last_at: datetime


def add(connection: Connection, key: IntervalKey, results: Collection[TaskResult]) -> None:
    """Store the records that an interval's tasks skipped."""
    rows = [
        {
            "connector": key.connector,
            "sequence": key.sequence,
            "task": result.task,
            "stage": one.stage,
            "error_kind": one.error_kind,
            "message": one.message,
            "records": one.records,
            "sample": dict(one.sample),
        }
        for result in results
        for one in result.skipped
    ]
    if rows:
        connection.execute(insert(RecordError).values(first_at=now(), last_at=now()), rows)
        total = Connector.skipped_records + sum(one.records for result in results for one in result.skipped)
        connection.execute(update(Connector).where(Connector.name == key.connector).values(skipped_records=total))


def history(connection: Connection, connector: str, limit: int = 100) -> list[SkippedLine]:
    """Return the records that a connector's intervals skipped, the newest first."""
    query = select(RecordError.__table__).where(RecordError.connector == connector)
    return [
        SkippedLine(
            row.sequence,
            row.task,
            SkippedRecords(row.stage, row.error_kind, row.message, row.records, row.sample),
            row.first_at,
            row.last_at,
        )
        for row in connection.execute(query.order_by(RecordError.last_at.desc(), RecordError.id.desc()).limit(limit))
    ]


def forget(connection: Connection, older_than: datetime) -> int:
    """Delete rows from before a time and return how many."""
    return connection.execute(delete(RecordError).where(RecordError.last_at < older_than)).rowcount
