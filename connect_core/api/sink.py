"""Sink connectors: from Kafka into another system."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from connect_core.api.batch import Batch
from connect_core.api.connector import Connector, Task, WorkerLimits
from connect_core.api.flow import Flow
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.records import SinkRecord, TopicPartition

__all__ = [
    "ColumnTypes",
    "CommitMarker",
    "CommittedFile",
    "ErrantRecordReporter",
    "IntervalContext",
    "IntervalKey",
    "PartitionRange",
    "SinkCommitter",
    "SinkConnector",
    "SinkTask",
    "SinkTaskContext",
    "Staged",
]

ColumnTypes = Mapping[str, str]
"""Columns of schemaless records by name: their Arrow type, serialised as text."""


@dataclass(frozen=True, slots=True)
class IntervalKey:
    """What identifies one interval for ever, beyond delete and recreate."""

    connector: str
    incarnation: int
    sequence: int
    epoch: int


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """Offsets [start, end) of one topic partition; ``topic_id`` as Kafka gives it."""

    topic: str
    partition: int
    start: int
    end: int
    topic_id: str = ""

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition without its range."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class IntervalContext:
    """The interval a sink task works in: ``ranges`` are this task's own."""

    key: IntervalKey
    ranges: tuple[PartitionRange, ...]
    columns: Mapping[str, ColumnTypes]
    """Columns of schemaless records stored so far, by topic."""
    attempt_id: str
    """Epoch and a random id, fit for a path; never used again, but Spark may execute one attempt more than once."""
    bound_time: int | None = None
    """The time it ends by, in milliseconds since 1970: later ones hold no record before it but late ones."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What one task has prepared of [start, end) of a partition; JSON in ``detail``."""

    topic: str
    partition: int
    start: int
    end: int
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file that an interval has written, where readers find it; ``bytes`` as it is stored."""

    path: str
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CommitMarker:
    """The proof of a commit, kept in the target; positions are those *after* it.

    ``aborted``: the proof that the interval will never be committed.
    """

    positions: Mapping[TopicPartition, int]
    aborted: bool = False
    columns: Mapping[str, ColumnTypes] | None = None
    detail: Mapping[str, Any] | None = None
    ranges: tuple[PartitionRange, ...] | None = None
    """What was committed, with topic ids: it tells a marker from one an earlier life left under the same key.

    ``None``: the target keeps positions, not intervals.
    """
    is_foreign: bool = False
    """Whether another deployment made it: it says nothing of this one's intervals."""
    files: tuple[CommittedFile, ...] = ()
    """What events of Airflow's assets tell of; where records go to no files, nothing."""
    moves: bool = True
    """Whether it is of a live interval; one of a backfill moves no position."""
    replaced: tuple[str, ...] = ()
    """Paths of earlier files in whose place a backfill has put its own."""


class SinkCommitter(Protocol):
    """Keeps the marker in the target itself (plan/README.md#targets); every call is idempotent.

    Runs on the driver only. Order: ``fence`` at the first plan of a run;
    ``last_interval`` before a connector's first interval; ``read_marker`` before
    an interval is run or recovered; ``commit`` after all tasks have staged;
    ``publish`` after a marker exists, by whoever finds it.

    A marker proves something only with its identity: two deployments may use one
    target, and a metadata database that was lost starts its keys again. Refuse
    another deployment's claim (``context.deployment``), and give the marker its ``ranges``.
    """

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Make older epochs unable to commit; return the positions the target keeps.

        ``None``: the target keeps none of its own; those of the last committed
        interval hold. Raise StaleEpochError if a newer epoch stands there.
        """

    def last_interval(self) -> tuple[int, int] | None:
        """Return incarnation and sequence of the newest interval this connector has a marker of, ``None`` without any.

        A connector that is recreated begins above that incarnation.
        """

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker under this interval's key, or ``None`` if there is none; whoever made it."""

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Make the marker, if absent; return the one that stands (perhaps another's)."""

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Make visible what the marker names; driven by the marker only."""

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Make sure the interval never commits, and move positions if given; ``None`` forgets one.

        Called after ``fence`` with the same epoch. A target that keeps positions
        moves them, and is asked for the next interval where none is unfinished.
        Return the marker that stands: a commit marker if it was too late.
        """

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove what finished intervals other than ``keep``, which is unfinished, have staged.

        Called at the end of a run. An interval without a marker may have begun
        since ``keep`` was read: leave it alone.
        """

    def release(self) -> None:
        """Let other connectors have the target: this one is deleted, its last interval ended."""

    def close(self) -> None:
        """Free what the committer holds."""


class ErrantRecordReporter(Protocol):
    """Takes records a sink task cannot write (KIP-610)."""

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Hand over a bad record; done when the dead letter topic has it."""


class SinkTaskContext(Protocol):
    """What the engine offers a sink task. Connect: ``SinkTaskContext``."""

    @property
    def configs(self) -> Mapping[str, str]:
        """The task's configuration, secrets resolved."""

    @property
    def limits(self) -> WorkerLimits:
        """What this worker allows."""

    @property
    def assignment(self) -> Collection[TopicPartition]:
        """The partitions of this task in this interval."""

    @property
    def interval(self) -> IntervalContext:
        """The interval: its key, this task's ranges, the stored columns."""

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """The reporter, or ``None`` when errors are not tolerated."""

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Rewind to offsets the target itself keeps (sinks that store their offsets)."""

    def timeout(self, milliseconds: int) -> None:
        """Wait this long before the next ``put`` (after a RetriableError)."""

    def request_commit(self) -> None:
        """Ask for ``pre_commit`` soon."""

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these partitions until resumed."""

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver these partitions again."""


class SinkTask(Task):
    """Writes one share of the records.

    Life: ``initialize``, ``start``, ``open``, ``put``…, ``pre_commit`` (which
    calls ``flush``) before any offset moves, ``close``, ``stop``. Connect:
    ``SinkTask``, ``WorkerSinkTask``.
    """

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Take the context; called once, before ``start``."""
        self.context = context

    def take_over(self, flow: Flow) -> Flow:
        """Return what the engine is to do of the flow: what is missing, the task does in ``put_batch``.

        The last transforms may be missing, and converters where all transforms
        are: they are then replaced by ones that pass bytes on. Rows that fail in
        what the task does go to ``flow.fail``. Called once, before
        ``initialize``. Beyond Connect.
        """
        return flow

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Prepare for these partitions; may call ``context.offset``."""

    @abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write or keep the records.

        RetriableError: the same records are put again after ``context.timeout``
        or a backoff. Any other exception fails the task.
        """

    def put_batch(self, batch: Batch) -> bool:
        """Write or keep a batch; false if only ``put`` can: nothing was taken then."""
        return False

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Make durable all that was put; ``offsets`` are the positions after it."""

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Return the positions that are safe to commit; may be fewer or lower."""
        self.flush(offsets)
        return offsets

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Return what is staged of the interval, for the connector's committer.

        ``positions`` are those after the last record delivered (gaps and control
        records included): every partition in it must be covered by a Staged that
        ends there, even when it had no record. Called once, in place of
        ``pre_commit``, when the connector has a committer.
        """
        return ()

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Free what ``open`` took; nothing is put for them afterwards."""


class SinkConnector(Connector):
    """A connector whose tasks write another system. Connect: ``SinkConnector``."""

    @abstractmethod
    def task_class(self) -> type[SinkTask]:
        """Return the class of this connector's tasks."""

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return what this configuration promises.

        By default exactly-once with a committer; without one at-least-once: what
        was written after the last offsets is written again. Override it for a
        task that keeps its offsets with its data itself.
        """
        if type(self).committer is SinkConnector.committer:
            return Guarantee(Delivery.AT_LEAST_ONCE)
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL)

    def committer(self, config: Mapping[str, str]) -> SinkCommitter | None:
        """Return the keeper of markers in the target; ``None``: offsets follow ``flush``.

        Without one the sink is at-least-once. Called after ``start``.
        """
        return None

    def target(self, config: Mapping[str, str]) -> str:
        """Return what tells where markers lie: configurations that give the same text share them.

        After a change of target an unfinished interval is ended where it was
        begun, with the configuration it was begun with. Called after
        ``initialize``. By default any change is one of target; name the system
        and the place in it, so that a new password is none.
        """
        has_markers = type(self).committer is not SinkConnector.committer
        return json.dumps(sorted(config.items())) if has_markers else ""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Check or follow an offset change (KIP-875); ``None`` forgets a partition."""
        return False
