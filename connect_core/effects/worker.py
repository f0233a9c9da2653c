"""One connector on the driver: its row, its code and its Kafka clients, composed into one performer."""

from __future__ import annotations

import os
import socket
import threading
import traceback
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connect_core.configs import (
    ConfigProviders,
    ConnectorConfig,
    Redaction,
    providers_of,
    task_worker_properties,
    unresolve,
)
from connect_core.effects.closed_topics import closed_topics
from connect_core.effects.connectors import BY_CONNECTOR, ConnectorEffects, DriverContext
from connect_core.effects.group_owner import own_group
from connect_core.effects.kafka import ON_KAFKA, KafkaEffects
from connect_core.effects.perform import Handlers, perform
from connect_core.effects.store import StoreEffects
from connect_core.errors import ConnectError, LeaseLostError, RetriableError
from connect_core.interval.effects import Effect, LoadConnector, ReleaseLease
from connect_core.interval.runs import RunIdentity
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalSettings,
    Plan,
    SourceOffsets,
    TargetState,
)
from connect_core.java_plugins.redaction import redacting
from connect_core.kafka.ids import transactional_id
from connect_core.plan.interval import assign_tasks
from connect_core.plan.probe import has_data
from connect_core.plan.run import Run, begin_run
from connect_core.settings import WorkerSettings
from connect_core.settings.worker import IN_USE
from connect_core.store import Database, connectors, offsets
from connect_core.store.attempts import TaskProgress

__all__ = ["ConnectorWorker"]

_ASSIGN_SECONDS = 20.0
"""Seconds of the lease while tasks are assigned; whoever takes the connector after that voids the assignment."""


@dataclass(slots=True)
class ConnectorWorker:
    """Performs every effect of one connector's runs; follows its configuration as it changes."""

    settings: WorkerSettings
    database: Database
    name: str
    identity: RunIdentity = field(default_factory=RunIdentity)
    _connector: ConnectorEffects | None = None
    _kafka: KafkaEffects | None = None
    _started: tuple[int, int] | None = None
    """Version of the configuration in use; versions never restart for a name."""
    _config: ConnectorConfig | None = None
    _redaction: Redaction = field(default_factory=Redaction)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _handlers: Handlers = field(init=False)

    def __post_init__(self) -> None:
        self._handlers = {
            **self.store.handlers(),
            LoadConnector: self._load,
            **dict.fromkeys(ON_KAFKA, self._on_kafka),
            **dict.fromkeys(BY_CONNECTOR, self._by_connector),
        }

    @property
    def _providers(self) -> ConfigProviders:
        return providers_of(self.settings, os.environ)

    @property
    def store(self) -> StoreEffects:
        """The performer of effects on the metadata database."""
        return StoreEffects(self.database, self.identity)

    def handlers(self) -> Handlers:
        """Return the performer of every effect: always the same table; each call uses the configuration loaded last."""
        return self._handlers

    @property
    def is_loaded(self) -> bool:
        """Whether the connector was loaded; until then, only effects on the database can be performed."""
        return self._connector is not None

    def run_of(
        self, state: ConnectorState, holder: str, bound_time: datetime | None, since: datetime | None = None
    ) -> Run:
        """Return a run over the connector, not yet fenced; its settings are read by each plan."""
        return Run(
            connector=state.name,
            holder=holder,
            deployment=self.settings.deployment,
            worker=self._task_worker() if holder else {},
            state=state,
            settings=IntervalSettings(),
            settings_of=self.interval_settings,
            new_attempt_id=lambda: uuid.uuid4().hex[:12],
            transactional_id=transactional_id,
            bound_time=bound_time,
            since=since,
        )

    def _task_worker(self) -> dict[str, str]:
        """Return the worker's properties for its tasks, with the offsets topics of other connectors."""
        with self.database.read() as connection:
            in_use = sorted(connectors.offsets_topics(connection))
        return {**task_worker_properties(self.settings, os.environ), IN_USE: ",".join(in_use)}

    def interval_settings(self, state: ConnectorState) -> IntervalSettings:
        """Return the parts of the connector's configuration that plan and commit need."""
        return self.config_of(state).interval_settings()

    def reader(self, state: ConnectorState) -> ConnectorEffects:
        """Return the connector's object for reading only: nothing is claimed for it. Raises ConfigError."""
        self._redaction = Redaction(state.config, self._providers, state.name)
        return self._effects_of(state.name, state.config, self.config_of(state))

    @property
    def run_seconds(self) -> float:
        """Seconds after which a run begins no further interval (``run.max.ms``)."""
        return self._seconds("run.max.ms", 60.0)

    @property
    def linger_seconds(self) -> float:
        """Seconds that a run waits for more data before it ends (``run.linger.ms``)."""
        return self._seconds("run.linger.ms", 0.0)

    @property
    def poll_seconds(self) -> float:
        """Seconds between polls of an idle source without bounds (``source.poll.interval.ms``)."""
        return self._seconds("source.poll.interval.ms", 10.0)

    def _seconds(self, key: str, default: float) -> float:
        return default if self._config is None else self._config.values[key] / 1000

    def config_of(self, state: ConnectorState) -> ConnectorConfig:
        """Return the parsed configuration. Raises ConfigError."""
        return self._parse(state.name, state.config)

    def _parse(self, name: str, raw: Mapping[str, str]) -> ConnectorConfig:
        with redacting(Redaction(raw, self._providers, name).texts):
            return ConnectorConfig.parse(raw, self.settings, lambda given: self._providers.resolve(given, name), name)

    def renew_lease(self, holder: str, seconds: float) -> None:
        """Extend the connector's lease. Raises LeaseLostError."""
        if not self.store.renew_lease(self.name, holder, seconds):
            raise LeaseLostError(f"Another run has taken connector {self.name}")

    def is_unwanted(self, state: ConnectorState) -> bool:
        """Return whether a running interval should end at its next commit point."""
        if self._connector is not None and self._connector.context.is_reconfiguration_requested:
            return True
        signals = self.store.signals(self.name)
        if signals is None or signals.is_gone or signals.is_dag_paused or signals.is_restart_asked:
            return True
        changed = signals.incarnation != state.incarnation
        return changed or signals.target_state is not TargetState.STARTED

    def has_data(self) -> bool | None:
        """Return whether a plan may find work; ``None`` for a source that declares no bound."""
        handlers = self.handlers()
        try:
            state: ConnectorState = handlers[LoadConnector](LoadConnector(self.name))
            return perform(has_data(self.run_of(state, "", None)), handlers)
        except ConnectError as error:
            self.clean(error)
            raise

    def assign(self) -> bool:
        """Assign the connector's tasks without a run → whether they are assigned, or a current run is about to do so.

        Raises ConnectError: a run would fail with the same error, and record it.
        """
        handlers = self.handlers()
        holder = f"watcher-{uuid.uuid4().hex} {socket.gethostname()}"
        state = perform(begin_run(self.name, holder, _ASSIGN_SECONDS), handlers)
        if state is None:
            return True
        try:
            return perform(assign_tasks(self.run_of(state, holder, None)), handlers)
        except ConnectError as error:
            self.clean(error)
            raise
        finally:
            handlers[ReleaseLease](ReleaseLease(self.name, holder))

    def clean(self, error: ConnectError) -> None:
        """Remove the connector's secrets from an error before it is logged or stored."""
        self._redaction.clean(error)

    def record_failure(self, holder: str, error: ConnectError, *, has_tries_left: bool) -> None:
        """Record that what the connector's code or its plan raised makes it FAILED, or would after the last try."""
        trace = "".join(traceback.format_exception(error))
        is_retriable = isinstance(error, RetriableError)
        self.store.record_failure(self.name, holder, trace, is_retriable, has_tries_left=has_tries_left)

    def beat(self, plan: Plan, epoch: int, progress: Sequence[TaskProgress] = ()) -> None:
        """Record that the interval's driver is alive, and how far its tasks are."""
        self.store.heartbeat(plan.row.key, epoch, progress)

    def progress(self, plan: Plan) -> list[TaskProgress]:
        """Return the reported progress of the running tasks; the first call of an interval begins to listen."""
        assert self._kafka is not None
        attempts = {task.attempt_id for task in plan.tasks}
        return [
            TaskProgress(one.task, one.records, {str(part): offset for part, offset in one.positions.items()})
            for one in self._kafka.progress(plan.row.key)
            if one.attempt in attempts
        ]

    def ask_tasks_to_stop(self, plan: Plan) -> None:
        """Ask the running tasks to end at their next commit point."""
        assert self._kafka is not None
        self._kafka.ask_to_stop(plan.row.key)

    def close(self) -> None:
        """Stop the connector and close every client."""
        with self._lock:
            if self._connector is not None:
                self._connector.close()
            if self._kafka is not None:
                self._kafka.close()
            self._connector, self._kafka, self._started = None, None, None

    def _on_kafka(self, effect: Effect[Any]) -> Any:
        assert self._kafka is not None
        return self._kafka.perform(effect)

    def _by_connector(self, effect: Effect[Any]) -> Any:
        assert self._connector is not None
        return self._connector.perform(effect)

    def _load(self, effect: LoadConnector) -> ConnectorState:
        with self.database.read() as connection:
            state = connectors.get(connection, effect.connector)
        self._follow(state)
        return state

    def _follow(self, state: ConnectorState) -> None:
        """Recreate the connector's object when its configuration has changed.

        Raises ConfigError; RetriableError if ``group.id`` belongs to another database or was changed too early.
        """
        version = (state.incarnation, state.config_version)
        if version == self._started:
            return
        self.close()
        self._redaction = Redaction(state.config, self._providers, state.name)
        is_alone = self.settings.is_standalone
        database = self.settings.deployment if is_alone else own_group(self.settings, self.database)
        config = self.config_of(state)
        self._connector = self._effects_of(state.name, state.config, config)
        self._kafka = KafkaEffects.of(self.settings, config, closed_topics(self.settings, self.database), database)
        self._config, self._started = config, version

    def _effects_of(self, name: str, raw: Mapping[str, str], config: ConnectorConfig) -> ConnectorEffects:
        resolved = config.resolved
        return ConnectorEffects(
            config.connector(),
            DriverContext(
                name,
                self.settings.limits(),
                self.settings.deployment,
                lambda: self._source_offsets(name),
                Redaction(raw, self._providers, name),
            ),
            resolved,
            unresolve(raw, resolved),
            config.values["hook.timeout.ms"] / 1000,
            lambda earlier: self._effects_of(name, earlier, self._parse(name, earlier)),
        )

    def _source_offsets(self, name: str) -> SourceOffsets:
        with self.database.read() as connection:
            return offsets.load(connection, name, ConnectorType.SOURCE)
