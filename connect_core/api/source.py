"""Source connectors: from another system into Kafka."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from connect_core.api.batch import Batch
from connect_core.api.connector import Connector, Task, WorkerLimits
from connect_core.api.data import Schema
from connect_core.api.flow import Flow, Prepared
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import SourceRecord

__all__ = [
    "ConnectorTransactionBoundaries",
    "ExactlyOnceSupport",
    "OffsetStorageReader",
    "RecordMetadata",
    "SourceConnector",
    "SourceTask",
    "SourceTaskContext",
    "TransactionContext",
    "WrittenSchemas",
]

SourceMap = Mapping[str, Any]
"""A source partition or offset: strings to JSON scalars."""


class ExactlyOnceSupport(Enum):
    """Whether a source can be read exactly once (KIP-618)."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"


_DELIVERIES = {
    ExactlyOnceSupport.SUPPORTED: Delivery.EXACTLY_ONCE,
    ExactlyOnceSupport.UNSUPPORTED: Delivery.AT_LEAST_ONCE,
    None: Delivery.UNKNOWN,
}


class ConnectorTransactionBoundaries(Enum):
    """Whether a source may set transaction boundaries itself (KIP-618)."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"


@dataclass(frozen=True, slots=True)
class WrittenSchemas:
    """The schemas of a topic's keys and values; ``None``: without a schema, or unknown."""

    key: Schema | None
    value: Schema | None


class OffsetStorageReader(Protocol):
    """Reads committed source offsets. Connect: ``OffsetStorageReader``."""

    def offset(self, partition: SourceMap) -> dict[str, Any] | None:
        """Return the committed offset of a source partition, or ``None``."""

    def offsets(self, partitions: Sequence[SourceMap]) -> list[tuple[SourceMap, dict[str, Any] | None]]:
        """Return the committed offset of each partition, in the order of the request."""


class TransactionContext(Protocol):
    """Lets a task define transactions itself (``transaction.boundary=connector``)."""

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after this record; without one, after the next batch."""

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort after this record, dropping its transaction; without one, the next batch."""


class RecordMetadata(Protocol):
    """The place in Kafka to which a record was written."""

    @property
    def topic(self) -> str:
        """The topic."""

    @property
    def partition(self) -> int:
        """The partition."""

    @property
    def offset(self) -> int:
        """The offset."""


class SourceTaskContext(Protocol):
    """The engine's interface for a source task."""

    @property
    def configs(self) -> Mapping[str, str]:
        """The task's configuration, secrets resolved."""

    @property
    def limits(self) -> WorkerLimits:
        """What this worker allows."""

    @property
    def offset_storage_reader(self) -> OffsetStorageReader:
        """The reader of committed source offsets."""

    @property
    def source_offsets(self) -> Mapping[str, SourceMap]:
        """All committed offsets of the connector, by canonical JSON of the source partition."""

    @property
    def transaction_context(self) -> TransactionContext | None:
        """The transaction control; ``None`` unless the connector defines boundaries."""

    @property
    def offset_states(self) -> Mapping[str, Mapping[str, str]]:
        """The states that ``offset_state`` returned with committed offsets, by canonical JSON of the partition."""

    @property
    def upper_bounds(self) -> Mapping[str, SourceMap] | None:
        """The planned bounds by canonical JSON of the source partition, if declared."""


class SourceTask(Task):
    """Reads one share of a source.

    Call order: ``initialize``, ``start``, ``poll`` repeatedly in its own thread,
    ``stop`` from another. ``commit_record`` and ``commit`` run only after the
    Kafka transaction holding the records has committed, and again after a
    crash in between. Connect: ``SourceTask``, ``WorkerSourceTask``.
    """

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Store the context; called once, before ``start``."""
        self.context = context

    @abstractmethod
    def poll(self) -> Sequence[SourceRecord] | None:
        """Return the next records, in source order; may block; ``None`` if there are none yet.

        Everything in them may be reused once ``poll`` is called again: all is converted by then. Only ``commit_record``
        comes later, and gets the same objects. RetriableError: polled again with backoff. Any other exception fails the
        task.
        """

    def poll_batch(self) -> Batch | Prepared | None:
        """Return the next records as columns; ``None`` if ``poll`` is to be called instead.

        A task that implements this returns an empty batch when there is nothing. It is called again before the batch is
        converted, so nothing in a batch may change later.
        """
        return None

    def take_over(self, flow: Flow) -> Flow:
        """Return the part of the flow that the engine performs; the task performs the rest in ``poll_batch``.

        The first transforms may be left out, and converters if all transforms
        are: the engine then uses converters that pass bytes through. Called once,
        before ``initialize``. Beyond Connect.
        """
        return flow

    def is_interruptible(self) -> bool:
        """Return whether the interval may end here; false during a snapshot that would have to restart.

        While false, no cap and no idle time ends the interval, only a stop. Called after
        each poll, about its result, and at any time from another thread. Beyond
        Connect.
        """
        return True

    def is_exhausted(self) -> bool:
        """Return whether everything up to the planned bounds has been returned, even if no offset shows it.

        Rows may have been deleted since the plan. Called when a poll returned nothing; true
        ends the interval at once. Beyond Connect.
        """
        return False

    def offset_state(self, partition: SourceMap) -> Mapping[str, str] | None:
        """Return private state to keep with the offset of a source partition.

        An example is a file's identity: it is committed with the offset, returned in
        ``context.offset_states``, and never shown as part of the offset. Called
        directly before each commit. Beyond Connect.
        """
        return None

    def wants_places(self, config: Mapping[str, str]) -> bool:
        """Return whether ``commit_batch`` and ``commit_record`` get the records' places in Kafka, at some cost.

        By default if ``commit_record`` is overridden. ``config`` is the
        task's. Beyond Connect.
        """
        return type(self).commit_record is not SourceTask.commit_record

    def commit_batch(self, batch: Batch, places: Sequence[RecordMetadata | None] | None) -> bool:
        """Handle the commit of a polled batch; false: call ``commit_record`` instead.

        ``places``: where each of its records was written, ``None`` for those that
        were dropped; ``None`` as a whole if they are not wanted. Called
        before ``commit``. Beyond Connect.
        """
        return False

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Handle the commit of one record; ``metadata`` is ``None`` if a transform dropped it."""

    def commit(self) -> None:
        """Handle the commit of all records returned so far."""

    def release(self) -> None:
        """Release what the last ``commit`` needs, which comes after ``stop``; called once, as the last method.

        Beyond Connect.
        """


class SourceConnector(Connector):
    """A connector whose tasks read from another system. Connect: ``SourceConnector``."""

    @abstractmethod
    def task_class(self) -> type[SourceTask]:
        """Return the class of this connector's tasks."""

    def latest(self, offsets: Mapping[str, SourceMap]) -> Mapping[str, SourceMap] | None:
        """Return an upper bound of each source partition, at plan time.

        Keys are canonical JSON of the source partition. ``offsets`` are the
        committed ones. Equal maps mean there is no work: the run waits
        without a Spark job. ``None``: this source has no bound; its interval
        ends at the first empty poll after ``interval.idle.ms``, at a cap, or on
        stop. Beyond Connect; called on the driver, must return within seconds.
        """
        return None

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return the guarantee of this configuration: by default that of ``exactly_once_support``.

        The engine is exactly-once, transaction by transaction; the source's
        part is to return the same records again after an offset.
        """
        support = self.exactly_once_support(config)
        return Guarantee(_DELIVERIES[support], atomicity=Atomicity.TRANSACTION)

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Return whether this configuration can be exactly-once; ``None``: unknown."""
        return None

    def written_schemas(self, config: Mapping[str, str], limits: WorkerLimits) -> Mapping[str, WrittenSchemas]:
        """Return the topics that a valid configuration writes, as far as they are known now, with their schemas.

        Before transforms. Needs no ``start``; must return within 2 s. Raise ConnectError. Beyond Connect.
        """
        return {}

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> ConnectorTransactionBoundaries:
        """Return whether tasks may call ``transaction_context``."""
        return ConnectorTransactionBoundaries.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, SourceMap | None]) -> bool:
        """Check or apply an offset change (KIP-875); false: not supported.

        Keys are canonical JSON of the source partition; ``None`` deletes its offset.
        Raise ConnectError to reject the change.
        """
        return False
