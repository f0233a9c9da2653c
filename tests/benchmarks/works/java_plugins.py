"""Java plugins in Java processes of ours, beside the very same jars in Connect."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import connector, fetch_jars
from tests.benchmarks.connector_runs import Moved
from tests.benchmarks.environment import Environment
from tests.benchmarks.works import postgresql, text_file

__all__ = ["debezium_snapshot", "file_to_kafka", "jdbc_upsert"]

OURS = "connect-core, Java process"
_JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
"""What Connect's worker has as defaults: our connectors have to say it."""
_POLL = "consumer.override.max.poll.records"
"""How many records a sink's task is given at once."""


def file_to_kafka(environment: Environment, records: int = text_file.RECORDS) -> Work:
    """Connect's FileStreamSource, HoistField and InsertField, all in Java."""
    _use_plugins(environment)
    folder = text_file.lines_folder(environment, records)
    ways = [Way(f"{OURS} (exactly-once)", partial(_file, environment, records))]
    if environment.peer:
        ways.append(Way(text_file.PEER_NAME, partial(text_file.theirs, environment, folder, records)))
    title = f"{records:,} lines of a text file → Java FileStreamSource → 2 Java transforms → Kafka JSON, 1 task"
    return Work("java-file-to-kafka", title, ways, _goals(environment, text_file.PEER_NAME, 1.3))


def debezium_snapshot(environment: Environment, rows: int = postgresql.ROWS) -> Work:
    """Debezium's snapshot of a table, and its transform."""
    _use_plugins(environment)
    postgresql.fill_table(environment, rows)
    ways = [Way(f"{OURS} (exactly-once)", partial(_snapshot, environment, rows))]
    if environment.peer:
        ways.append(Way(postgresql.SNAPSHOT, partial(postgresql.snapshot, environment, rows)))
    title = f"{rows:,} rows of PostgreSQL → Debezium's snapshot → Kafka JSON"
    return Work("java-debezium-snapshot", title, ways, _goals(environment, postgresql.SNAPSHOT, 1))


def jdbc_upsert(environment: Environment, records: int = postgresql.UPSERTS) -> Work:
    """Debezium's JDBC sink."""
    _use_plugins(environment)
    postgresql.fill_envelopes(environment, records)
    ways = [Way(f"{OURS}, 4 tasks", partial(_upsert, environment, records))]
    if environment.peer:
        ways.append(Way(postgresql.UPSERT, partial(postgresql.debezium_upsert, environment, records)))
    title = f"{records:,} JSON orders with schema → Debezium's JDBC sink → PostgreSQL upsert"
    return Work("java-jdbc-upsert", title, ways, _goals(environment, postgresql.UPSERT, 1))


def _goals(environment: Environment, peer: str, ratio: float) -> list[Goal]:
    return [Goal(peer, ratio)] if environment.peer else []


def _use_plugins(environment: Environment) -> None:
    """Let all workers of ours from now on prefer the peer's jars to native classes; they keep them to their end."""
    jars = fetch_jars(environment.jars)
    # Each folder in it is one plugin, with all its jars.
    os.environ["CONNECT_PLUGIN_PATH"] = str(jars / "plugins")
    os.environ["CONNECT_PLUGIN_DISCOVERY"] = "only_scan"
    os.environ["CONNECT_JAVA_PLUGIN_LIBS"] = str(jars / "runtime")
    os.environ["CONNECT_JAVA_PLUGINS_PREFERRED"] = "*"


def _file(environment: Environment, records: int, turn: int) -> Moved:
    name = f"java-lines-{turn}"
    environment.create_topic(name)
    values = {"NAME": name, "WORK": str(environment.folder / "lines"), "TOPIC": name}
    return environment.source(_config("runtime/file-source.json", values), name, records)


def _snapshot(environment: Environment, rows: int, turn: int) -> Moved:
    name = f"javasnapshot{turn}"
    topic = f"{name}.public.orders"
    environment.create_topic(topic)
    changes = {"slot.name": name, "publication.name": name}
    config = _config("debezium/source.json", postgresql.snapshot_values(environment, name), changes)
    done = environment.source(config, topic, rows)
    postgresql.drop_slots(environment)
    return done


def _upsert(environment: Environment, records: int, turn: int) -> Moved:
    table = f"java_debezium_{turn}"
    values = postgresql.sink_values(environment, table, f"java-debezium-{turn}")
    done = environment.sink(_config("debezium/sink.json", values))
    postgresql.check_and_drop(environment, table, records)
    return done


def _config(file: str, values: Mapping[str, str], changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a peer's connector for a worker of ours, which has its own producer settings but for the compression."""
    found: dict[str, str] = connector(file, values, changes)["config"]
    kept = {
        key: value for key, value in found.items() if not key.startswith(("producer.", "consumer.")) or key == _POLL
    }
    compressed = {"producer.override.compression.type": "lz4"} if any("producer." in key for key in found) else {}
    return _JSON | kept | compressed
