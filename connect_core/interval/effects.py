"""The effects ``plan`` and ``commit`` yield, with the result each sends back.

A generator that yields these is the whole protocol; ``effects/`` performs them
against the real systems and the simulator against simulated ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import ColumnTypes, IntervalKey, PartitionRange
from connect_core.interval.effect import Effect
from connect_core.interval.target_effects import (
    AbandonTarget,
    CommitTarget,
    CompareTarget,
    FenceTarget,
    LatestSourceOffsets,
    PublishTarget,
    ReadExistingExports,
    ReadLastInterval,
    ReadTargetMarker,
    ReleaseTarget,
    ReplaceTarget,
    SweepTarget,
    TaskConfigs,
)
from connect_core.interval.time_bounds import LoadTimeBefore, ReadTimeBounds, RecordFuture
from connect_core.interval.values import (
    ConnectorState,
    IntervalRow,
    IntervalState,
    LostRecords,
    OffsetProjection,
    OffsetStates,
    PartitionEnds,
    SourceBounds,
    SourceOffsets,
    TaskResult,
    TopicPosition,
)

__all__ = [
    "ALTERED",
    "DELETED",
    "AbandonInterval",
    "AbandonTarget",
    "CommitGroupOffsets",
    "CommitInterval",
    "CommitTarget",
    "CompareTarget",
    "Effect",
    "FenceProducers",
    "FenceTarget",
    "FinishIntent",
    "ForgetGroup",
    "InsertInterval",
    "LatestSourceOffsets",
    "LoadConfig",
    "LoadConnector",
    "LoadOffsetStates",
    "LoadOffsets",
    "LoadResults",
    "LoadTimeBefore",
    "LoadUnfinished",
    "PublishTarget",
    "RaiseEpoch",
    "RaiseIncarnation",
    "ReadExistingExports",
    "ReadGroupOffsets",
    "ReadLastInterval",
    "ReadOffsetsTopic",
    "ReadPartitionEnds",
    "ReadTargetMarker",
    "ReadTimeBounds",
    "RecordAssignment",
    "RecordAttempt",
    "RecordFuture",
    "RecordLosses",
    "ReleaseLease",
    "ReleaseTarget",
    "RepairOffsets",
    "ReplaceTarget",
    "RestartInterval",
    "StoreIntent",
    "SweepTarget",
    "TakeLease",
    "TaskConfigs",
    "WriteEpoch",
    "WriteOffsets",
]

ALTERED, DELETED = "offsets were altered or reset", "the connector was deleted"
"""Why an unfinished interval is abandoned."""


# -- metadata database: each is one transaction; "mine" means the row still has this epoch ----------------------------


@dataclass(frozen=True, slots=True)
class TakeLease(Effect[ConnectorState | None]):
    """Take the connector's lease unless another holder's is valid → ``ConnectorState | None``. Raise NotFoundError."""

    connector: str
    holder: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ReleaseLease(Effect[None]):
    """Release the lease if ``holder`` still has it → ``None``."""

    connector: str
    holder: str


@dataclass(frozen=True, slots=True)
class LoadConnector(Effect[ConnectorState]):
    """Read the connector's row → ``ConnectorState``. Raise NotFoundError."""

    connector: str


@dataclass(frozen=True, slots=True)
class LoadConfig(Effect[Mapping[str, str] | None]):
    """Read one version of the connector's configuration → raw ``Mapping[str, str] | None``."""

    connector: str
    version: int


@dataclass(frozen=True, slots=True)
class RaiseIncarnation(Effect[int]):
    """Raise the incarnation above its value and ``floor`` while ``epoch`` is mine → ``int``. Raise StaleEpochError.

    Needed where the target holds markers of an earlier incarnation under the keys of coming intervals.
    """

    connector: str
    epoch: int
    floor: int = 0


@dataclass(frozen=True, slots=True)
class RaiseEpoch(Effect[int]):
    """Raise the epoch above ``floor`` while ``holder`` has the lease and the target state is STARTED → ``int``.

    ``is_settling``: while the target state is *not* STARTED. Raise StaleEpochError otherwise.
    """

    connector: str
    holder: str
    floor: int = 0
    is_settling: bool = False


@dataclass(frozen=True, slots=True)
class RecordAssignment(Effect[None]):
    """Store the tasks a plan assigned, even if it found no work, while ``holder`` has the lease → ``None``.

    Begins restarts. Raise StaleEpochError when the lease is lost or the connector was stopped.
    """

    connector: str
    holder: str
    configs: tuple[Mapping[str, str], ...]
    config_version: int = 0


@dataclass(frozen=True, slots=True)
class LoadUnfinished(Effect[IntervalRow | None]):
    """Read the connector's one interval that is not final → ``IntervalRow | None``.

    If it is of an earlier incarnation, its outcome was unclear when a sink of this name was deleted.
    """

    connector: str


@dataclass(frozen=True, slots=True)
class LoadResults(Effect[tuple[TaskResult, ...]]):
    """Read the last results of tasks, except those still running or to be restarted → ``tuple[TaskResult, ...]``."""

    key: IntervalKey


@dataclass(frozen=True, slots=True)
class LoadOffsets(Effect[Any]):
    """Read the projected offsets → ``SourceOffsets`` or ``Mapping[TopicPartition, int]`` by type."""

    connector: str


@dataclass(frozen=True, slots=True)
class LoadOffsetStates(Effect[OffsetStates]):
    """Read the private state kept with source offsets → ``OffsetStates``."""

    connector: str


@dataclass(frozen=True, slots=True)
class InsertInterval(Effect[None]):
    """Insert a started connector's next interval and assignment while its epoch is mine. Raise StaleEpochError."""

    row: IntervalRow


@dataclass(frozen=True, slots=True)
class RecordLosses(Effect[None]):
    """Record permanently what can no longer be read, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    connector: str
    epoch: int
    losses: tuple[LostRecords, ...]


@dataclass(frozen=True, slots=True)
class RestartInterval(Effect[IntervalRow]):
    """Begin another attempt; results of the tasks in ``kept`` stay valid → ``IntervalRow``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    assignment: str
    tasks: int
    ranges: tuple[PartitionRange, ...] | None = None
    source: SourceBounds | None = None
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AbandonInterval(Effect[None]):
    """Make an unfinished interval ABANDONED, a sink's positions its start, while ``epoch`` is mine → ``None``.

    ``losses``: recorded permanently with it, as ``RecordLosses`` does.
    """

    key: IntervalKey
    epoch: int
    reason: str
    losses: tuple[LostRecords, ...] = ()


@dataclass(frozen=True, slots=True)
class RepairOffsets(Effect[None]):
    """Update SQL from the offsets topic or the target while ``epoch`` is mine → ``None``. Raise StaleEpochError.

    ``topic_ids``: ids of the topics of a sink's partitions whose first positions are stored.
    """

    connector: str
    epoch: int
    projection: OffsetProjection
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordAttempt(Effect[None]):
    """Store an attempt's results and state, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    state: IntervalState


@dataclass(frozen=True, slots=True)
class CommitInterval(Effect[None]):
    """Commit an interval and all that depends on it, while ``epoch`` is mine; idempotent. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    positions: Mapping[TopicPartition, int] | None = None
    source_offsets: SourceOffsets | None = None
    offsets_position: TopicPosition | None = None
    columns: Mapping[str, ColumnTypes] | None = None


@dataclass(frozen=True, slots=True)
class StoreIntent(Effect[int]):
    """Raise the epoch above ``floor`` of a STOPPED connector and store the requested offsets → ``int``.

    A ``None`` offset deletes one, ``wanted=None`` resets all. ``position``: the
    offsets topic they are written to, for a connector that followed none yet. Raise
    NotFoundError, IllegalWorkerStateError unless STOPPED. See plan/README.md#abandoning.
    """

    connector: str
    wanted: Mapping[str, Mapping[str, Any] | None] | None
    actor: str = ""
    floor: int = 0
    position: TopicPosition | None = None


@dataclass(frozen=True, slots=True)
class FinishIntent(Effect[None]):
    """Update SQL from the moved target, abandon the unfinished interval, while ``epoch`` is mine → ``None``.

    ``None`` deletes an offset. ``reason``: why the interval is abandoned. Raise StaleEpochError if overtaken:
    the next plan repairs SQL.
    """

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None]
    position: TopicPosition | None = None
    reason: str = ALTERED


# -- Kafka ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteEpoch(Effect[None]):
    """Write the epoch record by the control producer → ``None``. Raise StaleEpochError if an epoch ≥ it exists.

    ``is_released``: the connector is being deleted, another deployment may have one of its name. Raise ConfigError if
    the topic keeps the connector for another deployment. See plan/README.md#fencing.
    """

    connector: str
    epoch: int
    topic: str | None = None
    is_released: bool = False


@dataclass(frozen=True, slots=True)
class WriteOffsets(Effect[None]):
    """Write source offsets and private states by the control producer; repeatable; errors as ``WriteEpoch``."""

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None]
    states: OffsetStates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FenceProducers(Effect[None]):
    """Run ``init_transactions`` for tasks 0…``tasks``-1 and, if ``has_control``, the control producer → ``None``."""

    connector: str
    tasks: int
    has_control: bool = False


@dataclass(frozen=True, slots=True)
class ReadOffsetsTopic(Effect[OffsetProjection]):
    """Read committed records from ``position`` to the high watermark → ``OffsetProjection``.

    Reads from the start if ``position`` is of another topic. Raise NotFoundError if a ``topic`` that was used before is
    gone, or keeps the connector for another deployment now.
    """

    connector: str
    position: TopicPosition | None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ReadPartitionEnds(Effect[Mapping[TopicPartition, PartitionEnds]]):
    """Read the ends of all partitions of the topics that exist → ``Mapping[TopicPartition, PartitionEnds]``."""

    topics: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class ReadGroupOffsets(Effect[Mapping[TopicPartition, int]]):
    """Read a consumer group's committed offsets, where they exist → ``Mapping[TopicPartition, int]``."""

    group: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class CommitGroupOffsets(Effect[None]):
    """Commit a sink's positions to its consumer group, for lag tools → ``None``; a failure is logged, never raised."""

    group: str
    positions: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class ForgetGroup(Effect[None]):
    """Delete a sink's consumer group → ``None``; a failure is logged, never raised."""

    group: str
