"""A long history costs nothing: statements on PostgreSQL read few rows, whatever has happened before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from connect_core.interval.time_bounds import LoadTimeBefore
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import Database, interval_history, intervals, overviews, statuses, waiting
from connect_core.store.connectors import NewConfig
from connect_core.store.connectors import create as create_connector
from connect_core.store.models import METADATA
from tests.store.harness import Harness
from tests.store.test_interval_history import moved

pytestmark = [pytest.mark.servers, pytest.mark.slow]

INTERVALS, OTHERS = 60_000, 100
COPY = """
INSERT INTO {table} ({columns}) SELECT {values} FROM {table}, generate_series(1, {most}) AS number
WHERE connector = 'c' AND sequence = 1
"""
CASES: dict[str, Callable[[sa.Connection], Any]] = {
    "intervals of a run": lambda connection: interval_history.of_run(connection, "c", "run-1-17", [5]),
    "time bound before": lambda connection: interval_history.time_before(
        connection, LoadTimeBefore("c", 1, datetime(2030, 1, 1, tzinfo=UTC))
    ),
    "bounds of a week": lambda connection: interval_history.list_bounded(
        connection, "c", 1, (datetime.now(UTC) - timedelta(days=7), datetime.now(UTC)), 1000
    ),
    "first bound": lambda connection: interval_history.first_bounded(connection, "c", 1),
    "next bound": lambda connection: interval_history.first_bounded(
        connection, "c", 1, datetime.now(UTC) - timedelta(days=3)
    ),
    "strips of all": interval_history.list_marks,
    "strip of one": lambda connection: interval_history.list_marks(connection, names=["c"]),
    "facts of all": statuses.load_facts,
    "facts of one": lambda connection: statuses.load_facts(connection, ["c"]),
    "progress of all": waiting.load_progress,
    "unfinished interval": lambda connection: intervals.load_unfinished(connection, "c"),
    "first page": lambda connection: interval_history.list_intervals(connection, "c"),
    "oldest": lambda connection: interval_history.oldest(connection, "c"),
    "totals": overviews.totals,
}


def empty(database: Database) -> None:
    with database.write() as connection:
        connection.execute(sa.text(f"TRUNCATE {', '.join(METADATA.tables)}"))


@pytest.fixture(scope="module")
def history(postgresql_url: str) -> Iterator[Database]:
    """Ten intervals of ``c``, and 60,000 older ones of it, each of a run and with a time bound of its own."""
    database = Database(postgresql_url, pooled=False)
    empty(database)
    harness = Harness(database)
    moved(harness, 10)
    with database.write() as connection:
        for other in range(OTHERS):
            new = NewConfig(ConnectorType.SINK, {"name": f"other-{other}"})
            create_connector(connection, f"other-{other}", new, TargetState.STOPPED)
        for table in ("intervals", "interval_tasks"):
            names = [column["name"] for column in sa.inspect(connection).get_columns(table)]
            changed = {"sequence": "-number"}
            if table == "intervals":
                changed |= {"run_id": "run_id || '-' || number", "bound_time": "now() - number * interval '1 minute'"}
            values = {name: f'"{name}"' for name in names} | changed
            columns = ", ".join(f'"{name}"' for name in names)
            text = COPY.format(table=table, columns=columns, values=", ".join(values.values()), most=INTERVALS)
            connection.execute(sa.text(text))
        connection.execute(sa.text("ANALYZE"))
    yield database
    empty(database)


@contextmanager
def rows_read(connection: sa.Connection) -> Iterator[list[int]]:
    """Collect how many rows each SELECT of the block reads, by PostgreSQL's own account."""
    found: list[int] = []
    is_explaining = False

    def explain(_: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> None:
        nonlocal is_explaining
        if is_explaining or not statement.startswith("SELECT"):
            return
        is_explaining = True
        answer = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
        is_explaining = False
        (plan,) = json.loads(answer) if isinstance(answer, str) else answer
        found.append(sum(_scanned(plan["Plan"])))

    sa.event.listen(connection, "before_cursor_execute", explain)
    yield found
    sa.event.remove(connection, "before_cursor_execute", explain)


def _scanned(node: dict[str, Any]) -> Iterator[int]:
    if "Relation Name" in node:
        yield node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
    for inner in node.get("Plans", ()):
        yield from _scanned(inner)


@pytest.mark.parametrize("case", CASES)
def test_statement_reads_few_rows(history: Database, case: str) -> None:
    with history.read() as connection, rows_read(connection) as found:
        CASES[case](connection)
    assert found
    assert max(found) < 30 * (OTHERS + 1)


def test_what_reads_the_history_is_seen(history: Database) -> None:
    with history.read() as connection, rows_read(connection) as found:
        connection.execute(sa.text("SELECT count(*) FROM intervals WHERE records = 7"))
    assert found == [INTERVALS + 11]
