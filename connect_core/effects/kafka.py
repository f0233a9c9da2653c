"""Effects on Kafka: epochs, fences, the offsets topic, partition ends and group offsets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.configs import ConnectorConfig
from connect_core.effects.perform import Handlers
from connect_core.errors import ConnectError, NotFoundError
from connect_core.interval.effects import (
    CommitGroupOffsets,
    Effect,
    FenceProducers,
    ForgetGroup,
    ReadGroupOffsets,
    ReadOffsetsTopic,
    ReadPartitionEnds,
    ReadTimeBounds,
    WriteEpoch,
    WriteOffsets,
)
from connect_core.interval.values import OffsetProjection, PartitionEnds
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.connector_claim import ConnectorClaim
from connect_core.kafka.control import ControlProducer, OffsetChanges, fence_producers, write_epoch, write_offsets
from connect_core.kafka.heartbeat import StatusTail, ask_to_stop
from connect_core.kafka.ids import control_id, transactional_id
from connect_core.kafka.marker_records import ConnectorOwner
from connect_core.kafka.markers import OffsetsTopic
from connect_core.kafka.progress import TaskReport
from connect_core.kafka.time_bounds import time_bounds
from connect_core.settings import WorkerSettings

__all__ = ["ON_KAFKA", "KafkaEffects"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class KafkaEffects:
    """Performs the Kafka effects of ``plan`` and ``commit``, for connectors of one deployment.

    Besides the errors of each effect: RetriableError when the brokers do not respond,
    ConnectError when they deny access.
    """

    clients: KafkaClients
    deployment: str
    offsets_topic: str
    status_topic: str
    internal: Callable[[], frozenset[str]] = frozenset
    """Returns topics that no pattern matches, besides the two above."""
    claim: ConnectorClaim | None = None
    """Whose source connectors are, in a topic that other deployments may use."""
    _admin: KafkaAdmin = field(init=False)
    _tail: StatusTail = field(init=False)
    _reports: dict[int, TaskReport] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._admin = KafkaAdmin(self.clients, lambda: {*self.internal(), self.offsets_topic, self.status_topic})
        self._tail = StatusTail(self.clients, self.status_topic)

    @classmethod
    def of(
        cls, settings: WorkerSettings, config: ConnectorConfig, internal: Callable[[], frozenset[str]], database: str
    ) -> KafkaEffects:
        """Return the performer for one connector: its client overrides, its own offsets topic.

        ``database``: the id of the metadata database.
        """
        clients = KafkaClients(settings.resolved, config.resolved, f"connect-{config.name}")
        offsets = config.offsets_topic or settings.offsets_topic.name
        owner = ConnectorOwner(settings.deployment, database)
        claim = ConnectorClaim(owner, settings.values.get("metadata.replaces") or "")
        return cls(clients, settings.deployment, offsets, settings.status_topic.name, internal, claim)

    def handlers(self) -> Handlers:
        """Return the performer of each effect this object performs."""
        return dict.fromkeys(ON_KAFKA, self.perform)

    def perform(self, effect: Effect[Any]) -> Any:
        """Perform one of the effects listed in ``ON_KAFKA``; return its result."""
        return ON_KAFKA[type(effect)](self, effect)

    def ask_to_stop(self, key: IntervalKey) -> None:
        """Tell an interval's running tasks to end at their next commit point; errors are logged.

        Tasks receive only requests sent after they began to listen: repeat it while they run.
        """
        try:
            ask_to_stop(self.clients, self.status_topic, key)
        except ConnectError as failure:
            _log.warning("The tasks of %s could not be asked to stop: %s", key.connector, failure)

    def progress(self, key: IntervalKey) -> list[TaskReport]:
        """Return the last report received from each task of an interval; not thread-safe.

        The first call begins to listen. Errors are logged.
        """
        try:
            heard = [report for report in self._tail.poll() if isinstance(report, TaskReport)]
        except ConnectError as failure:
            _log.warning("The progress of %s is unknown: %s", key.connector, failure)
            heard = []
        self._reports.update((report.task, report) for report in heard if report.key == key)
        return [report for _, report in sorted(self._reports.items()) if report.key == key]

    def close(self) -> None:
        """Close the connections to the brokers."""
        self._tail.close()

    def _offsets(self, topic: str | None = None) -> OffsetsTopic:
        return OffsetsTopic(self.clients, topic or self.offsets_topic)

    def _control(self, connector: str, topic: str | None = None) -> ControlProducer:
        return ControlProducer(self._offsets(topic), self.deployment, connector, self.claim)

    def _write_epoch(self, effect: WriteEpoch) -> None:
        control = self._control(effect.connector, effect.topic)
        control.is_released = effect.is_released
        write_epoch(control, effect.epoch)

    def _write_offsets(self, effect: WriteOffsets) -> None:
        changes = OffsetChanges(effect.offsets, effect.states)
        write_offsets(self._control(effect.connector), effect.epoch, changes)

    def _fence_producers(self, effect: FenceProducers) -> None:
        of = self.deployment, effect.connector
        ids = [transactional_id(*of, task) for task in range(effect.tasks)]
        # Skipped right after its own transaction: the broker still completes that and delays the call by half a second.
        fence_producers(self.clients, [control_id(*of), *ids] if effect.has_control else ids)

    def _read_offsets_topic(self, effect: ReadOffsetsTopic) -> OffsetProjection:
        view = self._offsets(effect.topic).read(effect.connector, effect.position)
        if effect.topic is not None and self.claim is not None and self.claim.is_foreign(view.owner):
            raise NotFoundError(f"The offsets topic {effect.topic} keeps {effect.connector} for another deployment now")
        return view.projection()

    def _read_partition_ends(self, effect: ReadPartitionEnds) -> Mapping[TopicPartition, PartitionEnds]:
        return self._admin.partition_ends(effect.topics, effect.regex)

    def _read_group_offsets(self, effect: ReadGroupOffsets) -> Mapping[TopicPartition, int]:
        return self._admin.group_offsets(effect.group, effect.partitions)

    def _commit_group_offsets(self, effect: CommitGroupOffsets) -> None:
        try:
            self._admin.commit_group_offsets(effect.group, effect.positions)
        except ConnectError as failure:
            _log.warning("The offsets of group %s were not updated: %s", effect.group, failure)

    def _forget_group(self, effect: ForgetGroup) -> None:
        try:
            self._admin.delete_group(effect.group)
        except ConnectError as failure:
            _log.warning("Group %s was not deleted: %s", effect.group, failure)


ON_KAFKA: Mapping[type[Effect[Any]], Callable[[KafkaEffects, Any], Any]] = {
    WriteEpoch: KafkaEffects._write_epoch,
    WriteOffsets: KafkaEffects._write_offsets,
    FenceProducers: KafkaEffects._fence_producers,
    ReadOffsetsTopic: KafkaEffects._read_offsets_topic,
    ReadPartitionEnds: KafkaEffects._read_partition_ends,
    ReadTimeBounds: lambda kafka, effect: time_bounds(kafka.clients, effect),
    ReadGroupOffsets: KafkaEffects._read_group_offsets,
    CommitGroupOffsets: KafkaEffects._commit_group_offsets,
    ForgetGroup: KafkaEffects._forget_group,
}
"""Effect → the function that performs it on Kafka."""
