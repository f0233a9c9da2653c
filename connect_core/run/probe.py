"""Looking for work of many waiting connectors at once, for the triggerer's watcher.

An error of one connector, including its plugin's code, does not affect the others.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.source import SourceConnector
from connect_core.configs import ConfigProviders, ConnectorConfig, Redaction, providers_of
from connect_core.effects.closed_topics import closed_topics
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, RetriableError
from connect_core.herder.readiness import Readiness, lacks_assignment, readiness
from connect_core.interval.values import ConnectorType, IntervalSettings, PartitionEnds
from connect_core.interval.waits import Check, WaitState
from connect_core.java_plugins.redaction import redacting
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.partition_ends import LeaderChangingError
from connect_core.plan.bounds import has_records
from connect_core.settings import WorkerSettings
from connect_core.store import Database, offsets, statuses
from connect_core.store.statuses import ConnectorFacts

__all__ = ["ConnectorProbe", "open_probe"]

_LOG = logging.getLogger(__name__)

Ends = Mapping[TopicPartition, PartitionEnds]

_MOST_KEPT = 20_000
_KEPT_SECONDS = 30.0
"""How long a configuration is cached unless it is replaced: its secrets may change."""

_CHECKS = {Readiness.DUE: Check.NOW, Readiness.HELD: Check.NEVER}


@dataclass(slots=True)
class ConnectorProbe:
    """Finds the connectors that have work; its calls block, and may come from several threads."""

    settings: WorkerSettings
    database: Database
    admin: KafkaAdmin
    providers: ConfigProviders = field(default_factory=ConfigProviders)
    _workers: dict[str, ConnectorWorker] = field(default_factory=dict)
    _configs: dict[str, _WatchedConfig] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait_states(self, connectors: Sequence[str]) -> Mapping[str, WaitState]:
        """Return the wait state of each connector, by one query; deleted ones are left out."""
        with self.database.read() as connection:
            facts = statuses.load_facts(connection, connectors)
        now = datetime.now(UTC)
        return {
            one.name: replace(
                self._isolated_wait_state(one, readiness(one, now)),
                since_run=one.lease_age,
                committed_at=one.committed_at,
            )
            for one in facts
        }

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Return those with records to read, by one batched ``list_offsets``; and those only a run can report on."""
        with self.database.read() as connection:
            facts = statuses.load_facts(connection, connectors)
            stored = offsets.load_all(connection, connectors, ConnectorType.SINK)
        found: list[str] = []
        configs: dict[str, IntervalSettings] = {}
        for one in facts:
            try:
                configs[one.name] = self._watched_config(one).settings
            except Exception as error:
                self._leave_to_its_run(one, error)
                found.append(one.name)
        ends = self._ends_of_all(configs.values())
        asked = (name for name, settings in configs.items() if self._is_due(name, settings, ends, stored.get(name, {})))
        return [*found, *asked]

    def _ends_of_all(self, configs: Iterable[IntervalSettings]) -> Ends | None:
        """Return the ends of all named topics; ``None`` if one of the topics makes the request fail for the others."""
        named = sorted({topic for settings in configs for topic in settings.topics})
        try:
            return self.admin.partition_ends(tuple(named))
        except RetriableError as error:
            if not isinstance(error, LeaderChangingError):
                raise
            _LOG.warning("The topics of waiting sinks are queried for one connector at a time: %s", error)
        except ConnectError as error:
            _LOG.warning("The topics of waiting sinks are queried for one connector at a time: %s", error)
        return None

    def _is_due(self, name: str, settings: IntervalSettings, ends: Ends | None, stored: Mapping[str, Any]) -> bool:
        try:
            if settings.topics_regex or ends is None:
                mine = self.admin.partition_ends(settings.topics, settings.topics_regex)
            else:
                mine = {part: end for part, end in ends.items() if part.topic in settings.topics}
            return has_records(offsets.sink_positions(stored), mine)
        except RetriableError as error:
            _LOG.warning("Connector %s will be checked again later: %s", name, error)
            return False
        except Exception as error:
            _log_left(name, error)
            return True

    def source_has_data(self, connector: str) -> bool:
        """Return whether ``SourceConnector.latest`` is beyond the committed offsets."""
        with self._lock:
            worker = self._workers.setdefault(connector, ConnectorWorker(self.settings, self.database, connector))
        return bool(worker.has_data())

    def assign(self, connector: str) -> bool:
        """Assign the tasks of a connector that lacks nothing else → whether a run has to do it. Raises ConnectError."""
        worker = ConnectorWorker(self.settings, self.database, connector)
        try:
            return not worker.assign()
        finally:
            worker.close()

    def _isolated_wait_state(self, facts: ConnectorFacts, ready: Readiness) -> WaitState:
        try:
            return self._wait_state(facts, ready)
        except Exception as error:
            self._leave_to_its_run(facts, error)
            return WaitState(Check.NOW)

    def _wait_state(self, facts: ConnectorFacts, ready: Readiness) -> WaitState:
        if ready is Readiness.DUE and lacks_assignment(facts):
            return WaitState(Check.ASSIGN)
        if ready in _CHECKS:
            return WaitState(_CHECKS[ready])
        if facts.type is ConnectorType.SINK:
            return WaitState(Check.SINK)
        config = self._watched_config(facts)
        check = Check.LATEST if config.has_bound else Check.POLL
        return WaitState(check, config.poll_seconds)

    def _leave_to_its_run(self, facts: ConnectorFacts, error: Exception) -> None:
        _log_left(facts.name, Redaction(facts.config, self.providers, facts.name).clean(error))

    def _watched_config(self, facts: ConnectorFacts) -> _WatchedConfig:
        """Return the cached part of a configuration: reading hundreds of them every second takes a core."""
        kept = self._configs.get(facts.name)
        if kept is not None and kept.version == facts.config_version and time.monotonic() < kept.until:
            return kept
        # Entries of deleted connectors are removed with all the others.
        if len(self._configs) > _MOST_KEPT:
            self._configs.clear()
        name = facts.name
        with redacting(Redaction(facts.config, self.providers, name).texts):
            config = ConnectorConfig.parse(
                facts.config, self.settings, lambda raw: self.providers.resolve(raw, name), name
            )
        has_bound = facts.type is ConnectorType.SOURCE and _has_bound(config)
        poll_seconds = config.values["source.poll.interval.ms"] / 1000 if facts.type is ConnectorType.SOURCE else 0.0
        # Spread the expiry, though all may have been read at once.
        until = time.monotonic() + _KEPT_SECONDS * random.uniform(0.5, 1.5)
        kept = _WatchedConfig(facts.config_version, until, config.interval_settings(), has_bound, poll_seconds)
        self._configs[facts.name] = kept
        return kept


@dataclass(frozen=True, slots=True)
class _WatchedConfig:
    """The part of a connector's configuration that is read every second."""

    version: int
    until: float
    settings: IntervalSettings
    has_bound: bool
    poll_seconds: float


def _has_bound(config: ConnectorConfig) -> bool:
    return type(config.connector()).latest is not SourceConnector.latest  # type: ignore[attr-defined]


def open_probe(settings: WorkerSettings, database: Database) -> ConnectorProbe:
    """Return the probe of a deployment; it connects to nothing before its first use."""
    clients = KafkaClients(settings.resolved, client_id="connect-watcher")
    admin = KafkaAdmin(clients, closed_topics(settings, database))
    return ConnectorProbe(settings, database, admin, providers_of(settings, os.environ))


def _log_left(name: str, error: BaseException) -> None:
    """Log why a connector is started without a check: its run fails by the same error, and its status shows it."""
    _LOG.warning("Connector %s cannot be inspected, its run will tell why: %s", name, error)
