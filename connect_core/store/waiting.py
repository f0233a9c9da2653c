"""Waiting work of connectors: since when it waits, and whether there was progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from connect_core.interval.values import IntervalState, TaskOutcome
from connect_core.store.clock import now
from connect_core.store.models import Connector, Interval, IntervalTask, Waiting

__all__ = ["AirflowRun", "Found", "Progress", "count_cleared", "load_progress", "store", "store_runs"]

_FINAL = (IntervalState.COMMITTED, IntervalState.ABANDONED)


@dataclass(frozen=True, slots=True)
class Progress:
    """A connector's progress: ``mark`` changes with every commit, ``moved`` grows within an interval."""

    mark: str
    moved: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """Waiting work: its kind (``herder.waiting.Work``), the connector's progress, and its lag in records if known."""

    work: str
    progress: Progress
    records: int | None = None


@dataclass(frozen=True, slots=True)
class AirflowRun:
    """The task of a connector's run in Airflow: its state, since when, and its pool."""

    run_id: str
    state: str
    since: datetime | None
    pool: str | None = None


def load_progress(connection: Connection) -> dict[str, Progress]:
    """Return the progress of each connector that is not deleted: two statements for any number of them."""
    moved: dict[str, int] = defaultdict(int)
    for row in connection.execute(_running_tasks()):
        moved[row.connector] += _moved(row)
    rows = connection.execute(
        select(Connector.name, Connector.incarnation, Connector.config_version, Connector.committed_at).where(
            Connector.deleted_at.is_(None)
        )
    )
    return {
        row.name: Progress(f"{row.incarnation} {row.config_version} {row.committed_at}", moved[row.name])
        for row in rows
    }


def _running_tasks() -> Any:
    last = and_(IntervalTask.connector == Interval.connector, IntervalTask.sequence == Interval.sequence)
    return (
        select(
            IntervalTask.connector,
            IntervalTask.outcome,
            IntervalTask.progress,
            IntervalTask.counts,
            IntervalTask.carried,
        )
        .join(Interval, last)
        .where(Interval.state.not_in(_FINAL))
    )


def _moved(task: Any) -> int:
    """Return records moved plus positions passed, including filtered records, plus one if the task is done."""
    moved = sum(int((counts or {}).get("records", 0)) for counts in (task.progress, task.counts, task.carried))
    positions = (task.progress or {}).get("positions", {}).values()
    passed = sum(position for position in positions if isinstance(position, int))
    return moved + passed + int(task.outcome is TaskOutcome.DONE)


def store(connection: Connection, found: Mapping[str, Found], unknown: Collection[str] = ()) -> None:
    """Store waiting work; ``since`` is kept until there is progress. Rows of ``unknown`` connectors are unchanged.

    A few statements for any number of connectors; writes only changes.
    """
    known = {row.connector: row for row in connection.execute(select(Waiting.__table__))}
    gone = sorted(known.keys() - found.keys() - set(unknown))
    if gone:
        connection.execute(delete(Waiting).where(Waiting.connector.in_(gone)))
    fresh = [{"connector": name, **_values(found[name]), "cleared": 0} for name in sorted(found.keys() - known.keys())]
    if fresh:
        _insert(connection, fresh)
    common = sorted(found.keys() & known.keys())
    moved = [_named(name, found[name]) for name in common if _has_moved(known[name], found[name])]
    if moved:
        connection.execute(_change().values(since=now(), cleared=0), moved)
    names = {row["name"] for row in moved}
    other = [_named(name, found[name]) for name in common if name not in names and _differs(known[name], found[name])]
    if other:
        connection.execute(_change(), other)


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> None:
    # Another process may insert the same row at the same time: the first one wins.
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    connection.execute(insert(Waiting).values(since=now()).on_conflict_do_nothing(), rows)


def _values(found: Found) -> dict[str, Any]:
    progress = found.progress
    return {"work": found.work, "records": found.records, "mark": progress.mark, "moved": progress.moved}


def _named(name: str, found: Found) -> dict[str, Any]:
    return {"name": name, **{f"new_{key}": value for key, value in _values(found).items()}}


def _change() -> Any:
    values: dict[str, Any] = {column: bindparam(f"new_{column}") for column in ("work", "records", "mark", "moved")}
    return update(Waiting).where(Waiting.connector == bindparam("name")).values(**values)


def _has_moved(row: Any, found: Found) -> bool:
    return bool(row.mark != found.progress.mark or row.moved < found.progress.moved)


def _differs(row: Any, found: Found) -> bool:
    return (row.work, row.records) != (found.work, found.records)


def store_runs(connection: Connection, runs: Mapping[str, AirflowRun | None]) -> None:
    """Store the state of waiting connectors' runs in Airflow; ``None``: there is none."""
    known = {row.connector: row for row in connection.execute(select(Waiting.__table__))}
    changed = list(_changed_runs(known, runs))
    if changed:
        columns = ("run_id", "run_state", "run_since", "run_pool")
        values: dict[str, Any] = {column: bindparam(f"new_{column}") for column in columns}
        connection.execute(update(Waiting).where(Waiting.connector == bindparam("name")).values(**values), changed)


def _changed_runs(known: Mapping[str, Any], runs: Mapping[str, AirflowRun | None]) -> Iterator[dict[str, Any]]:
    for name in sorted(known.keys() & runs.keys()):
        run, row = runs[name], known[name]
        now_is = (run.run_id, run.state, run.since, run.pool) if run else (None, None, None, None)
        if now_is != (row.run_id, row.run_state, row.run_since, row.run_pool):
            columns = ("new_run_id", "new_run_state", "new_run_since", "new_run_pool")
            yield {"name": name, **dict(zip(columns, now_is, strict=True))}


def count_cleared(connection: Connection, connector: str, before: int) -> bool:
    """Count that the connector's run was given up as lost → false if another process has just done so."""
    mine = update(Waiting).where(Waiting.connector == connector, Waiting.cleared == before)
    return connection.execute(mine.values(cleared=before + 1)).rowcount > 0
