"""The connector's control producer, and the fence around its tasks' producers (plan/README.md#fencing)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaException

from connect_core.api.offsets import parse
from connect_core.interval.values import OffsetStates
from connect_core.kafka.clients import KafkaClients, destroy, init_transactions
from connect_core.kafka.connector_claim import ConnectorClaim
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.ids import control_id
from connect_core.kafka.marker_records import Marker, MarkerRecord, MarkerStamp, encode_epoch
from connect_core.kafka.markers import MarkerView, OffsetsTopic, newer_epoch
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter

__all__ = ["ControlProducer", "OffsetChanges", "fence_producers", "write_epoch", "write_offsets"]


@dataclass(frozen=True, slots=True)
class OffsetChanges:
    """Offsets, and the private state to store with them, by canonical JSON of their source partition.

    An offset of ``None`` deletes the stored one.
    """

    offsets: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    states: OffsetStates = field(default_factory=dict)


_THREADS = 16
_INIT_SECONDS = 60.0


@dataclass(slots=True)
class ControlProducer:
    """The one producer that writes a connector's epoch and altered offsets (plan/README.md#rules, 2).

    A context manager: call ``init``, ``check``, ``write``, always in this order. Without a ``claim`` any deployment's
    connector is moved, and none is named.
    """

    topic: OffsetsTopic
    deployment: str
    connector: str
    claim: ConnectorClaim | None = None
    is_released: bool = False
    """Whether the connector is being deleted: afterwards any deployment may have one of its name."""
    _writer: TransactionalWriter = field(init=False)
    _view: MarkerView = field(init=False)

    def __post_init__(self) -> None:
        target = OffsetsTarget(self.topic.name, self.connector, MarkerStamp())
        self._writer = TransactionalWriter(self.topic.clients, control_id(self.deployment, self.connector), target)

    def init(self) -> None:
        """Fence every older control producer. Raise RetriableError."""
        self._writer.init()

    def check(self, epoch: int) -> None:
        """Read the topic to its high watermark.

        Raise StaleEpochError if it contains an epoch ≥ ``epoch``, ConfigError if the connector is another deployment's.
        """
        self._view = self.topic.read(self.connector)
        self._check_owner(self._view)
        if self._view.epoch >= epoch:
            raise newer_epoch(self._view, epoch)

    def write(self, epoch: int | None, stamp: MarkerStamp, changes: OffsetChanges = OffsetChanges()) -> None:
        """Write the epoch's record, if any, and offsets, in one transaction. Raise UnclearOutcomeError."""
        owner = None if self.claim is None or self.is_released else self.claim.owner
        records = [] if epoch is None else [encode_epoch(self.connector, stamp, owner)]
        for key, offset in changes.offsets.items():
            marker = Marker(self.connector, parse(key), offset, stamp, state=changes.states.get(key))
            records += _spelled(self._view, key, marker)
        self._writer.produce_records(self.topic.name, records)
        self._writer.commit(())

    def confirm(self) -> None:
        """Look again after the first claim: another deployment may have made its own meanwhile. Raise ConfigError."""
        if self.claim is not None and self._view.owner is None and not self.is_released:
            self._check_owner(self.topic.read(self.connector))

    def _check_owner(self, view: MarkerView) -> None:
        if self.claim is not None:
            self.claim.check(self.topic.name, self.connector, view.owner)

    def __enter__(self) -> ControlProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def write_epoch(control: ControlProducer, epoch: int) -> None:
    """Write the epoch record.

    Raise StaleEpochError if the topic contains an epoch ≥ ``epoch``, ConfigError if the connector is another
    deployment's, UnclearOutcomeError.
    """
    with control:
        control.init()
        control.check(epoch)
        control.write(epoch, MarkerStamp(epoch=epoch))
        control.confirm()


def write_offsets(control: ControlProducer, epoch: int, changes: OffsetChanges) -> None:
    """Write offsets under an epoch that the topic already contains.

    Raise StaleEpochError if it contains a newer epoch, ConfigError if the connector is another deployment's,
    UnclearOutcomeError.
    """
    with control:
        control.init()
        control.check(epoch + 1)
        control.write(None, MarkerStamp(epoch=epoch), changes)


def _spelled(view: MarkerView, partition: str, marker: Marker) -> list[MarkerRecord]:
    """Return one record for each spelling of the partition: an old one must not outlive a new one."""
    record = marker.encode()
    keys = view.spellings.get(partition, {record.key})
    return [replace(record, key=key) for key in sorted(keys)]


def fence_producers(clients: KafkaClients, ids: Sequence[str]) -> None:
    """Run ``init_transactions`` for these transactional ids, several at a time.

    Afterwards no older producer of these ids can commit, and none has a
    transaction open. Raise RetriableError if the brokers do not answer.
    """
    with ThreadPoolExecutor(_THREADS, "fence") as threads:
        list(threads.map(lambda identity: _fence(clients, identity), ids))


def _fence(clients: KafkaClients, identity: str) -> None:
    producer = clients.producer({"transactional.id": identity})
    try:
        init_transactions(producer, _INIT_SECONDS)
    except KafkaException as failure:
        raise to_connect_error(code_of(failure), f"Fencing {identity}", clients.bootstrap_servers) from failure
    finally:
        destroy(producer)
