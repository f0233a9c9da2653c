"""The effects ``plan`` and ``commit`` yield, with the result each sends back.

A generator that yields these is the whole protocol; ``effects/`` performs them
against the real systems and the simulator against simulated ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import ColumnTypes, CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.interval.values import (
    IntervalRow,
    IntervalState,
    OffsetProjection,
    OffsetStates,
    SourceBounds,
    SourceOffsets,
    TaskResult,
    TopicPosition,
)

__all__ = [
    "AbandonInterval",
    "AbandonTarget",
    "CommitGroupOffsets",
    "CommitInterval",
    "CommitTarget",
    "Effect",
    "FenceProducers",
    "FenceTarget",
    "FinishIntent",
    "InsertInterval",
    "LatestSourceOffsets",
    "LoadConnector",
    "LoadOffsetStates",
    "LoadOffsets",
    "LoadUnfinished",
    "PublishTarget",
    "RaiseEpoch",
    "ReadGroupOffsets",
    "ReadOffsetsTopic",
    "ReadPartitionEnds",
    "ReadTargetMarker",
    "RecordAttempt",
    "RecordDeal",
    "ReleaseLease",
    "RepairOffsets",
    "RestartInterval",
    "StoreIntent",
    "SweepTarget",
    "TakeLease",
    "TaskConfigs",
    "WriteEpoch",
]


class Effect:
    """One act on the world; ``connector`` names whose."""

    __slots__ = ()


# -- metadata database: each is one transaction; "mine" means the row still has this epoch ----------------------------


@dataclass(frozen=True, slots=True)
class TakeLease(Effect):
    """Take the connector for ``holder`` by the database's clock → ``ConnectorState | None``.

    ``None``: another holder's lease is valid. Raise NotFoundError.
    """

    connector: str
    holder: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ReleaseLease(Effect):
    """Give the lease back if ``holder`` still has it → ``None``."""

    connector: str
    holder: str


@dataclass(frozen=True, slots=True)
class LoadConnector(Effect):
    """Read the connector's row → ``ConnectorState``. Raise NotFoundError."""

    connector: str


@dataclass(frozen=True, slots=True)
class RaiseEpoch(Effect):
    """Raise the epoch above ``floor`` where the holder is mine and the target state STARTED → ``int``.

    Raise StaleEpochError otherwise.
    """

    connector: str
    holder: str
    floor: int = 0


@dataclass(frozen=True, slots=True)
class RecordDeal(Effect):
    """Store the tasks a plan dealt, found work or not, while the holder is mine → ``None``.

    What status, ``GET tasks`` and the end of a restart or failure are known by.
    ``config_version`` is the one planned with; 0: the present one. Raise
    StaleEpochError when the lease is lost or the connector was stopped.
    """

    connector: str
    holder: str
    configs: tuple[Mapping[str, str], ...]
    config_version: int = 0


@dataclass(frozen=True, slots=True)
class LoadUnfinished(Effect):
    """Read the connector's one interval that is not final → ``IntervalRow | None``."""

    connector: str


@dataclass(frozen=True, slots=True)
class LoadOffsets(Effect):
    """Read the projected offsets → ``SourceOffsets`` or ``Mapping[TopicPartition, int]`` by type."""

    connector: str


@dataclass(frozen=True, slots=True)
class LoadOffsetStates(Effect):
    """Read the private state kept with source offsets → ``OffsetStates``."""

    connector: str


@dataclass(frozen=True, slots=True)
class InsertInterval(Effect):
    """Insert the next interval while its epoch is mine → ``None``. Raise StaleEpochError.

    Also stores the deal and raises ``tasks_ever`` to ``row.tasks``.
    """

    row: IntervalRow


@dataclass(frozen=True, slots=True)
class RestartInterval(Effect):
    """Begin another attempt of an unfinished interval under a new epoch or deal → ``IntervalRow``.

    Bounds given replace the old ones (a retry starts at the marker; a pause
    cuts the end). Raise StaleEpochError.
    """

    key: IntervalKey
    epoch: int
    deal: str
    tasks: int
    ranges: tuple[PartitionRange, ...] | None = None
    source: SourceBounds | None = None


@dataclass(frozen=True, slots=True)
class AbandonInterval(Effect):
    """Make an unfinished interval ABANDONED while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    reason: str


@dataclass(frozen=True, slots=True)
class RepairOffsets(Effect):
    """Let SQL follow the offsets topic while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    connector: str
    epoch: int
    projection: OffsetProjection


@dataclass(frozen=True, slots=True)
class RecordAttempt(Effect):
    """Store what an attempt reported, and its state, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    state: IntervalState


@dataclass(frozen=True, slots=True)
class CommitInterval(Effect):
    """Offsets, history, topics, columns, counts and state in one transaction while ``epoch`` is mine → ``None``.

    Idempotent for a committed interval. Raise StaleEpochError.
    """

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    positions: Mapping[TopicPartition, int] | None = None
    source_offsets: SourceOffsets | None = None
    offsets_position: TopicPosition | None = None
    columns: Mapping[str, ColumnTypes] | None = None


@dataclass(frozen=True, slots=True)
class StoreIntent(Effect):
    """Raise the epoch above ``floor`` where STOPPED and keep the wanted offsets → ``int`` (design §3, abandoning).

    By canonical JSON of the partition (sinks: ``kafka_topic``,
    ``kafka_partition``); a ``None`` offset forgets one, ``wanted=None`` resets
    all. Raise NotFoundError, IllegalWorkerStateError unless STOPPED.
    """

    connector: str
    wanted: Mapping[str, Mapping[str, Any] | None] | None
    actor: str = ""
    floor: int = 0


@dataclass(frozen=True, slots=True)
class FinishIntent(Effect):
    """Let SQL follow the moved target, abandon what is unfinished, while ``epoch`` is mine → ``None``.

    ``offsets``: what the target holds now, by canonical JSON; ``None`` forgets.
    Raise StaleEpochError if overtaken: the next plan repairs SQL.
    """

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None]


# -- Kafka ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteEpoch(Effect):
    """Write the epoch record by the connector's control producer (design §3, rule 2) → ``None``.

    ``offsets``: altered source offsets to produce in the same transaction
    (``None`` value: forget). Raise StaleEpochError if an epoch ≥ mine stands there.
    """

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None] | None = None


@dataclass(frozen=True, slots=True)
class FenceProducers(Effect):
    """Run ``init_transactions`` for the ids of tasks 0…``tasks``-1 → ``None``."""

    connector: str
    tasks: int


@dataclass(frozen=True, slots=True)
class ReadOffsetsTopic(Effect):
    """Read from ``position`` (``None``: the start) to the high watermark, read_committed → ``OffsetProjection``."""

    connector: str
    position: TopicPosition | None


@dataclass(frozen=True, slots=True)
class ReadPartitionEnds(Effect):
    """Read the ends of all partitions → ``Mapping[TopicPartition, PartitionEnds]``.

    Topics by name (missing ones are left out) or by regular expression. With
    ``before`` (``interval.bound=data_interval_end``) ``stable`` is at most the
    first offset whose timestamp is not earlier.
    """

    topics: tuple[str, ...] = ()
    regex: str | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReadGroupOffsets(Effect):
    """Read a consumer group's committed offsets → ``Mapping[TopicPartition, int]`` (what exists)."""

    group: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class CommitGroupOffsets(Effect):
    """Let lag tools see a sink's positions → ``None``; a failure is logged, never raised."""

    group: str
    positions: Mapping[TopicPartition, int]


# -- the connector and its target -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskConfigs(Effect):
    """Start the connector if need be and call ``task_configs`` → ``TaskDeal`` (configs raw, like the connector's)."""

    connector: str
    max_tasks: int


@dataclass(frozen=True, slots=True)
class LatestSourceOffsets(Effect):
    """Call ``SourceConnector.latest`` → ``SourceOffsets | None``."""

    connector: str
    offsets: SourceOffsets
    states: OffsetStates


@dataclass(frozen=True, slots=True)
class FenceTarget(Effect):
    """Call ``SinkCommitter.fence`` → ``Mapping[TopicPartition, int] | None``."""

    connector: str
    epoch: int


@dataclass(frozen=True, slots=True)
class ReadTargetMarker(Effect):
    """Call ``SinkCommitter.read_marker`` → ``CommitMarker | None``."""

    key: IntervalKey


@dataclass(frozen=True, slots=True)
class CommitTarget(Effect):
    """Call ``SinkCommitter.commit`` → ``CommitMarker``."""

    key: IntervalKey
    staged: Sequence[Staged]


@dataclass(frozen=True, slots=True)
class PublishTarget(Effect):
    """Call ``SinkCommitter.publish`` → ``None``."""

    key: IntervalKey
    marker: CommitMarker


@dataclass(frozen=True, slots=True)
class AbandonTarget(Effect):
    """Call ``SinkCommitter.abandon`` → ``CommitMarker``."""

    key: IntervalKey
    positions: Mapping[TopicPartition, int] | None = None


@dataclass(frozen=True, slots=True)
class SweepTarget(Effect):
    """Call ``SinkCommitter.sweep`` → ``None``."""

    connector: str
    keep: tuple[IntervalKey, ...]
