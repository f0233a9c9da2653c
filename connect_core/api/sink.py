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
"""Columns of schemaless records by name, with their Arrow type serialized as text."""


@dataclass(frozen=True, slots=True)
class IntervalKey:
    """The permanent identity of one interval, across delete and recreate."""

    connector: str
    incarnation: int
    sequence: int
    epoch: int


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """Offsets [start, end) of one topic partition; ``topic_id`` as returned by Kafka."""

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
    """The interval of a sink task; ``ranges`` are this task's own."""

    key: IntervalKey
    ranges: tuple[PartitionRange, ...]
    columns: Mapping[str, ColumnTypes]
    """Columns of schemaless records stored so far, by topic."""
    attempt_id: str
    """Epoch and a random id, usable in a path; never reused, but Spark may execute one attempt more than once."""
    bound_time: int | None = None
    """Its end time, in milliseconds since 1970: later intervals contain no earlier record, except late ones."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What one task has prepared of [start, end) of a partition; ``detail`` is JSON."""

    topic: str
    partition: int
    start: int
    end: int
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A file that an interval has written, where readers find it; ``bytes`` is the stored size."""

    path: str
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CommitMarker:
    """The proof of a commit, kept in the target; its positions are those *after* the commit.

    ``aborted``: the proof that the interval will never be committed.
    """

    positions: Mapping[TopicPartition, int]
    aborted: bool = False
    columns: Mapping[str, ColumnTypes] | None = None
    detail: Mapping[str, Any] | None = None
    ranges: tuple[PartitionRange, ...] | None = None
    """What was committed, with topic ids: this distinguishes markers of different incarnations under the same key.

    ``None``: the target keeps positions, not intervals.
    """
    is_foreign: bool = False
    """Whether another deployment made it: it proves nothing about this one's intervals."""
    files: tuple[CommittedFile, ...] = ()
    """The files reported in Airflow's asset events; empty if records are not written to files."""
    moves: bool = True
    """Whether it belongs to a live interval; a backfill's moves no position."""
    replaced: tuple[str, ...] = ()
    """Paths of earlier files that a backfill has replaced with its own."""


class SinkCommitter(Protocol):
    """Keeps the marker in the target itself (plan/README.md#targets); every call is idempotent.

    Runs on the driver only. Order: ``fence`` at the first plan of a run;
    ``last_interval`` before a connector's first interval; ``read_marker`` before
    an interval is run or recovered; ``commit`` after all tasks have staged;
    ``publish`` once a marker exists, by any driver that finds it.

    A marker proves something only with its identity: two deployments may use one
    target, and a lost metadata database starts its keys again. Reject
    another deployment's claim (``context.deployment``), and store the marker's ``ranges``.
    """

    def fence(self, epoch: int) -> Mapping[TopicPartition, int] | None:
        """Prevent commits of older epochs; return the positions the target keeps.

        ``None``: the target keeps none of its own; those of the last committed
        interval apply. Raise StaleEpochError if the target has a newer epoch.
        """

    def last_interval(self) -> tuple[int, int] | None:
        """Return incarnation and sequence of the newest interval with a marker of this connector, or ``None``.

        A connector that is recreated begins with a higher incarnation.
        """

    def read_marker(self, interval: IntervalKey) -> CommitMarker | None:
        """Return the marker under this interval's key, whoever made it, or ``None`` if there is none."""

    def commit(self, interval: IntervalKey, staged: Sequence[Staged]) -> CommitMarker:
        """Make the marker, if absent; return the existing one (perhaps another driver's)."""

    def publish(self, interval: IntervalKey, marker: CommitMarker) -> None:
        """Make visible what the marker names; only the marker determines what to do."""

    def abandon(self, interval: IntervalKey, positions: Mapping[TopicPartition, int | None] | None) -> CommitMarker:
        """Ensure that the interval never commits, and move positions if given; ``None`` deletes one.

        Called after ``fence`` with the same epoch. If a target keeps positions, it
        moves them; with no unfinished interval, this is called for the next one.
        Return the existing marker: a commit marker if it was too late.
        """

    def sweep(self, keep: Collection[IntervalKey]) -> None:
        """Remove what finished intervals have staged, except for ``keep``, which is unfinished.

        Called at the end of a run. An interval without a marker may have begun
        since ``keep`` was read: do not touch it.
        """

    def release(self) -> None:
        """Release the target for other connectors: this one is deleted, its last interval ended."""

    def close(self) -> None:
        """Release the committer's resources."""


class ErrantRecordReporter(Protocol):
    """Accepts records that a sink task cannot write (KIP-610)."""

    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Report a bad record; the future is done when the dead letter topic has it."""


class SinkTaskContext(Protocol):
    """The engine's interface for a sink task. Connect: ``SinkTaskContext``."""

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
        """Rewind to offsets that the target itself keeps (sinks that store their offsets)."""

    def timeout(self, milliseconds: int) -> None:
        """Wait this long before the next ``put`` (after a RetriableError)."""

    def request_commit(self) -> None:
        """Request a call of ``pre_commit`` soon."""

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these partitions until resumed."""

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver these partitions again."""


class SinkTask(Task):
    """Writes one share of the records.

    Call order: ``initialize``, ``start``, ``open``, ``put``…, ``pre_commit`` (which
    calls ``flush``) before any offset moves, ``close``, ``stop``. Connect:
    ``SinkTask``, ``WorkerSinkTask``.
    """

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Store the context; called once, before ``start``."""
        self.context = context

    def take_over(self, flow: Flow) -> Flow:
        """Return the part of the flow that the engine performs; the task performs the rest in ``put_batch``.

        The last transforms may be left out, and converters if all transforms
        are: the engine then uses converters that pass bytes through. Rows that fail in
        the task's part are passed to ``flow.fail``. Called once, before
        ``initialize``. Beyond Connect.
        """
        return flow

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Prepare for these partitions; may call ``context.offset``."""

    @abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write or buffer the records; none while partitions are paused, or when nothing came for a while.

        RetriableError: the same records are put again after ``context.timeout``
        or a backoff. Any other exception fails the task.
        """

    def put_batch(self, batch: Batch) -> bool:
        """Write or buffer a batch; false if only ``put`` can: then no record was accepted."""
        return False

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Make everything that was put durable; ``offsets`` are the positions after it."""

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Return the positions that are safe to commit; may be fewer or lower."""
        self.flush(offsets)
        return offsets

    def stage(self, positions: Mapping[TopicPartition, int]) -> Sequence[Staged]:
        """Return what is staged for the interval, for the connector's committer.

        ``positions`` are those after the last record delivered (gaps and control
        records included): every partition in it must be covered by a Staged that
        ends there, even if it had no record. Called once, instead of
        ``pre_commit``, when the connector has a committer. After a RetriableError
        it is called again, and must then return all that was put: a task that has
        let go of records raises AttemptError, so that they are read again.
        """
        return ()

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Release what ``open`` acquired; nothing is put for these partitions afterwards."""


class SinkConnector(Connector):
    """A connector whose tasks write to another system. Connect: ``SinkConnector``."""

    @abstractmethod
    def task_class(self) -> type[SinkTask]:
        """Return the class of this connector's tasks."""

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return the guarantee of this configuration.

        By default exactly-once with a committer; without one at-least-once: records
        written after the last offsets are written again. Override it for a
        task that itself stores its offsets with its data.
        """
        if type(self).committer is SinkConnector.committer:
            return Guarantee(Delivery.AT_LEAST_ONCE)
        return Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL)

    def committer(self, config: Mapping[str, str]) -> SinkCommitter | None:
        """Return the committer, which keeps markers in the target; ``None``: offsets follow ``flush``.

        Without one the sink is at-least-once. Called after ``start``.
        """
        return None

    def target(self, config: Mapping[str, str]) -> str:
        """Return a text that identifies the place of the markers: configurations with the same text share them.

        After a change of target, an unfinished interval is ended in the target it was
        begun in, with the configuration it was begun with. Called after
        ``initialize``. By default any change of a setting counts; name the system
        and the place in it, so that a new password does not count.
        """
        has_markers = type(self).committer is not SinkConnector.committer
        return json.dumps(sorted(config.items())) if has_markers else ""

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Check or apply an offset change (KIP-875); ``None`` deletes a partition's offset."""
        return False
