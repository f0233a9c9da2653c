"""PostgreSQL to Kafka and back, beside Debezium's connectors."""

from __future__ import annotations

from functools import cache, partial
from itertools import count

from connect_core.dev.secrets import secret
from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import connector
from tests.benchmarks.connector_runs import Moved, upsert_config
from tests.benchmarks.environment import Environment, committed

__all__ = [
    "ROWS",
    "SNAPSHOT",
    "UPSERT",
    "UPSERTS",
    "check_and_drop",
    "debezium_upsert",
    "drop_slots",
    "fill_envelopes",
    "fill_table",
    "kafka_to_table",
    "sink_values",
    "snapshot",
    "snapshot_values",
    "source_config",
    "table_to_kafka",
]

ROWS, UPSERTS = 1_000_000, 500_000
SNAPSHOT, UPSERT = "Kafka Connect, Debezium PostgreSQL snapshot", "Kafka Connect, Debezium JDBC sink"
_NUMBERS = count()
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
    name = f"snapshot{next(_NUMBERS)}"
    topic = f"{name}.public.orders"
    environment.create_topic(topic)
    values = snapshot_values(environment, name)
    body = connector("debezium/source.json", values, {"slot.name": name, "publication.name": name})
    done = environment.peer.pour(body, rows, lambda: committed(environment.bootstrap, topic))
    drop_slots(environment)
    return done


def snapshot_values(environment: Environment, name: str) -> dict[str, str]:
    """Return what fills the places in Debezium's source."""
    return {
        "NAME": name,
        "PREFIX": name,
        "PGPORT": str(environment.stack.service("postgres").port),
        "PGUSER": "postgres",
        "PGPASSWORD": secret(environment.stack.home, "postgres"),
        "PGDB": "connect",
    }


def drop_slots(environment: Environment) -> None:
    """Drop the replication slots that no connector uses any more."""
    with environment.superuser() as client:
        client.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")


def kafka_to_table(environment: Environment, records: int = UPSERTS) -> Work:
    """JSON with its schema, upserted by key."""
    fill_envelopes(environment, records)
    ways = [Way("connect-core, JdbcSink, 4 tasks", partial(upsert, environment, records))]
    if environment.peer:
        ways.append(Way(UPSERT, partial(debezium_upsert, environment, records)))
    goals = [Goal(UPSERT, 6, limits_cpu=True)] if environment.peer else []
    return Work("kafka-to-table", f"{records:,} JSON orders with schema → PostgreSQL upsert", ways, goals)


@cache
def fill_envelopes(environment: Environment, records: int) -> None:
    """Write the topic of orders with their schema."""
    environment.fill_with_orders("envelopes", records, "--envelope")


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
    number = next(_NUMBERS)
    table = f"debezium_{number}"
    values = sink_values(environment, table, f"debezium-{number}")
    done = environment.peer.drain("envelopes", connector("debezium/sink.json", values), environment.folder)
    check_and_drop(environment, table, records)
    return done


def sink_values(environment: Environment, table: str, name: str) -> dict[str, str]:
    """Return what fills the places in Debezium's sink."""
    address = environment.database
    return {
        "TOPIC": "envelopes",
        "NAME": name,
        "PGHOSTPORT": f"{address.host}:{address.port}",
        "PGDB": str(address.database),
        "PGUSER": str(address.username),
        "PGPASSWORD": str(address.password),
        "TABLE": table,
    }


def check_and_drop(environment: Environment, table: str, records: int) -> None:
    """Drop a table that has all records. Raise RuntimeError if it has not."""
    _check(environment, table, records)
    with environment.superuser() as client:
        client.execute(f"DROP TABLE {table}")


def _check(environment: Environment, table: str, records: int) -> None:
    with environment.superuser() as client:
        found = client.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    if found != (records,):
        raise RuntimeError(f"{table} has {found} rows, not {records}")
