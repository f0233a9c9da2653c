"""Past and present intervals, for display."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, FromClause, and_, delete, or_, select

from connect_core.interval.time_bounds import LoadTimeBefore
from connect_core.interval.values import Counts, IntervalRow, IntervalState
from connect_core.store.models import Connector, Interval, IntervalTask
from connect_core.store.rows import counts_from, interval_row

__all__ = [
    "BoundedInterval",
    "IntervalMark",
    "PastInterval",
    "find",
    "first_bounded",
    "forget",
    "list_bounded",
    "list_intervals",
    "list_marks",
    "of_run",
    "oldest",
    "time_before",
]


@dataclass(frozen=True, slots=True)
class PastInterval:
    """An interval with its outcome, and where it ran."""

    row: IntervalRow
    counts: Counts
    reason: str | None
    run_id: str
    job_tag: str
    worker: str
    heartbeat_at: datetime | None
    planned_at: datetime
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """One mark in the strip of a connector's last intervals; ``seconds`` is ``None`` while it runs."""

    sequence: int
    state: IntervalState
    records: int
    started_at: datetime
    seconds: float | None


@dataclass(frozen=True, slots=True)
class BoundedInterval:
    """An interval that ends by a time; ``since`` is set for one of a backfill, ``run_id`` is its scheduler's run."""

    sequence: int
    state: IntervalState
    bound_time: datetime
    since: datetime | None = None
    records: int = 0
    late: int = 0
    ended_at: datetime | None = None
    reason: str | None = None
    run_id: str = ""


_BOUNDED = (
    Interval.sequence,
    Interval.state,
    Interval.bound_time,
    Interval.since,
    Interval.records,
    Interval.counts,
    Interval.ended_at,
    Interval.reason,
    Interval.run_id,
)


def list_bounded(
    connection: Connection, connector: str, incarnation: int, times: tuple[datetime, datetime], limit: int
) -> list[BoundedInterval]:
    """Return final intervals with a bound after the first of ``times`` and up to the second, the newest bound first.

    Live ones are committed; a backfill's may have been given up.
    """
    since, until = times
    given_up = and_(Interval.state == IntervalState.ABANDONED, Interval.since.is_not(None))
    query = (
        select(*_BOUNDED)
        .where(Interval.connector == connector, Interval.bound_time > since, Interval.bound_time <= until)
        .where(Interval.incarnation == incarnation, or_(Interval.state == IntervalState.COMMITTED, given_up))
        .order_by(Interval.bound_time.desc())
        .limit(limit)
    )
    return [_bounded(row) for row in connection.execute(query)]


def first_bounded(
    connection: Connection, connector: str, incarnation: int, after: datetime | None = None
) -> BoundedInterval | None:
    """Return the committed live interval with the earliest bound, or with the earliest one later than ``after``."""
    mine = (Interval.connector == connector, Interval.incarnation == incarnation, Interval.since.is_(None))
    query = select(*_BOUNDED).where(*mine, Interval.state == IntervalState.COMMITTED, Interval.bound_time.is_not(None))
    if after is not None:
        query = query.where(Interval.bound_time > after)
    row = connection.execute(query.order_by(Interval.bound_time).limit(1)).one_or_none()
    return None if row is None else _bounded(row)


def _bounded(row: Any) -> BoundedInterval:
    return BoundedInterval(
        sequence=row.sequence,
        state=row.state,
        bound_time=row.bound_time,
        since=row.since,
        records=row.records,
        late=row.counts.get("late", 0),
        ended_at=row.ended_at,
        reason=row.reason,
        run_id=row.run_id,
    )


def list_intervals(
    connection: Connection, connector: str, limit: int = 50, before: int | None = None
) -> list[PastInterval]:
    """Return intervals, the newest first; ``before`` is the last sequence of the previous page."""
    query = select(Interval.__table__).where(Interval.connector == connector)
    if before is not None:
        query = query.where(Interval.sequence < before)
    return [_past(row) for row in connection.execute(query.order_by(Interval.sequence.desc()).limit(limit))]


def find(connection: Connection, connector: str, sequence: int) -> PastInterval | None:
    """Return one interval, or ``None``."""
    query = select(Interval.__table__).where(Interval.connector == connector, Interval.sequence == sequence)
    row = connection.execute(query).one_or_none()
    return None if row is None else _past(row)


def oldest(connection: Connection, connector: str) -> tuple[int, int] | None:
    """Return incarnation and sequence of the oldest interval that is kept; ``None`` if there is none."""
    query = select(Interval.incarnation, Interval.sequence).where(Interval.connector == connector)
    row = connection.execute(query.order_by(Interval.sequence).limit(1)).one_or_none()
    return None if row is None else (row.incarnation, row.sequence)


def time_before(connection: Connection, effect: LoadTimeBefore) -> datetime | None:
    """Return the latest earlier time bound of a committed interval of this incarnation, backfills excepted."""
    mine = (Interval.connector == effect.connector, Interval.incarnation == effect.incarnation)
    done = (Interval.state == IntervalState.COMMITTED, Interval.bound_time < effect.before, Interval.since.is_(None))
    latest = select(Interval.bound_time).where(*mine, *done).order_by(Interval.bound_time.desc()).limit(1)
    return connection.execute(latest).scalar_one_or_none()


def of_run(connection: Connection, connector: str, run_id: str, others: Collection[int] = ()) -> list[PastInterval]:
    """Return the committed intervals of a scheduler's run, and of ``others``, the oldest first."""
    asked = or_(Interval.run_id == run_id, Interval.sequence.in_(others))
    mine = (Interval.connector == connector, Interval.state == IntervalState.COMMITTED, asked)
    query = select(Interval.__table__).where(*mine).order_by(Interval.sequence)
    return [_past(row) for row in connection.execute(query)]


def list_marks(
    connection: Connection, limit: int = 20, names: Collection[str] | None = None
) -> Mapping[str, list[IntervalMark]]:
    """Return the last intervals of all connectors, or of the named ones, the oldest first, by one statement."""
    last = _last_intervals(connection, limit)
    query = (
        select(Connector.name, last.c.sequence, last.c.state, last.c.records, last.c.started_at, last.c.ended_at)
        .join(last, last.c.connector == Connector.name)
        .where(Connector.deleted_at.is_(None), last.c.sequence > Connector.sequence - limit)
        .order_by(Connector.name, last.c.sequence)
    )
    if names is not None:
        query = query.where(Connector.name.in_(names))
    marks: dict[str, list[IntervalMark]] = {}
    for name, sequence, state, records, began, ended in connection.execute(query).all():
        seconds = None if ended is None else (ended - began).total_seconds()
        marks.setdefault(name, []).append(IntervalMark(sequence, state, records, began, seconds))
    return marks


def _last_intervals(connection: Connection, limit: int) -> FromClause:
    """Return what to join for the last intervals of each connector.

    PostgreSQL cannot estimate how few of a connector's intervals are its last ones, and would read the whole history;
    SQLite uses the primary key, and knows no LATERAL.
    """
    if connection.dialect.name != "postgresql":
        return Interval.__table__
    own = (Interval.connector == Connector.name, Interval.sequence > Connector.sequence - limit)
    return select(Interval.__table__).where(*own).order_by(Interval.sequence.desc()).limit(limit).lateral("last")


def forget(connection: Connection, older_than: datetime, most: int | None = None, keep: int = 100) -> int:
    """Delete final intervals that ended before a time or are beyond the last ``most`` of a connector → how many.

    The last ``keep`` of each connector are always kept.
    """
    sequence = select(Connector.sequence).where(Connector.name == Interval.connector).scalar_subquery()
    is_over = Interval.ended_at < older_than
    if most is not None:
        is_over = or_(is_over, Interval.sequence <= sequence - most)
    old = and_(
        Interval.state.in_((IntervalState.COMMITTED, IntervalState.ABANDONED)),
        is_over,
        Interval.sequence <= sequence - keep,
    )
    gone = connection.execute(delete(Interval).where(old)).rowcount
    kept = select(Interval.sequence).where(
        Interval.connector == IntervalTask.connector, Interval.sequence == IntervalTask.sequence
    )
    connection.execute(delete(IntervalTask).where(~kept.exists()))
    return gone


def _past(row: Any) -> PastInterval:
    return PastInterval(
        row=interval_row(row),
        counts=counts_from(row.counts),
        reason=row.reason,
        run_id=row.run_id,
        job_tag=row.job_tag,
        worker=row.worker,
        heartbeat_at=row.heartbeat_at,
        planned_at=row.planned_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )
