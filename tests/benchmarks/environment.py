"""What all works share: the private servers, a worker of Apache Kafka Connect, and connectors of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import sqlalchemy as sa
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.dev.secrets import secret
from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connect_worker import PEER, ConnectWorker, connect_worker, fetch_jars
from tests.benchmarks.connector_runs import ConnectorRuns, Moved
from tests.integration.distribution import install
from tests.schema_registry.apicurio_converter import converter_folder

__all__ = ["PARTITIONS", "Environment", "benchmark_environment", "committed"]

PARTITIONS = 4
_VISIBLE_SECONDS = 30
_CLASSES = {"bench.RecordsSource": ("integration/record_lane_connectors.py", "RecordsSource"),
            "bench.PythonMask": ("benchmarks/python_mask.py", "PythonMask")}  # fmt: skip


@dataclass(frozen=True)
class Environment:
    """Running servers. ``peer`` is ``None`` where Apache Kafka Connect is left out."""

    stack: Stack
    folder: Path
    jars: Path
    peer: ConnectWorker | None

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        return os.environ["CONNECT_BOOTSTRAP_SERVERS"]

    @property
    def database(self) -> sa.URL:
        """The PostgreSQL database that connectors read and write."""
        return sa.make_url(os.environ["CONNECT_DATABASE_URL"])

    def create_topic(self, name: str) -> None:
        """Create a topic."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()

    def fill_with_orders(self, topic: str, records: int, *options: str) -> None:
        """Write JSON orders, which makes the topic."""
        command: list[str | Path] = [sys.executable, PEER / "orders.py", self.bootstrap, topic, str(records), *options]
        subprocess.run(command, check=True)

    def sink(self, config: Mapping[str, str]) -> Moved:
        """Run a new sink of ours to the end of its topics."""
        with ConnectorRuns(config["name"], config) as export:
            return export.run()

    def source(self, config: Mapping[str, str], topic: str, rows: int) -> Moved:
        """Run a new source of ours until ``rows`` are in its topic. Raise RuntimeError if they are not."""
        moved, seconds = 0, 0.0
        with ConnectorRuns(config["name"], config, ConnectorType.SOURCE) as export:
            while moved < rows:
                done = export.run()
                if not done.records:
                    break
                moved, seconds = moved + done.records, seconds + done.seconds
        # A transaction's markers are written shortly after its commit is answered.
        deadline = time.monotonic() + _VISIBLE_SECONDS
        while (seen := committed(self.bootstrap, topic)) < rows and time.monotonic() < deadline:
            time.sleep(0.05)
        if moved < rows or seen < rows:
            raise RuntimeError(f"{topic}: {rows} rows, {moved} moved, {seen} seen")
        return Moved(moved, seconds)

    @contextmanager
    def superuser(self) -> Iterator[psycopg.Connection]:
        """Open a connection to PostgreSQL that may do anything."""
        place = f"host=127.0.0.1 port={self.stack.service('postgres').port} dbname=connect user=postgres"
        with psycopg.connect(f"{place} password={secret(self.stack.home, 'postgres')}", autocommit=True) as client:
            yield client


def committed(bootstrap: str, topic: str) -> int:
    """Return where the topic's partitions end together, 0 before all have a leader; transactions add a record each."""
    settings: Mapping[str, str] = {"bootstrap.servers": bootstrap, "group.id": "bench"}
    consumer = Consumer(dict(settings))
    try:
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        return sum(consumer.get_watermark_offsets(one, timeout=10)[1] for one in partitions)
    except KafkaException as failure:
        if failure.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
            raise
        return 0
    finally:
        consumer.close()


@contextmanager
def benchmark_environment(folder: Path, jars: Path, *, has_peer: bool) -> Iterator[Environment]:
    """Start the servers for the block."""
    for entry, (module, kind) in _CLASSES.items():
        place = install(folder / "plugins" / kind, Path(__file__).parents[1] / module, {entry: kind})
        sys.path.insert(0, str(place))
    stack = Stack(folder / "stack", services=("postgres", "kafka", "spark"))
    stack.up()
    try:
        os.environ.update(stack.environment())
        os.environ["CONNECT_FILE_ROOTS"] = str(folder)
        if not has_peer:
            yield Environment(stack, folder, jars, None)
            return
        (folder / "peer").mkdir()
        bootstrap = os.environ["CONNECT_BOOTSTRAP_SERVERS"]
        with connect_worker(bootstrap, fetch_jars(jars), folder / "peer", converter_folder(folder)) as worker:
            # Its threads have started by then.
            time.sleep(2)
            yield Environment(stack, folder, jars, worker)
    finally:
        stack.down()
