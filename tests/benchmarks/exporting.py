"""One export measured through the very loop that production runs: lease, plan, Spark job, commit."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.configs import load_worker
from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.runs import RunRequest
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.settings import WorkerMode
from connect_core.spark.remote import remote_runner
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig

RUNS, WARMING = 5, 2
"""How often a way is run, and how many of these only warm the session."""


@dataclass(frozen=True)
class Exported:
    """What one run moved, and how long from taking the lease to giving it back."""

    records: int
    seconds: float


def typical(runs: Sequence[Exported]) -> Exported:
    """Return the median of the runs in a warm session."""
    return sorted(runs[WARMING:], key=lambda run: run.seconds)[(len(runs) - WARMING) // 2]


class Export:
    """Runs FileSystemSink over a topic, in the environment's stack."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def create_topic(self, name: str, partitions: int) -> None:
        """Create a topic."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result()

    def run(self, path: Path, topic: str, tasks: int) -> Exported:
        """Export the topic again and again under new names; return the typical run."""
        names = (f"export-{number}" for number in range(RUNS))
        return typical([self.once(path, sink_config(name, path / name, topic, tasks)) for name in names])

    def once(self, root: Path, config: Mapping[str, Any]) -> Exported:
        """Run a new sink, which may write below ``root``'s folder, to the end of its topic."""
        os.environ["CONNECT_FILE_ROOTS"] = str(root.parent)
        settings = load_worker(None, os.environ, WorkerMode.DISTRIBUTED)
        migrate(settings.database_url)
        create_internal_topics(settings)
        database, name = Database(settings.database_url), str(config["name"])
        with database.write() as connection:
            connectors.create(connection, name, NewConfig(ConnectorType.SINK, dict(config)), TargetState.STARTED)
        worker = ConnectorWorker(settings, database, name)
        runner = remote_runner(settings)
        began = time.monotonic()
        outcome = work_off(RunRequest(name, "benchmark"), Driver(worker), runner)
        seconds = time.monotonic() - began
        worker.close()
        database.close()
        return Exported(outcome.records, seconds)


def sink_config(name: str, path: Path, topic: str, tasks: int) -> dict[str, Any]:
    """Return the connector of the benchmark: mask a field, insert one, write Parquet."""
    return {
        "name": name,
        "connector.class": "FileSystemSink",
        "tasks.max": str(tasks),
        "topics": topic,
        "path": str(path),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "mask,insert",
        "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.mask.fields": "ssn",
        "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.insert.static.field": "source",
        "transforms.insert.static.value": "orders",
    }
