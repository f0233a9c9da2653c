"""The standalone worker: database, Spark session, connectors and REST in one process."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from connect_core.configs import ConnectorConfig, Redaction, SecretBox
from connect_core.effects.worker import ConnectorWorker
from connect_core.interval.runs import RunIdentity
from connect_core.interval.values import Plan, TaskResult
from connect_core.java_plugins.redaction import redacting
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.run.runner import ThreadRunner
from connect_core.settings import WorkerSettings
from connect_core.spark.runner import SparkRunner
from connect_core.standalone.loop import ConnectorLoop
from connect_core.standalone.process_lock import ProcessLock
from connect_core.standalone.scheduler import StandaloneScheduler
from connect_core.standalone.sealing import seal_stored
from connect_core.standalone.session import ProcessSession
from connect_core.standalone.sweeper import Sweeper
from connect_core.store import Database, connectors, deployment, leases, migrate
from connect_core.store.retention import Retention

__all__ = ["StandaloneWorker", "open_standalone"]

_LOG = logging.getLogger(__name__)
_RUN = "standalone-"
"""The prefix of the ids of standalone runs; one process is one run."""
_CONNECTORS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _ChosenRunner:
    """Runs a connector's tasks in Spark, or in this process if they are bound to it, as by standard input."""

    worker: ConnectorWorker
    session: ProcessSession

    def run(self, plan: Plan) -> Sequence[TaskResult]:
        if not plan.tasks:
            # All results of an earlier try are valid: only the commit is left.
            return ()
        raw = plan.tasks[0].connector_config
        with redacting(Redaction(raw).texts):
            config = ConnectorConfig.parse(raw, self.worker.settings)
        if config.connector().is_bound_to_process(config.resolved):
            return ThreadRunner().run(plan)
        return SparkRunner(self.session.get()).run(plan)

    def interrupt(self, tag: str) -> None:
        """Do nothing: the job ends with its process."""


@dataclass(slots=True)
class StandaloneWorker:
    """One process that runs every connector stored in its database."""

    settings: WorkerSettings
    database: Database
    scheduler: StandaloneScheduler
    _session: ProcessSession
    lock: ProcessLock | None = None
    _sweeping: threading.Event = field(default_factory=threading.Event)

    def deploy_all(self) -> None:
        """Start the thread of every stored connector, and the sweeper's."""
        Sweeper(self.database, Retention.of(self.settings), self._sweeping).start()
        with self.database.read() as connection:
            names = connectors.list_names(connection)
        for name in names:
            self.scheduler.deploy(name)

    def ask_to_stop(self) -> None:
        """Ask every connector to end at its next commit point."""
        self._sweeping.set()
        self.scheduler.ask_to_stop()
        self._session.refuse()

    def stop(self, seconds: float = _CONNECTORS_SECONDS) -> bool:
        """End every connector at its next commit point, then Spark → whether all connectors ended in time."""
        self.ask_to_stop()
        if not self.scheduler.join(seconds):
            _LOG.warning("Not all connectors reached a commit point within %.0f s", seconds)
            return False
        self._session.stop()
        self.database.close()
        if self.lock is not None:
            self.lock.release()
        return True


def open_standalone(settings: WorkerSettings, session: ProcessSession) -> StandaloneWorker:
    """Open the worker over its own database, whose identity names the deployment.

    Without a key to seal passwords, one is created beside the database; passwords stored in plain text are sealed.

    Raises ConfigError if another process uses its file, RetriableError if database or brokers are down.
    """
    lock = _lock(settings)
    migrate(settings.database_url)
    database = Database(settings.database_url)
    with database.write() as connection:
        settings = settings.with_standalone_id(deployment.identity(connection))
        if lock is not None:
            # No other process uses this database: previous holders are dead, and their leases need not expire.
            leases.release_runs(connection, _RUN)
    key = settings.standalone_key
    if settings.secret_key_file is None:
        SecretBox.make(key)
    settings = settings.with_secret_key(key)
    if settings.secret_key_file is not None:
        seal_stored(database, settings.secret_key_file)
    create_internal_topics(settings)
    run_id = f"{_RUN}{uuid.uuid4().hex[:8]}"

    def make_loop(name: str) -> ConnectorLoop:
        identity = RunIdentity(run_id, f"{settings.advertised.host}:{settings.advertised.port}")
        worker = ConnectorWorker(settings, database, name, identity)
        return ConnectorLoop(worker, _ChosenRunner(worker, session))

    def is_stored(name: str) -> bool:
        with database.read() as connection:
            return connectors.find(connection, name) is not None

    return StandaloneWorker(settings, database, StandaloneScheduler(make_loop, is_stored), session, lock)


def _lock(settings: WorkerSettings) -> ProcessLock | None:
    """Take the lock of the database's file; with a database server, leases alone separate processes."""
    file = settings.standalone_database
    is_file = settings.database_url == f"sqlite:///{file}" and file.parent.is_dir()
    return ProcessLock.take(file) if is_file else None
