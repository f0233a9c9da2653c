"""Whether a history of 1,000,000 intervals slows anything: ``python -m tests.benchmarks.long_history [--intervals N]``.

A sink that runs small intervals over real Kafka and PostgreSQL, and the requests that its page makes, first with the
few intervals it has run, then with half of the million its own and half of 999 other connectors; each interval has a
task's row. Prints medians in milliseconds and their ratio, and how long retention takes to forget the old half. The
goal: nothing takes 1.2 times as long.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from connect_core.dev.stack import Stack
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.rest import LoopbackAuthorizer, RestOptions, create_app, serve_in_thread
from connect_core.run.runner import ThreadRunner
from connect_core.settings import Listener
from connect_core.store import Database, connectors, interval_history
from connect_core.store.connectors import NewConfig
from tests.benchmarks.comparison import machine
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.benchmarks.measure import show
from tests.herder.harness import Harness
from tests.integration.topics import Topics

__all__ = ["main"]

CONNECTORS, RUNS, REQUESTS, RECORDS = 1_000, 25, 60, 200
SHOWN = 20
"""Intervals of each connector in the list."""
GOAL = 1.2
_NAME = "export"
_PATHS = (
    f"/connectors/{_NAME}/status",
    "/v1/connectors",
    f"/v1/connectors/{_NAME}",
    f"/v1/connectors/{_NAME}/intervals",
    "/v1/metrics",
)
OTHERS = f"generate_series(1, {CONNECTORS - 1}) AS other, generate_series(1, {{most}}) AS number"
_COPY = """
INSERT INTO {table} ({columns}) SELECT {values} FROM {table}, {series}
WHERE connector = '{name}' AND sequence = (SELECT max(sequence) FROM {table} WHERE connector = '{name}')
"""
"""Copies a connector's newest row; sequences below 1 are those of no run."""


def add_history(database: Database, intervals: int) -> None:
    """Give the connector half of the intervals, and others the rest."""
    copy(database, f"generate_series(1, {intervals // 2}) AS number", "connector", "-number")
    copy(database, OTHERS.format(most=intervals // 2 // CONNECTORS), "'other-' || other", "-number")


def add_others(database: Database) -> None:
    """Create the other connectors, each with the intervals that a list of connectors shows."""
    config = {"connector.class": "FileSystemSink", "topics": "none", "path": "/nowhere"}
    with database.write() as connection:
        for other in range(1, CONNECTORS):
            connectors.create(connection, f"other-{other}", NewConfig(ConnectorType.SINK, config), TargetState.STOPPED)
        connection.execute(
            sa.text("UPDATE connectors SET incarnation = 1, sequence = :last WHERE name <> :own"),
            {"last": SHOWN, "own": _NAME},
        )
    copy(database, OTHERS.format(most=SHOWN), "'other-' || other", "number")


def copy(database: Database, series: str, name: str, sequence: str) -> None:
    """Copy the connector's newest interval and its task, a minute apart; ``name``, ``sequence``: of the copies."""
    for table in ("intervals", "interval_tasks"):
        with database.write() as connection:
            names = [column["name"] for column in sa.inspect(connection).get_columns(table)]
            values = {column: f'"{column}"' for column in names} | {"connector": name, "sequence": sequence}
            for moment in ("planned_at", "started_at", "ended_at"):
                if moment in names:
                    values[moment] = f"{moment} - number * interval '1 minute'"
            quoted = ", ".join(f'"{column}"' for column in names)
            text = _COPY.format(
                table=table, columns=quoted, values=", ".join(values.values()), series=series, name=_NAME
            )
            connection.execute(sa.text(text))
    with database.write() as connection:
        connection.execute(sa.text("ANALYZE"))


def run_milliseconds(topics: Topics, topic: str, export: ConnectorRuns) -> list[float]:
    """Return what each whole run of an interval takes: lease, plan, task in this process, commit."""
    took = []
    for _ in range(RUNS):
        topics.write(topic, [b"{}"] * RECORDS, 1)
        done = export.run()
        if done.records != RECORDS:
            raise RuntimeError(f"{done.records} of {RECORDS} records were moved")
        took.append(done.seconds * 1000)
    return took


def request_milliseconds(database: Database) -> dict[str, list[float]]:
    """Return what each request takes, over HTTP, by one client."""
    harness = Harness(database)

    def herder(actor: str) -> Herder:
        return harness.herder

    app = create_app(herder, LoopbackAuthorizer(), RestOptions())
    served = serve_in_thread(app, Listener("http", "127.0.0.1", 0))
    client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    found: dict[str, list[float]] = {path: [] for path in _PATHS}
    for turn in range(REQUESTS):
        for path in _PATHS:
            began = time.perf_counter()
            client.request("GET", path)
            answer = client.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"GET {path}: {answer.status}")
            if turn >= 3:
                found[path].append((time.perf_counter() - began) * 1000)
    client.close()
    served.stop()
    return found


def measure(folder: Path, intervals: int) -> tuple[Mapping[str, tuple[float, float]], float, int]:
    """Return medians before and after by what was done, and the seconds and rows of forgetting."""
    stack = Stack(folder / "stack", services=("postgres", "kafka"))
    with ExitStack() as cleanup:
        cleanup.callback(stack.down)
        stack.up()
        os.environ.update(stack.environment())
        os.environ["CONNECT_FILE_ROOTS"] = str(folder)
        topics = Topics(os.environ["CONNECT_BOOTSTRAP_SERVERS"])
        topic = topics.create(1)
        config = {"name": _NAME, "connector.class": "FileSystemSink", "topics": topic, "path": str(folder / "out")}
        text = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
        export = cleanup.enter_context(ConnectorRuns(_NAME, config | text, runner=ThreadRunner()))
        database = Database(os.environ["CONNECT_DATABASE_URL"])
        cleanup.callback(database.close)
        run_milliseconds(topics, topic, export)
        add_others(database)
        before = {"a whole run": run_milliseconds(topics, topic, export)} | request_milliseconds(database)
        add_history(database, intervals)
        after = {"a whole run": run_milliseconds(topics, topic, export)} | request_milliseconds(database)
        began = time.monotonic()
        gone = forget_half(database, intervals)
        spent = time.monotonic() - began
    return {what: (statistics.median(before[what]), statistics.median(after[what])) for what in before}, spent, gone


def forget_half(database: Database, intervals: int) -> int:
    """Forget what is older than half of the connector's history → intervals."""
    with database.write() as connection:
        return interval_history.forget(connection, datetime.now(UTC) - timedelta(minutes=intervals // 4))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where something takes more than 1.2 times as long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="connect-history-") as folder:
        found, seconds, gone = measure(Path(folder), options.intervals)
    rows = [[what, f"{old:.1f}", f"{new:.1f}", f"{new / old:.2f}x"] for what, (old, new) in found.items()]
    show(f"{options.intervals:,} intervals of history", ["what", "before, ms", "after, ms", "ratio"], rows)
    print(f"retention forgot {gone:,} intervals in {seconds:.1f} s")
    if options.json:
        figures = {what: {"before_ms": old, "after_ms": new} for what, (old, new) in found.items()}
        options.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=1) + "\n")
    return 0 if all(new <= GOAL * old for old, new in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
