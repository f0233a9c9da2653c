"""The report of a spark-submit's driver, left in the metadata database: no folder need be shared with who reads it."""

from __future__ import annotations

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from connect_core.errors import RetriableError
from connect_core.store import Database, run_reports

__all__ = ["leave_report", "take_report"]

_SECONDS = 60.0


def leave_report(database_url: str, ticket: str, report: str) -> None:
    """Leave the report, also if the database is away for a moment. Raises RetriableError."""
    database = Database(database_url, pooled=False)
    for attempt in _retrying():
        with attempt, database.write() as connection:
            run_reports.leave(connection, ticket, report)


def take_report(database_url: str, ticket: str) -> str | None:
    """Return the report and remove it; None: the driver left none. Raises RetriableError."""
    database = Database(database_url, pooled=False)
    for attempt in _retrying():
        with attempt, database.write() as connection:
            return run_reports.take(connection, ticket)
    return None


def _retrying() -> Retrying:
    return Retrying(
        retry=retry_if_exception_type(RetriableError),
        stop=stop_after_delay(_SECONDS),
        wait=wait_fixed(1),
        reraise=True,
    )
