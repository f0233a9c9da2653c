"""The frozen values an interval is made of, from plan to commit (plan/README.md#the-six-steps)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from connect_core.api.backfill import Backfill
from connect_core.api.records import TopicPartition
from connect_core.api.sink import ColumnTypes, IntervalKey, PartitionRange, Staged
from connect_core.interval.time_bounds import RecordTimes

__all__ = [
    "ConnectorState",
    "ConnectorType",
    "Counts",
    "IntervalCaps",
    "IntervalRow",
    "IntervalSettings",
    "IntervalState",
    "LostRecords",
    "OffsetProjection",
    "OffsetStates",
    "PartitionEnds",
    "Plan",
    "SkippedRecords",
    "SourceBounds",
    "SourceOffsets",
    "TargetState",
    "TaskAssignment",
    "TaskError",
    "TaskOutcome",
    "TaskPlan",
    "TaskResult",
    "TopicPosition",
    "job_tag",
]

SourceOffsets = Mapping[str, Mapping[str, Any]]
"""Source offsets, keyed by the canonical JSON of their source partition."""

OffsetStates = Mapping[str, Mapping[str, str]]
"""Private state of sources, kept with an offset, keyed by the canonical JSON of the partition."""


@dataclass(frozen=True, slots=True)
class TopicPosition:
    """A position in an offsets topic: the next offset of each partition; one not listed is read from its start.

    It is valid in this topic only: neither in another, nor in one recreated under the name.
    """

    topic: str
    topic_id: str
    ends: Mapping[int, int] = field(default_factory=dict)

    def is_beside(self, other: TopicPosition) -> bool:
        """Return whether two positions lie in different topics."""
        return (self.topic, self.topic_id) != (other.topic, other.topic_id)

    def at_start(self) -> TopicPosition:
        """Return the start of the same topic."""
        return replace(self, ends={})


class ConnectorType(Enum):
    """The direction in which a connector moves data."""

    SOURCE = "source"
    SINK = "sink"


class TargetState(Enum):
    """The state an operator requested for a connector. Connect: ``TargetState``."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class IntervalState(Enum):
    """The progress of an interval; COMMITTED and ABANDONED are final."""

    PLANNED = "PLANNED"
    RUNNING = "RUNNING"
    STAGED = "STAGED"
    COMMITTED = "COMMITTED"
    ABANDONED = "ABANDONED"
    FAILED = "FAILED"

    @property
    def is_final(self) -> bool:
        """Whether the interval will never be run again."""
        return self in (IntervalState.COMMITTED, IntervalState.ABANDONED)


@dataclass(frozen=True, slots=True)
class IntervalCaps:
    """The limits at which an interval ends; ``None`` means no cap.

    ``records`` and ``bytes`` are totals over all tasks; times are in milliseconds.
    """

    records: int | None = None
    bytes: int | None = None
    milliseconds: int | None = None
    idle_milliseconds: int = 1000


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """The parts of a connector's configuration that ``plan`` and ``commit`` need."""

    tasks_max: int = 1
    tasks_max_enforce: bool = True
    topics: tuple[str, ...] = ()
    topics_regex: str | None = None
    caps: IntervalCaps = field(default_factory=IntervalCaps)
    bound: str = "latest"
    """``latest`` or ``data_interval_end`` (``interval.bound``)."""
    future: str = "fail"
    """``fail`` or ``advance``: what to do where a record from the future blocks such an interval."""
    skew_ms: int = 300_000
    """How much later than now a record may be (``interval.future.skew.ms``)."""
    data_loss: str = "fail"
    """``fail`` or ``skip``: what to do when planned offsets were removed (``interval.data.loss``)."""
    offset_reset: str = "earliest"
    """``earliest`` or ``latest``: where a sink without any position begins."""
    consumer_group: str = ""


@dataclass(frozen=True, slots=True)
class ConnectorState:
    """A connector's row in the metadata database, as a driver needs it.

    ``config`` is raw: secrets are references or ciphertext. ``incarnation``
    counts re-creations under one name; ``sequence`` is that of the last
    interval and never restarts. ``offsets_position`` is how far the offsets
    topic has been read into SQL. ``tasks_ever`` is the largest number of tasks
    any plan assigned: their transactional ids must be fenced.
    """

    name: str
    type: ConnectorType
    config: Mapping[str, str]
    config_version: int
    target_state: TargetState
    epoch: int
    incarnation: int
    sequence: int
    tasks_ever: int
    assignment: str | None
    offsets_position: TopicPosition | None
    columns: Mapping[str, ColumnTypes]
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Ids of the topics last planned: a recreated topic counts as a different source."""
    failure: str | None = None
    """Trace of a fatal failure, kept until a restart or a new config."""


@dataclass(frozen=True, slots=True)
class TaskAssignment:
    """What ``task_configs`` returned, and whether the connector keeps its own marker."""

    configs: tuple[Mapping[str, str], ...]
    has_committer: bool = False


@dataclass(frozen=True, slots=True)
class SourceBounds:
    """A source interval: committed offsets it starts from, and upper bounds if declared."""

    start: SourceOffsets
    upper: SourceOffsets | None = None
    states: OffsetStates = field(default_factory=dict)
    position: TopicPosition | None = None
    """The position in the offsets topic at which ``start`` was read: markers after it are newer."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One row of ``intervals``: fixed bounds, written before any read."""

    key: IntervalKey
    state: IntervalState
    config_version: int
    assignment: str
    ranges: tuple[PartitionRange, ...] = ()
    source: SourceBounds | None = None
    tasks: int = 0
    attempts: int = 0
    bound_time: datetime | None = None
    since: datetime | None = None
    """For a backfill: the start of the time exported again; it ends at ``bound_time``."""

    @property
    def is_backfill(self) -> bool:
        """Whether it is a backfill, which moves no position."""
        return self.since is not None


def job_tag(key: IntervalKey) -> str:
    """Return the tag of an interval's Spark job: letters, digits and ``-`` only."""
    name = hashlib.sha256(key.connector.encode()).hexdigest()[:16]
    return f"connect-{name}-{key.incarnation}-{key.sequence}"


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """Everything one task needs; it is sent to a Spark worker, so every part can be written as JSON.

    ``connector_config`` and ``worker`` are raw (references, ciphertext).
    """

    key: IntervalKey
    type: ConnectorType
    task: int
    deployment: str
    attempt_id: str
    config_version: int
    connector_config: Mapping[str, str]
    task_config: Mapping[str, str]
    worker: Mapping[str, str]
    caps: IntervalCaps
    ranges: tuple[PartitionRange, ...] = ()
    source: SourceBounds | None = None
    transactional_id: str = ""
    columns: Mapping[str, ColumnTypes] = field(default_factory=dict)
    staged_commit: bool = False
    """Whether the connector's committer commits what tasks stage."""
    times: RecordTimes = field(default_factory=RecordTimes)
    """The times by which a sink counts late and future records."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One interval, ready to run."""

    row: IntervalRow
    tasks: tuple[TaskPlan, ...]
    assignment: TaskAssignment
    is_last: bool = True
    """Whether it covers all data that existed when it was planned (no cap, no recovery)."""
    kept: tuple[TaskResult, ...] = ()
    """Results of an earlier attempt that stay valid: these tasks do not run again."""
    backfill: Backfill | None = None
    """The backfill it is part of, if it moves no position."""

    @property
    def job_tag(self) -> str:
        """The tag of the interval's Spark job."""
        return job_tag(self.row.key)


class TaskOutcome(Enum):
    """How one attempt of a task ended."""

    DONE = "DONE"
    """The bounds were reached, or the task was asked to stop and what it read is committed."""
    STALE = "STALE"
    """A newer epoch or another attempt was seen: nothing more may be done."""
    UNCLEAR = "UNCLEAR"
    """The reply to a commit was lost: only the marker shows whether it succeeded."""
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of what a task or an interval moved."""

    records: int = 0
    bytes: int = 0
    skipped: int = 0
    dropped: int = 0
    fallbacks: int = 0
    """Batches that had to go through the record lane."""
    late: int = 0
    """Records of a time before the end of an earlier interval."""
    future: int = 0
    """Records at or after this interval's end time that it was allowed to take."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.records + other.records,
            self.bytes + other.bytes,
            self.skipped + other.skipped,
            self.dropped + other.dropped,
            self.fallbacks + other.fallbacks,
            self.late + other.late,
            self.future + other.future,
        )


@dataclass(frozen=True, slots=True)
class TaskError:
    """An attempt's error, as it is shown: class, message, trace, recovery."""

    kind: str
    message: str
    trace: str
    is_retriable: bool


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """Records a task skipped for one kind of error; ``message`` and ``sample`` are those of the first.

    ``sample`` is its location: topic, partition, offset, or source partition and offset.
    """

    stage: str
    error_kind: str
    message: str
    records: int
    sample: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The report of one attempt of a task; its positions are claims, only markers are proof."""

    task: int
    outcome: TaskOutcome
    counts: Counts = field(default_factory=Counts)
    positions: Mapping[TopicPartition, int] = field(default_factory=dict)
    source_offsets: SourceOffsets = field(default_factory=dict)
    staged: tuple[Staged, ...] = ()
    columns: Mapping[str, ColumnTypes] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    """Topics the task's records went to or came from (active topics, KIP-558)."""
    skipped: tuple[SkippedRecords, ...] = ()
    """Records that ``errors.tolerance=all`` skipped, as far as committed now or with the interval."""
    error: TaskError | None = None
    is_capped: bool = False
    """Whether a cap ended the attempt: there is more."""
    host: str = ""
    pid: int = 0
    started: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class OffsetProjection:
    """What the offsets topic, or a sink's target, contains about one connector, up to ``position``.

    ``offsets`` holds only what changed since the requested start position; ``None``
    deletes a source partition. ``epoch`` is the newest epoch record seen, ``moved`` the
    number of records moved by the transactions read here, by interval sequence.
    """

    offsets: Mapping[str, Mapping[str, Any] | None]
    epoch: int
    position: TopicPosition | None
    states: OffsetStates = field(default_factory=dict)
    moved: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LostRecords:
    """Offsets [start, end) that were removed before they were read, with the reason."""

    partition: TopicPartition
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class PartitionEnds:
    """Earliest offset and last stable offset of a topic partition, with its topic id."""

    topic_id: str
    earliest: int
    stable: int
    latest: int
    """High watermark: an open transaction lies between ``stable`` and it."""
