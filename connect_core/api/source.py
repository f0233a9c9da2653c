"""Source connectors: from another system into Kafka."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

from connect_core.api.batch import Batch
from connect_core.api.connector import Connector, Task, WorkerLimits
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


class OffsetStorageReader(Protocol):
    """Reads committed source offsets. Connect: ``OffsetStorageReader``."""

    def offset(self, partition: SourceMap) -> dict[str, Any] | None:
        """Return the committed offset of a source partition, or ``None``."""

    def offsets(self, partitions: Sequence[SourceMap]) -> list[tuple[SourceMap, dict[str, Any] | None]]:
        """Return the committed offset of each partition, in the order asked."""


class TransactionContext(Protocol):
    """Lets a task end transactions itself (``transaction.boundary=connector``)."""

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after this record; without one, after the next batch."""

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort after this record, dropping its transaction; without one, the next batch."""


class RecordMetadata(Protocol):
    """Where a record landed in Kafka."""

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
    """What the engine offers a source task."""

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
        """The transaction control; ``None`` unless the connector sets boundaries."""

    @property
    def offset_states(self) -> Mapping[str, Mapping[str, str]]:
        """What ``offset_state`` returned when an offset was committed, by canonical JSON of its partition."""

    @property
    def upper_bounds(self) -> Mapping[str, SourceMap] | None:
        """The planned bounds by canonical JSON of the source partition, if declared."""


class SourceTask(Task):
    """Reads one share of a source.

    Life: ``initialize``, ``start``, ``poll`` again and again in its own thread,
    ``stop`` from another. ``commit_record`` and ``commit`` run only after the
    Kafka transaction holding the records has committed, and again after a
    crash in between. Connect: ``SourceTask``, ``WorkerSourceTask``.
    """

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Take the context; called once, before ``start``."""
        self.context = context

    @abstractmethod
    def poll(self) -> Sequence[SourceRecord] | None:
        """Return the next records, in source order; may block; ``None`` for none yet.

        RetriableError: polled again with backoff. Any other: the task fails.
        """

    def poll_batch(self) -> Batch | Prepared | None:
        """Return the next records as columns; ``None`` to be asked by ``poll``.

        A task that implements this returns an empty batch when there is nothing.
        """
        return None

    def take_over(self, flow: Flow) -> Flow:
        """Return what the engine is to do of the flow: what is missing, the task does in ``poll_batch``.

        The first transforms may be missing, and converters where all transforms
        are: they are then replaced by ones that pass bytes on. Called once,
        before ``initialize``. Beyond Connect.
        """
        return flow

    def is_interruptible(self) -> bool:
        """Return whether the interval may end here; false while a snapshot runs that would begin again.

        No cap and no idle time then ends the interval, only a stop. Asked after
        each poll, about what it gave, and at any time from another thread. Beyond
        Connect.
        """
        return True

    def is_exhausted(self) -> bool:
        """Return whether everything up to the planned bounds has been returned, though no offset says so.

        Rows may have gone since the plan. Asked when a poll gave nothing; true
        ends the interval at once. Beyond Connect.
        """
        return False

    def offset_state(self, partition: SourceMap) -> Mapping[str, str] | None:
        """Return private state to keep with the offset of a source partition.

        Such as a file's identity: it is committed with the offset, given back in
        ``context.offset_states``, and never shown as part of the offset. Asked
        directly before each commit. Beyond Connect.
        """
        return None

    def wants_places(self, config: Mapping[str, str]) -> bool:
        """Return whether ``commit_batch`` and ``commit_record`` are to be told where records landed; it costs.

        By default where ``commit_record`` is overridden. ``config`` is the
        task's. Beyond Connect.
        """
        return type(self).commit_record is not SourceTask.commit_record

    def commit_batch(self, batch: Batch, places: Sequence[RecordMetadata | None] | None) -> bool:
        """Learn that a polled batch is committed; false: only ``commit_record`` can be told.

        ``places``: where each of its records landed, ``None`` for those that
        were dropped; ``None`` as a whole where they are not wanted. Called
        before ``commit``. Beyond Connect.
        """
        return False

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Learn that one record is committed; ``None``: dropped by a transform."""

    def commit(self) -> None:
        """Learn that all records returned so far are committed."""

    def release(self) -> None:
        """Free what is needed for the last ``commit``, which comes after ``stop``; called once, last of all.

        Beyond Connect.
        """


class SourceConnector(Connector):
    """A connector whose tasks read another system. Connect: ``SourceConnector``."""

    @abstractmethod
    def task_class(self) -> type[SourceTask]:
        """Return the class of this connector's tasks."""

    def latest(self, offsets: Mapping[str, SourceMap]) -> Mapping[str, SourceMap] | None:
        """Return an upper bound of each source partition, at plan time.

        Keys are canonical JSON of the source partition. ``offsets`` are the
        committed ones. Equal maps mean there is nothing to do: the run waits
        without a Spark job. ``None``: this source has no bound; its interval
        ends at the first empty poll after ``interval.idle.ms``, at a cap, or on
        stop. Beyond Connect; called on the driver, must answer within seconds.
        """
        return None

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return what this configuration promises: as ``exactly_once_support`` says, unless overridden.

        The engine's part is exactly-once, transaction by transaction; the
        source's is to give the same records again after an offset.
        """
        support = self.exactly_once_support(config)
        return Guarantee(_DELIVERIES[support], atomicity=Atomicity.TRANSACTION)

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Return whether this configuration can be exactly-once; ``None``: unknown."""
        return None

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> ConnectorTransactionBoundaries:
        """Return whether tasks may call ``transaction_context``."""
        return ConnectorTransactionBoundaries.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, SourceMap | None]) -> bool:
        """Check or follow an offset change (KIP-875); false: it is not understood.

        Keys are canonical JSON of the source partition; ``None`` forgets it.
        Raise ConnectError to refuse.
        """
        return False
