"""A connector run through the very loop that production runs: lease, plan, Spark job, commit."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import sqlalchemy as sa

from connect_core.configs import load_worker
from connect_core.dag.scheduler import RequestingScheduler
from connect_core.effects.worker import ConnectorWorker
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_offsets
from connect_core.herder.topic_ends import TopicEnds
from connect_core.herder.verification import Verification, verify
from connect_core.interval.runs import RunRequest
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.run.runner import TaskRunner
from connect_core.settings import WorkerMode
from connect_core.spark.remote import remote_runner
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig


@dataclass(frozen=True)
class Moved:
    """What one run moved, and how long from taking the lease to giving it back."""

    records: int
    seconds: float


class ConnectorRuns:
    """One connector in the environment's stack; each ``run`` moves what is there."""

    def __init__(
        self,
        name: str,
        config: Mapping[str, str],
        kind: ConnectorType = ConnectorType.SINK,
        runner: TaskRunner | None = None,
    ) -> None:
        """``runner``: what runs tasks; by default the stack's Spark."""
        settings = load_worker(None, os.environ, WorkerMode.DISTRIBUTED)
        migrate(settings.database_url)
        create_internal_topics(settings)
        self._name = name
        self._database = Database(settings.database_url)
        with self._database.write() as connection:
            wanted = NewConfig(kind, dict(config))
            connectors.create(connection, name, wanted, TargetState.STARTED)
        self._settings = settings
        self._runner = runner or remote_runner(settings)

    def __enter__(self) -> ConnectorRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def run(self) -> Moved:
        """Run once, as an Airflow task does."""
        worker = ConnectorWorker(self._settings, self._database, self._name)
        began = time.monotonic()
        try:
            outcome = work_off(RunRequest(self._name, f"run-{time.monotonic_ns()}"), Driver(worker), self._runner)
        finally:
            worker.close()
        return Moved(outcome.records, time.monotonic() - began)

    def recounted(self) -> Verification:
        """Recount what was written, as ``connect verify`` does."""
        ends = TopicEnds(KafkaAdmin(KafkaClients(self._settings.resolved)))
        scheduler = RequestingScheduler(self._database)
        return verify(Herder(self._database, self._settings, scheduler, rewrite_offsets, ends=ends), self._name)


def upsert_config(
    name: str, topic: str, address: sa.URL, with_schema: bool, extra: Mapping[str, str]
) -> dict[str, str]:
    """Return a sink that upserts a topic by ``id`` into the schema ``jdbc_it`` of a PostgreSQL database."""
    place = f"{address.host}:{address.port}/{address.database}?currentSchema=jdbc_it"
    return {
        "name": name,
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic,
        "connection.url": f"jdbc:postgresql://{place}",
        "connection.user": str(address.username),
        "connection.password": str(address.password),
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "auto.create": "true",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": str(with_schema).lower(),
        **extra,
    } | ({} if with_schema else {"auto.create": "false"})
