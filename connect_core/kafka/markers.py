"""Reads the markers of source connectors: committed offsets and epochs, in the offsets topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from confluent_kafka import Message

from connect_core.api.records import TopicPartition
from connect_core.errors import ConnectError, DataLossError, NotFoundError, StaleEpochError
from connect_core.interval.values import OffsetProjection, TopicPosition
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.committed_messages import CommittedMessages
from connect_core.kafka.marker_records import ConnectorOwner, EpochRecord, Marker, MarkerStamp, decode, key_prefix
from connect_core.kafka.partition_ends import high_watermarks
from connect_core.kafka.topics import check_same, topic_ids, topic_partitions

__all__ = ["MarkerView", "OffsetsTopic", "check_start", "newer_epoch"]


@dataclass(slots=True)
class MarkerView:
    """The state of one connector in the offsets topic: the last marker of each source partition.

    By canonical JSON. One partition may have two spellings, hence be in two topic partitions: then the higher epoch,
    sequence and time wins.
    """

    connector: str
    position: TopicPosition
    is_elsewhere: bool = False
    """Whether the position to read from refers to another topic: then all of this one was read."""
    epoch: int = 0
    owner: ConnectorOwner | None = None
    """The deployment of the highest epoch record."""
    markers: dict[str, Marker] = field(default_factory=dict)
    spellings: dict[str, set[bytes]] = field(default_factory=dict)
    """The keys of each source partition: maps have no order, but their bytes have."""
    moved: dict[int, int] = field(default_factory=dict)
    """Interval sequence → the records that its transactions moved, of those read."""
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _owned: int = -1

    def add(self, record: Marker | EpochRecord, partition: int, timestamp: int) -> None:
        """Add the next record of the topic."""
        if isinstance(record, EpochRecord):
            if record.epoch >= self._owned:
                self.owner, self._owned = record.owner, record.epoch
            self.epoch = max(self.epoch, record.epoch)
            return
        self.epoch = max(self.epoch, record.stamp.epoch)
        if record.records:
            self.moved[record.stamp.sequence] = self.moved.get(record.stamp.sequence, 0) + record.records
        key = record.canonical_partition
        known, place = self.markers.get(key), self._places.get(key, (partition, 0))
        if known is None or place[0] == partition or _rank(record, timestamp) >= _rank(known, place[1]):
            self.markers[key] = record
            self._places[key] = partition, timestamp

    def projection(self) -> OffsetProjection:
        """Return offsets and epoch, for the metadata database."""
        offsets = {key: marker.offset for key, marker in self.markers.items()}
        states = {key: marker.state for key, marker in self.markers.items() if marker.state is not None}
        return OffsetProjection(offsets, self.epoch, self.position, states, dict(self.moved))


def _rank(marker: Marker, timestamp: int) -> tuple[int, int, int]:
    return marker.stamp.epoch, marker.stamp.sequence, timestamp


def check_start(view: MarkerView, stamp: MarkerStamp) -> None:
    """Check that nothing has happened since the plan read its start. Raise StaleEpochError.

    ``view``: read from the plan's position on, after the attempt's own ``init``. It may contain neither a newer epoch
    nor a marker of this task, by another attempt or by a Connect worker, and must be of the same topic.
    """
    if view.is_elsewhere:
        raise StaleEpochError(
            f"The offsets topic {view.position.topic} was recreated after this attempt of task {stamp.task}"
            f" of {view.connector} was planned"
        )
    if view.epoch > stamp.epoch:
        raise newer_epoch(view, stamp.epoch)
    for key, marker in view.markers.items():
        if marker.stamp.task in (stamp.task, MarkerStamp().task):
            raise StaleEpochError(
                f"The offset of {key} was moved to {marker.offset} after this attempt of task {stamp.task}"
                f" of {view.connector} was planned (by attempt {marker.stamp.attempt or 'unknown'})"
            )


def newer_epoch(view: MarkerView, mine: int) -> StaleEpochError:
    """Return the error that names the epoch in the topic."""
    error = StaleEpochError(
        f"Epoch {view.epoch} of {view.connector} is recorded in the offsets topic; this one has {mine}"
    )
    error.epoch = view.epoch
    return error


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """The compacted topic of source offsets (``offset.storage.topic``).

    ``timeout_seconds``: how long a read waits for the last stable offset, held back by open transactions, to reach the
    high watermark.
    """

    clients: KafkaClients
    name: str
    timeout_seconds: float = 90.0

    def read(self, connector: str, position: TopicPosition | None = None) -> MarkerView:
        """Read committed records from ``position`` to the current high watermark.

        A partition not in ``position`` is read from its start; all of them are if ``position`` is in another topic, or
        in an earlier one of this name. Raise NotFoundError without the topic, DataLossError if it ends before
        ``position``, RetriableError with the producer that holds a transaction open, or if the topic is recreated
        meanwhile.
        """
        identity, ends = self._high_watermarks()
        here = TopicPosition(self.name, identity)
        is_elsewhere = position is not None and position.is_beside(here)
        known = {} if position is None or is_elsewhere else position.ends
        starts = {number: known.get(number, 0) for number in ends}
        for number, start in starts.items():
            if start > ends[number]:
                self._check_same(identity)
                raise DataLossError(
                    f"The offsets topic {self.name} ends at {ends[number]} in partition {number}, before {start} which"
                    " was already read: it has lost records. Alter or reset the connector's offsets"
                )
        view = MarkerView(connector, replace(here, ends=ends), is_elsewhere)
        prefix = key_prefix(connector)
        for message in self._messages(starts, ends):
            key = message.key()
            if key is not None and key.startswith(prefix):
                self._take(view, message, key)
        self._check_same(identity)
        return view

    def value_of(self, key: bytes) -> bytes | None:
        """Return the last committed value of a key, up to the current high watermark. Raises as ``read``."""
        _, ends = self._high_watermarks()
        found: bytes | None = None
        for message in self._messages(dict.fromkeys(ends, 0), ends):
            if message.key() == key:
                found = message.value()
        return found

    def newest(self) -> dict[str, list[Marker]]:
        """Return by connector the newest marker of each source partition, without the deleted ones.

        Raises as ``read``.
        """
        _, ends = self._high_watermarks()
        found: dict[str, dict[str, Marker]] = {}
        for message in self._messages(dict.fromkeys(ends, 0), ends):
            record = self._decoded(message, message.key() or b"")
            if isinstance(record, Marker):
                found.setdefault(record.connector, {})[record.canonical_partition] = record
        return {name: [one for one in own.values() if one.offset is not None] for name, own in found.items()}

    def _check_same(self, identity: str) -> None:
        """Compare the topic's id, once it was read by name. Raise RetriableError if it was recreated."""
        check_same({self.name: identity}, self._ids(), "it was read")

    def _ids(self) -> dict[str, str]:
        return topic_ids(self.clients.admin(), [self.name], self.clients.bootstrap_servers)

    def _take(self, view: MarkerView, message: Message, key: bytes) -> None:
        record = self._decoded(message, key)
        if record is not None and record.connector == view.connector:
            view.add(record, message.partition() or 0, message.timestamp()[1])
            if isinstance(record, Marker):
                view.spellings.setdefault(record.canonical_partition, set()).add(key)

    def _decoded(self, message: Message, key: bytes) -> Marker | EpochRecord | None:
        try:
            return decode(key, message.value(), message.headers() or [])
        except ConnectError as failure:
            at = f"{self.name}-{message.partition()} at offset {message.offset()}"
            raise ConnectError(f"{failure} ({at})") from failure

    def _high_watermarks(self) -> tuple[str, dict[int, int]]:
        """Return the topic's id, and the high watermark of each partition."""
        admin, servers = self.clients.admin(), self.clients.bootstrap_servers
        found = topic_partitions(admin, [self.name], servers).get(self.name)
        if found is None:
            raise NotFoundError(
                f"The offsets topic {self.name} does not exist at bootstrap.servers={servers}:"
                " it is created when a worker starts; create it compacted if creation is forbidden"
            )
        partitions = [TopicPartition(self.name, number) for number in range(found[1])]
        return found[0], {key.partition: end for key, end in high_watermarks(admin, partitions, servers).items()}

    def _messages(self, starts: Mapping[int, int], ends: Mapping[int, int]) -> Iterable[Message]:
        return CommittedMessages(self.clients, self.name, starts, ends, self.timeout_seconds)
