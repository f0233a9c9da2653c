"""Looking for work of many waiting connectors at once, for the triggerer's watcher."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from connect_core.api.records import TopicPartition
from connect_core.api.source import SourceConnector
from connect_core.configs import ConnectorConfig
from connect_core.effects.worker import ConnectorWorker
from connect_core.herder.readiness import Readiness, readiness
from connect_core.interval.values import ConnectorType, PartitionEnds
from connect_core.interval.waits import Check, Standing
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.settings import WorkerSettings
from connect_core.store import Database, offsets, statuses
from connect_core.store.statuses import ConnectorFacts

__all__ = ["ConnectorProbe", "open_probe"]

_CHECKS = {Readiness.DUE: Check.NOW, Readiness.HELD: Check.NEVER}


@dataclass(slots=True)
class ConnectorProbe:
    """Answers which connectors have work; its calls block, and come from several threads."""

    settings: WorkerSettings
    database: Database
    admin: KafkaAdmin
    _workers: dict[str, ConnectorWorker] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def standings(self, connectors: Sequence[str]) -> Mapping[str, Standing]:
        """Return how each stands, by one query; those that are gone are left out."""
        with self.database.read() as connection:
            facts = statuses.load_facts(connection, connectors)
        now = datetime.now(UTC)
        return {one.name: self._standing(one, readiness(one, now)) for one in facts}

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Return those with records to read, by one batched ``list_offsets``."""
        with self.database.read() as connection:
            facts = statuses.load_facts(connection, connectors)
            stored = {name: offsets.load(connection, name, ConnectorType.SINK) for name in connectors}
        configs = {one.name: self._parsed(one).interval_settings() for one in facts}
        named = sorted({topic for settings in configs.values() for topic in settings.topics})
        ends = self.admin.partition_ends(tuple(named), None, None)
        found: list[str] = []
        for name, settings in configs.items():
            if settings.topics_regex:
                mine = self.admin.partition_ends((), settings.topics_regex, None)
            else:
                mine = {part: end for part, end in ends.items() if part.topic in settings.topics}
            if _has_more(mine, offsets.sink_positions(stored[name])):
                found.append(name)
        return found

    def source_has_data(self, connector: str) -> bool:
        """Return whether ``SourceConnector.latest`` lies beyond the committed offsets."""
        with self._lock:
            worker = self._workers.setdefault(connector, ConnectorWorker(self.settings, self.database, connector))
        return bool(worker.has_data())

    def _standing(self, facts: ConnectorFacts, ready: Readiness) -> Standing:
        if ready in _CHECKS:
            return Standing(_CHECKS[ready])
        if facts.type is ConnectorType.SINK:
            return Standing(Check.SINK)
        config = self._parsed(facts)
        has_bound = type(config.connector()).latest is not SourceConnector.latest  # type: ignore[attr-defined]
        return Standing(Check.LATEST if has_bound else Check.POLL, config.values["source.poll.interval.ms"] / 1000)

    def _parsed(self, facts: ConnectorFacts) -> ConnectorConfig:
        return ConnectorConfig.parse(facts.config, self.settings)


def open_probe(settings: WorkerSettings, database: Database) -> ConnectorProbe:
    """Return the probe of a deployment; nothing is connected before it is asked."""
    return ConnectorProbe(settings, database, KafkaAdmin(KafkaClients(settings.resolved, client_id="connect-watcher")))


def _has_more(ends: Mapping[TopicPartition, PartitionEnds], positions: Mapping[TopicPartition, int]) -> bool:
    return any(end.stable > positions.get(part, end.earliest) for part, end in ends.items())
