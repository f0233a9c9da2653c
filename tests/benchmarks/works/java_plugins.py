"""Java plugins in Java processes of ours, beside the very same jars in Connect."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from connect_core.interval.values import ConnectorType
from tests.benchmarks.comparison import Goal, Way, Work
from tests.benchmarks.connect_worker import connector, fetch_jars
from tests.benchmarks.connector_runs import ConnectorRuns, Moved
from tests.benchmarks.environment import Environment
from tests.benchmarks.works import postgresql, text_file

__all__ = ["debezium_snapshot", "file_to_kafka", "jdbc_upsert"]

OURS = "connect-core, new Java process"
NEXT = "connect-core, Java process of the interval before"
FIRST = 200_000
"""Records of the interval before: a process compiles its code as it moves them."""
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
    again = _FileAgain(environment, records)
    ways = [
        Way(f"{NEXT} (exactly-once)", again.run, again.prepare),
        Way(f"{OURS} (exactly-once)", partial(_file, environment, records)),
    ]
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
    again = _UpsertAgain(environment, records)
    ways = [
        Way(f"{NEXT}, 4 tasks", again.run, again.prepare),
        Way(f"{OURS}, 4 tasks", partial(_upsert, environment, records)),
    ]
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


@dataclass
class _FileAgain:
    """A source's second interval, over lines that were added after the first."""

    environment: Environment
    records: int
    _running: ConnectorRuns | None = None

    def prepare(self, turn: int) -> None:
        """Run the first interval, then add the lines that are measured."""
        name, lines = f"java-lines-again-{turn}", self.environment.folder / "lines" / "lines.txt"
        folder = self.environment.folder / name
        folder.mkdir()
        self.environment.create_topic(name)
        file = folder / "lines.txt"
        with lines.open("rb") as whole, file.open("wb") as part:
            part.writelines(islice(whole, FIRST))
        config = _config("runtime/file-source.json", {"NAME": name, "WORK": str(folder), "TOPIC": name})
        self._running = ConnectorRuns(name, config, ConnectorType.SOURCE)
        self._running.run()
        with lines.open("rb") as whole, file.open("ab") as part:
            shutil.copyfileobj(whole, part)

    def run(self, turn: int) -> Moved:
        """Run the second interval."""
        return _finished(self._running, self.records, self.environment.folder / f"java-lines-again-{turn}")


@dataclass
class _UpsertAgain:
    """A sink's second interval, over records that were added after the first."""

    environment: Environment
    records: int
    _running: ConnectorRuns | None = None

    def prepare(self, turn: int) -> None:
        """Run the first interval, then add the records that are measured."""
        name = f"java_debezium_again_{turn}"
        values = postgresql.sink_values(self.environment, name, name) | {"TOPIC": name}
        self.environment.fill_with_orders(name, min(FIRST, self.records), "--envelope")
        self._running = ConnectorRuns(name, _config("debezium/sink.json", values))
        self._running.run()
        self.environment.fill_with_orders(name, self.records, "--envelope", "--append")

    def run(self, turn: int) -> Moved:
        """Run the second interval."""
        done = _finished(self._running, self.records)
        postgresql.check_and_drop(self.environment, f"java_debezium_again_{turn}", self.records)
        return done


def _finished(running: ConnectorRuns | None, records: int, folder: Path | None = None) -> Moved:
    assert running is not None
    with running:
        done = running.run()
    if done.records != records:
        raise RuntimeError(f"{done.records} records moved, not {records}")
    if folder is not None:
        shutil.rmtree(folder)
    return done


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
