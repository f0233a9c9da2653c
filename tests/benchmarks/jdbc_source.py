"""1,000,000 rows of PostgreSQL to Kafka as JSON, exactly-once, beside the snapshot of Debezium's PostgreSQL connector.

    python -m tests.benchmarks.jdbc_source [--records N] [--jars DIR]

``--jars``: where ``tests/peer/fetch.sh DIR`` put the peers; without them only
connect-core is measured. Every figure is taken in this run, on private servers;
only the ratio means anything on another machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import psycopg
import sqlalchemy as sa
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console

from connect_core.dev.secrets import secret
from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.exporting import RUNS, Exported, typical
from tests.benchmarks.jdbc_exporting import JdbcExport
from tests.benchmarks.jdbc_peer import Measured, beside, peer, report
from tests.benchmarks.kafka_to_parquet import Figure
from tests.benchmarks.memory import Memory
from tests.integration import record_lane_connectors
from tests.integration.distribution import install

COLUMNS_GOAL, RECORDS_GOAL = 7.0, 1.0
"""How many times as fast as the peer."""
TASKS = 2
"""Tasks that share a table in mode ``bulk``, which is what a snapshot is."""
_BULK = {"mode": "bulk", "tasks.max": str(TASKS)}
_FOLLOWING = {"mode": "incrementing", "incrementing.column.name": "id"}
WAYS = {
    f"connect-core, columns, bulk, {TASKS} tasks": ("JdbcSource", _BULK),
    f"connect-core, records, bulk, {TASKS} tasks": ("bench.RecordsSource", _BULK),
    "connect-core, columns, incrementing, 1 task": ("JdbcSource", _FOLLOWING),
}
"""Way → the connector's class, and how it reads."""
_ROWS = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, amount double precision, qty integer NOT NULL,
    status text NOT NULL, ssn text, ts timestamptz NOT NULL);
INSERT INTO orders SELECT i, 'customer-' || i % 10007, round((random() * 1000)::numeric, 2), i % 17,
    (ARRAY['NEW', 'PAID', 'SHIPPED'])[i % 3 + 1], '123-45-' || lpad((i % 10000)::text, 4, '0'),
    to_timestamp(1700000000 + i) FROM generate_series(0, {last}) AS i;
"""
_TIMEOUT_SECONDS = 900.0


def fill(stack: Stack, rows: int) -> None:
    """Let the server keep what Debezium needs, and make the table."""
    with superuser(stack) as client:
        client.execute("ALTER SYSTEM SET wal_level = 'logical'")
    stack.service("postgres").restart()
    with superuser(stack) as client:
        client.execute(_ROWS.format(last=rows - 1))
        client.execute("GRANT SELECT ON orders TO connect")
        client.execute("VACUUM ANALYZE orders")


def superuser(stack: Stack) -> psycopg.Connection:
    """Return a connection that may do anything."""
    place = f"host=127.0.0.1 port={stack.service('postgres').port} dbname=connect user=postgres"
    return psycopg.connect(f"{place} password={secret(stack.home, 'postgres')}", autocommit=True)


def ours(way: str, bootstrap: str, address: sa.URL, rows: int, spark: int) -> Measured:
    """Run a source again and again under new names; return the typical run."""
    runs, memory = list[Exported](), Memory(spark)
    kind, mode = WAYS[way]
    for number in range(RUNS):
        name = f"way-{list(WAYS).index(way)}-{number}"
        create_topic(bootstrap, f"{name}-orders")
        config = source_config(name, kind, address) | mode
        moved, seconds = 0, 0.0
        with JdbcExport(name, config, ConnectorType.SOURCE) as export, memory.watched():
            while moved < rows:
                done = export.run()
                if not done.records:
                    sys.exit(f"{name} moved {moved} of {rows} rows")
                moved, seconds = moved + done.records, seconds + done.seconds
        runs.append(Exported(moved, seconds))
        if committed(bootstrap, f"{name}-orders") < rows:
            sys.exit(f"{name}-orders has fewer than {rows} records")
    done = typical(runs)
    return Figure(way, done.records, done.seconds), memory.peak


def source_config(name: str, kind: str, address: sa.URL) -> dict[str, str]:
    """Return a source of the table, but for its mode."""
    return {
        "name": name,
        "connector.class": kind,
        "connection.url": f"jdbc:postgresql://{address.host}:{address.port}/{address.database}?currentSchema=public",
        "connection.user": str(address.username),
        "connection.password": str(address.password),
        "table.include.list": "orders",
        "topic.prefix": f"{name}-",
        "batch.max.rows": "5000",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "key.converter.schemas.enable": "false",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "producer.override.compression.type": "lz4",
    }


def debezium(bootstrap: str, stack: Stack, rows: int, jars: Path, work: Path) -> Measured:
    """Debezium's snapshot of the same table, at-least-once, from the POST on; ``work``: an empty folder."""
    work.mkdir()
    topic = f"{work.name}.public.orders"
    create_topic(bootstrap, topic)
    values = {
        "BOOTSTRAP": bootstrap,
        "NAME": work.name,
        "PREFIX": work.name,
        "PGPORT": str(stack.service("postgres").port),
        "PGUSER": "postgres",
        "PGPASSWORD": secret(stack.home, "postgres"),
        "PGDB": "connect",
    }
    with peer("source.json", values, jars, work) as running:
        began = time.monotonic()
        headers = {"Content-Type": "application/json"}
        body = running.connector.read_bytes()
        urllib.request.urlopen(urllib.request.Request(f"{running.url}/connectors", body, headers)).close()
        while committed(bootstrap, topic) < rows:
            if time.monotonic() - began > _TIMEOUT_SECONDS:
                sys.exit(f"Debezium has not read the table after {_TIMEOUT_SECONDS:.0f} s")
            time.sleep(0.1)
        seconds = time.monotonic() - began
    with superuser(stack) as client:
        client.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    return Figure("Debezium PostgreSQL snapshot", rows, seconds), running.memory.peak


def create_topic(bootstrap: str, name: str) -> None:
    """Create a topic of four partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, 4, 1)])[name].result()


def committed(bootstrap: str, topic: str) -> int:
    """Return where the topic's partitions end together; transactions add a record each."""
    settings: Mapping[str, str] = {"bootstrap.servers": bootstrap, "group.id": "bench"}
    consumer = Consumer(dict(settings))
    try:
        ends = [consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)[1] for number in range(4)]
    finally:
        consumer.close()
    return sum(ends)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--jars", type=Path, default=Path.home() / ".cache" / "connect-core" / "peers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        work = Path(folder)
        connectors = Path(record_lane_connectors.__file__)
        sys.path.insert(0, str(install(work / "plugin", connectors, {"bench.RecordsSource": "RecordsSource"})))
        stack = Stack(work / "stack", services=("postgres", "kafka", "spark"))
        stack.up()
        try:
            os.environ.update(stack.environment())
            fill(stack, arguments.records)
            figures = measured(stack, arguments.records, arguments.jars, work)
            title = f"{arguments.records:,} rows of PostgreSQL → Kafka, JSON (connect-core: exactly-once)"
            Console(width=140).print(report(title, figures, {0: COLUMNS_GOAL, 1: RECORDS_GOAL}))
        finally:
            stack.down()


def measured(stack: Stack, rows: int, jars: Path, work: Path) -> list[Measured]:
    """Return our figures, and the peer's where its jars are."""
    address = sa.make_url(os.environ["CONNECT_DATABASE_URL"])
    bootstrap = os.environ["CONNECT_BOOTSTRAP_SERVERS"]
    spark = stack.service("spark").pid or 0

    def all_ways() -> list[Measured]:
        return [ours(way, bootstrap, address, rows, spark) for way in WAYS]

    if not (jars / "plugins" / "debezium").exists():
        return all_ways()
    return beside(lambda time: debezium(bootstrap, stack, rows, jars, work / f"peer{time}"), all_ways)


if __name__ == "__main__":
    main()
