"""500,000 JSON orders with schema from Kafka to PostgreSQL by upsert, beside Debezium's JDBC sink.

    python -m tests.benchmarks.jdbc_sink [--records N] [--jars DIR]

``--jars``: where ``tests/peer/fetch.sh DIR`` put the peers; without them only
connect-core is measured. Every figure is taken in this run, on private servers;
only the ratio means anything on another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import sqlalchemy as sa
from rich.console import Console

from connect_core.dev.stack import Stack
from tests.benchmarks.connect_worker import PEER
from tests.benchmarks.exporting import RUNS, Exported, typical
from tests.benchmarks.jdbc_exporting import JdbcExport, sink_config
from tests.benchmarks.jdbc_peer import Measured, beside, peer, report
from tests.benchmarks.kafka_to_parquet import Figure
from tests.benchmarks.memory import Memory

TASKS = 4
GOAL = 5.0
"""How many times as fast as the peer."""


def ours(topic: str, address: sa.URL, client: psycopg.Connection, spark: int) -> Measured:
    """Run the sink again and again into new tables; return the typical run."""
    runs, memory = list[Exported](), Memory(spark)
    for number in range(RUNS):
        client.execute("DROP SCHEMA IF EXISTS jdbc_it CASCADE")
        client.execute("CREATE SCHEMA jdbc_it")
        name = f"orders-{number}"
        settings = {"tasks.max": str(TASKS)}
        with JdbcExport(name, sink_config(name, topic, address, True, settings)) as export, memory.watched():
            runs.append(export.run())
        check(client, f'jdbc_it."{topic}"', runs[-1].records)
    done = typical(runs)
    return Figure(f"connect-core, {TASKS} tasks", done.records, done.seconds), memory.peak


def debezium(bootstrap: str, topic: str, address: sa.URL, jars: Path, work: Path) -> Measured:
    """Debezium's JDBC sink in a standalone worker of Apache Kafka Connect; ``work``: an empty folder."""
    work.mkdir()
    values = {
        "BOOTSTRAP": bootstrap,
        "TOPIC": topic,
        "NAME": work.name,
        "PGHOSTPORT": f"{address.host}:{address.port}",
        "PGDB": str(address.database),
        "PGUSER": str(address.username),
        "PGPASSWORD": str(address.password),
        "TABLE": f"{work.name}_orders",
    }
    with peer("sink.json", values, jars, work) as running:
        drain: list[str | Path] = [sys.executable, PEER / "drain.py", bootstrap, topic, running.url, running.connector]
        answer = json.loads(subprocess.run(drain, check=True, capture_output=True, text=True).stdout)
    return Figure("Debezium JDBC sink", answer["records"], answer["seconds"]), running.memory.peak


def check(client: psycopg.Connection, table: str, records: int) -> None:
    """Refuse a figure whose rows did not arrive."""
    found = client.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    if found != (records,):
        sys.exit(f"{table} has {found} rows, not {records}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        work = Path(folder)
        stack = Stack(work / "stack", services=("postgres", "kafka", "spark"))
        stack.up()
        try:
            os.environ.update(stack.environment())
            bootstrap = os.environ["CONNECT_BOOTSTRAP_SERVERS"]
            fill: list[str | Path] = [
                sys.executable,
                PEER / "orders.py",
                bootstrap,
                "orders",
                str(arguments.records),
                "--envelope",
            ]
            subprocess.run(fill, check=True)
            figures = measured(stack, arguments.jars, work)
            title = f"{arguments.records:,} orders, JSON with schema → PostgreSQL upsert"
            Console(width=120).print(report(title, figures, {0: GOAL}))
        finally:
            stack.down()


def measured(stack: Stack, jars: Path, work: Path) -> list[Measured]:
    """Return our figure, and the peer's where its jars are."""
    address = sa.make_url(os.environ["CONNECT_DATABASE_URL"])
    bootstrap = os.environ["CONNECT_BOOTSTRAP_SERVERS"]
    url = address.set(drivername="postgresql").render_as_string(hide_password=False)
    spark = stack.service("spark").pid or 0
    with psycopg.connect(url, autocommit=True) as client:

        def theirs(time: int) -> Measured:
            done = debezium(bootstrap, "orders", address, jars, work / f"peer{time}")
            client.execute(f"DROP TABLE peer{time}_orders")
            return done

        if not (jars / "plugins" / "debezium").exists():
            return [ours("orders", address, client, spark)]
        return beside(theirs, lambda: [ours("orders", address, client, spark)])


if __name__ == "__main__":
    main()
