"""The effects on the connector's own code and its target; ``effects`` re-exports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connect_core.api.backfill import Backfill, ExistingExports
from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, PartitionRange, Staged
from connect_core.interval.effect import Effect
from connect_core.interval.values import OffsetStates, SourceOffsets, TaskAssignment

__all__ = [
    "AbandonTarget",
    "CommitTarget",
    "CompareTarget",
    "FenceTarget",
    "LatestSourceOffsets",
    "PublishTarget",
    "ReadExistingExports",
    "ReadLastInterval",
    "ReadTargetMarker",
    "ReleaseTarget",
    "ReplaceTarget",
    "SweepTarget",
    "TaskConfigs",
]


@dataclass(frozen=True, slots=True)
class TaskConfigs(Effect[TaskAssignment]):
    """Start the connector if needed and call ``task_configs`` → ``TaskAssignment`` (configs unresolved)."""

    connector: str
    max_tasks: int


@dataclass(frozen=True, slots=True)
class LatestSourceOffsets(Effect[SourceOffsets | None]):
    """Call ``SourceConnector.latest`` → ``SourceOffsets | None``."""

    connector: str
    offsets: SourceOffsets
    states: OffsetStates


@dataclass(frozen=True, slots=True)
class CompareTarget(Effect[bool]):
    """Compare by ``SinkConnector.target``: whether ``config`` reaches the same target as the connector → ``bool``."""

    connector: str
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FenceTarget(Effect[Mapping[TopicPartition, int] | None]):
    """Call ``SinkCommitter.fence`` → ``Mapping[TopicPartition, int] | None``.

    ``config``, here and below: the configuration whose target is meant, for an
    interval begun with it; ``None``: the current one.
    """

    connector: str
    epoch: int
    config: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ReadLastInterval(Effect[tuple[int, int] | None]):
    """Call ``SinkCommitter.last_interval`` → ``tuple[int, int] | None``; ``None`` for a connector without committer."""

    connector: str


@dataclass(frozen=True, slots=True)
class ReadTargetMarker(Effect[CommitMarker | None]):
    """Call ``SinkCommitter.read_marker`` → ``CommitMarker | None``."""

    key: IntervalKey
    config: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CommitTarget(Effect[CommitMarker]):
    """Call ``SinkCommitter.commit`` → ``CommitMarker``."""

    key: IntervalKey
    staged: Sequence[Staged]


@dataclass(frozen=True, slots=True)
class ReadExistingExports(Effect[ExistingExports | str]):
    """Call ``ReplacingCommitter.standing`` → ``ExistingExports``, or ``str``: why the connector cannot export again."""

    connector: str
    ranges: Sequence[PartitionRange]


@dataclass(frozen=True, slots=True)
class ReplaceTarget(Effect[CommitMarker]):
    """Call ``ReplacingCommitter.replace`` → ``CommitMarker``. Raise DataError."""

    key: IntervalKey
    staged: Sequence[Staged]
    backfill: Backfill


@dataclass(frozen=True, slots=True)
class PublishTarget(Effect[None]):
    """Call ``SinkCommitter.publish`` → ``None``."""

    key: IntervalKey
    marker: CommitMarker
    config: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class AbandonTarget(Effect[CommitMarker | None]):
    """Call ``SinkCommitter.abandon`` → ``CommitMarker``, ``None`` for a connector without a committer."""

    key: IntervalKey
    positions: Mapping[TopicPartition, int | None] | None = None
    config: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ReleaseTarget(Effect[None]):
    """Call ``SinkCommitter.release`` → ``None``."""

    connector: str


@dataclass(frozen=True, slots=True)
class SweepTarget(Effect[None]):
    """Call ``SinkCommitter.sweep`` → ``None``."""

    connector: str
    keep: tuple[IntervalKey, ...]
    config: Mapping[str, str] | None = None
