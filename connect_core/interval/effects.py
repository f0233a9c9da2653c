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
    ReadLastInterval,
    ReadStanding,
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
    "ReadGroupOffsets",
    "ReadLastInterval",
    "ReadOffsetsTopic",
    "ReadPartitionEnds",
    "ReadStanding",
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


# -- metadata database: each is one transaction; "mine" means the row still has this epoch ----------------------------


@dataclass(frozen=True, slots=True)
class TakeLease(Effect[ConnectorState | None]):
    """Take the connector, unless another's lease is valid → ``ConnectorState | None``. Raise NotFoundError."""

    connector: str
    holder: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ReleaseLease(Effect[None]):
    """Give the lease back if ``holder`` still has it → ``None``."""

    connector: str
    holder: str


@dataclass(frozen=True, slots=True)
class LoadConnector(Effect[ConnectorState]):
    """Read the connector's row → ``ConnectorState``. Raise NotFoundError."""

    connector: str


@dataclass(frozen=True, slots=True)
class LoadConfig(Effect[Mapping[str, str] | None]):
    """Read one of the configurations the connector has had → raw ``Mapping[str, str] | None``."""

    connector: str
    version: int


@dataclass(frozen=True, slots=True)
class RaiseIncarnation(Effect[int]):
    """Raise the incarnation above itself and ``floor`` while ``epoch`` is mine → ``int``. Raise StaleEpochError.

    Where the target holds markers of an earlier life under the keys to come.
    """

    connector: str
    epoch: int
    floor: int = 0


@dataclass(frozen=True, slots=True)
class RaiseEpoch(Effect[int]):
    """Raise the epoch above ``floor`` where the holder is mine and the target state STARTED → ``int``.

    ``is_settling``: where it is *not*. Raise StaleEpochError otherwise.
    """

    connector: str
    holder: str
    floor: int = 0
    is_settling: bool = False


@dataclass(frozen=True, slots=True)
class RecordAssignment(Effect[None]):
    """Store the tasks a plan assigned, found work or not, while the holder is mine → ``None``.

    Begins restarts. Raise StaleEpochError when the lease is lost or the connector was stopped.
    """

    connector: str
    holder: str
    configs: tuple[Mapping[str, str], ...]
    config_version: int = 0


@dataclass(frozen=True, slots=True)
class LoadUnfinished(Effect[IntervalRow | None]):
    """Read the connector's one interval that is not final → ``IntervalRow | None``.

    One of an earlier incarnation was left unclear when a sink of this name was deleted.
    """

    connector: str


@dataclass(frozen=True, slots=True)
class LoadResults(Effect[tuple[TaskResult, ...]]):
    """Read what tasks last reported, those still running or to be restarted left out → ``tuple[TaskResult, ...]``."""

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
    """Keep for good what can no longer be read, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    connector: str
    epoch: int
    losses: tuple[LostRecords, ...]


@dataclass(frozen=True, slots=True)
class RestartInterval(Effect[IntervalRow]):
    """Begin another attempt; results of tasks in ``kept`` stand → ``IntervalRow``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    assignment: str
    tasks: int
    ranges: tuple[PartitionRange, ...] | None = None
    source: SourceBounds | None = None
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AbandonInterval(Effect[None]):
    """Make an unfinished interval ABANDONED, a sink's positions where it began, while ``epoch`` is mine → ``None``."""

    key: IntervalKey
    epoch: int
    reason: str


@dataclass(frozen=True, slots=True)
class RepairOffsets(Effect[None]):
    """Let SQL follow the offsets topic or the target while ``epoch`` is mine → ``None``. Raise StaleEpochError.

    ``topic_ids``: of the topics in which a sink's partitions begin where they do.
    """

    connector: str
    epoch: int
    projection: OffsetProjection
    topic_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordAttempt(Effect[None]):
    """Store what an attempt reported, and its state, while ``epoch`` is mine → ``None``. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    state: IntervalState


@dataclass(frozen=True, slots=True)
class CommitInterval(Effect[None]):
    """Commit an interval, with all that follows from it, while ``epoch`` is mine; idempotent. Raise StaleEpochError."""

    key: IntervalKey
    epoch: int
    results: tuple[TaskResult, ...]
    positions: Mapping[TopicPartition, int] | None = None
    source_offsets: SourceOffsets | None = None
    offsets_position: TopicPosition | None = None
    columns: Mapping[str, ColumnTypes] | None = None


@dataclass(frozen=True, slots=True)
class StoreIntent(Effect[int]):
    """Raise the epoch above ``floor`` where STOPPED and keep the wanted offsets → ``int``.

    A ``None`` offset forgets one, ``wanted=None`` resets all. ``position``: the
    offsets topic they go to, for a connector that followed none yet. Raise
    NotFoundError, IllegalWorkerStateError unless STOPPED. See plan/README.md#abandoning.
    """

    connector: str
    wanted: Mapping[str, Mapping[str, Any] | None] | None
    actor: str = ""
    floor: int = 0
    position: TopicPosition | None = None


@dataclass(frozen=True, slots=True)
class FinishIntent(Effect[None]):
    """Let SQL follow the moved target, abandon what is unfinished, while ``epoch`` is mine → ``None``.

    ``None`` offsets forget. Raise StaleEpochError if overtaken: the next plan repairs SQL.
    """

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None]
    position: TopicPosition | None = None


# -- Kafka ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteEpoch(Effect[None]):
    """Write the epoch record by the control producer → ``None``. Raise StaleEpochError if one ≥ stands.

    See plan/README.md#fencing.
    """

    connector: str
    epoch: int
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class WriteOffsets(Effect[None]):
    """Write source offsets, with private states, by the control producer; may be repeated; as ``WriteEpoch``."""

    connector: str
    epoch: int
    offsets: Mapping[str, Mapping[str, Any] | None]
    states: OffsetStates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FenceProducers(Effect[None]):
    """Run ``init_transactions`` for tasks 0…``tasks``-1, ``has_control``: for the control producer, too → ``None``."""

    connector: str
    tasks: int
    has_control: bool = False


@dataclass(frozen=True, slots=True)
class ReadOffsetsTopic(Effect[OffsetProjection]):
    """Read from ``position``, or the start if elsewhere, to the high watermark, committed → ``OffsetProjection``."""

    connector: str
    position: TopicPosition | None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ReadPartitionEnds(Effect[Mapping[TopicPartition, PartitionEnds]]):
    """Read the ends of all partitions, of topics that exist → ``Mapping[TopicPartition, PartitionEnds]``."""

    topics: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class ReadGroupOffsets(Effect[Mapping[TopicPartition, int]]):
    """Read a consumer group's committed offsets → ``Mapping[TopicPartition, int]`` (what exists)."""

    group: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class CommitGroupOffsets(Effect[None]):
    """Let lag tools see a sink's positions → ``None``; a failure is logged, never raised."""

    group: str
    positions: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class ForgetGroup(Effect[None]):
    """Drop a sink's consumer group → ``None``; a failure is logged, never raised."""

    group: str
