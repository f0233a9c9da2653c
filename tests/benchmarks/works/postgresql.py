"""PostgreSQL to Kafka and back, beside Debezium's connectors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from connect_core.dev.secrets import secret
from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import connector
from tests.benchmarks.connector_runs import Moved, upsert_config
from tests.benchmarks.environment import Environment, committed

__all__ = ["fill_table", "kafka_to_table", "source_config", "table_to_kafka"]

ROWS, UPSERTS = 1_000_000, 500_000
SNAPSHOT, UPSERT = "Kafka Connect, Debezium PostgreSQL snapshot", "Kafka Connect, Debezium JDBC sink"
TASKS = 2
"""Tasks that share a table in mode ``bulk``, which is what a snapshot is."""
_BULK = {"mode": "bulk", "tasks.max": str(TASKS)}
_FOLLOWING = {"mode": "incrementing", "incrementing.column.name": "id"}
_WAYS = {
    f"connect-core, columns, bulk, {TASKS} tasks": ("JdbcSource", _BULK),
    f"connect-core, records, bulk, {TASKS} tasks": ("bench.RecordsSource", _BULK),
    "connect-core, columns, incrementing, 1 task": ("JdbcSource", _FOLLOWING),
}
"""Way → the connector's class, and how it reads."""
_TABLE = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, amount double precision, qty integer NOT NULL,
    status text NOT NULL, ssn text, ts timestamptz NOT NULL);
INSERT INTO orders SELECT i, 'customer-' || i % 10007, round((random() * 1000)::numeric, 2), i % 17,
    (ARRAY['NEW', 'PAID', 'SHIPPED'])[i % 3 + 1], '123-45-' || lpad((i % 10000)::text, 4, '0'),
    to_timestamp(1700000000 + i) FROM generate_series(0, {last}) AS i;
"""


def table_to_kafka(environment: Environment, rows: int = ROWS) -> Work:
    """A whole table as JSON."""
    fill_table(environment, rows)
    ways = [Way(name, partial(read, environment, name, rows)) for name in _WAYS]
    if environment.peer:
        ways.append(Way(SNAPSHOT, partial(snapshot, environment, rows)))
    title = f"{rows:,} rows of PostgreSQL → Kafka JSON (ours: exactly-once)"
    return Work("table-to-kafka", title, ways, [Goal(SNAPSHOT, 8, limits_cpu=True)] if environment.peer else [])


def fill_table(environment: Environment, rows: int) -> None:
    """Let the server keep what Debezium needs, and make the table unless it is there."""
    with environment.superuser() as client:
        if client.execute("SELECT to_regclass('orders')").fetchone() != (None,):
            return
        client.execute("ALTER SYSTEM SET wal_level = 'logical'")
    environment.stack.service("postgres").restart()
    with environment.superuser() as client:
        client.execute(_TABLE.format(last=rows - 1))
        client.execute("GRANT SELECT ON orders TO connect")
        client.execute("VACUUM ANALYZE orders")


def source_config(name: str, kind: str, environment: Environment) -> dict[str, str]:
    """Return a source of the table, but for its mode."""
    address = environment.database
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


def read(environment: Environment, way: str, rows: int, turn: int) -> Moved:
    """Run a new source of ours."""
    kind, mode = _WAYS[way]
    name = f"table-{list(_WAYS).index(way)}-{turn}"
    environment.create_topic(f"{name}-orders")
    return environment.source(source_config(name, kind, environment) | mode, f"{name}-orders", rows)


def snapshot(environment: Environment, rows: int, turn: int) -> Moved:
    """Run Debezium's snapshot of the table, at-least-once."""
    assert environment.peer is not None
    name = f"snapshot{turn}"
    topic = f"{name}.public.orders"
    environment.create_topic(topic)
    values = {
        "NAME": name,
        "PREFIX": name,
        "PGPORT": str(environment.stack.service("postgres").port),
        "PGUSER": "postgres",
        "PGPASSWORD": secret(environment.stack.home, "postgres"),
        "PGDB": "connect",
    }
    body = connector("debezium/source.json", values, {"slot.name": name, "publication.name": name})
    done = environment.peer.pour(body, rows, lambda: committed(environment.bootstrap, topic))
    with environment.superuser() as client:
        client.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    return done


def kafka_to_table(environment: Environment, records: int = UPSERTS) -> Work:
    """JSON with its schema, upserted by key."""
    environment.fill_with_orders("envelopes", records, "--envelope")
    ways = [Way("connect-core, JdbcSink, 4 tasks", partial(upsert, environment, records))]
    if environment.peer:
        ways.append(Way(UPSERT, partial(debezium_upsert, environment, records)))
    goals = [Goal(UPSERT, 6, limits_cpu=True)] if environment.peer else []
    return Work("kafka-to-table", f"{records:,} JSON orders with schema → PostgreSQL upsert", ways, goals)


def upsert(environment: Environment, records: int, turn: int) -> Moved:
    """Run a new sink of ours into a new table."""
    with environment.superuser() as client:
        client.execute("DROP SCHEMA IF EXISTS jdbc_it CASCADE")
        client.execute("CREATE SCHEMA jdbc_it AUTHORIZATION connect")
    config = upsert_config(f"upsert-{turn}", "envelopes", environment.database, True, {"tasks.max": "4"})
    done = environment.sink(config)
    _check(environment, "jdbc_it.envelopes", records)
    return done


def debezium_upsert(environment: Environment, records: int, turn: int) -> Moved:
    """Run Debezium's sink into a new table."""
    assert environment.peer is not None
    address, table = environment.database, f"debezium_{turn}"
    values: Mapping[str, str] = {
        "TOPIC": "envelopes",
        "NAME": f"debezium-{turn}",
        "PGHOSTPORT": f"{address.host}:{address.port}",
        "PGDB": str(address.database),
        "PGUSER": str(address.username),
        "PGPASSWORD": str(address.password),
        "TABLE": table,
    }
    done = environment.peer.drain("envelopes", connector("debezium/sink.json", values), environment.folder)
    _check(environment, table, records)
    with environment.superuser() as client:
        client.execute(f"DROP TABLE {table}")
    return done


def _check(environment: Environment, table: str, records: int) -> None:
    with environment.superuser() as client:
        found = client.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    if found != (records,):
        raise RuntimeError(f"{table} has {found} rows, not {records}")
