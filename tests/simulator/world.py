"""An in-memory world that performs every effect of plan and commit: SQL, Kafka, a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker, IntervalKey, Staged
from connect_core.errors import StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.sink_positions import sink_wishes
from connect_core.interval.time_bounds import FutureRecord
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalRow,
    IntervalSettings,
    IntervalState,
    OffsetProjection,
    PartitionEnds,
    Plan,
    TargetState,
    TaskAssignment,
    TaskOutcome,
    TaskResult,
    TopicPosition,
)
from connect_core.kafka.time_bounds import TimedLog, find_time_bounds
from connect_core.plan.run import Run
from tests.simulator.timed import TimedPartition, TimedReader

NAME = "orders"


@dataclass
class World:
    """One connector, its metadata row, its topics, its offsets topic and its target."""

    connector_type: ConnectorType
    settings: IntervalSettings = field(
        default_factory=lambda: IntervalSettings(8, topics=("t",), consumer_group="connect-orders")
    )
    configs: tuple[Mapping[str, str], ...] = ({"task": "0"},)
    has_committer: bool = True
    # SQL
    state: ConnectorState = field(init=False)
    holder: str | None = None
    rows: list[IntervalRow] = field(default_factory=list)
    offsets: dict[Any, Any] = field(default_factory=dict)
    configs_ever: dict[int, Mapping[str, str]] = field(default_factory=dict)
    # Kafka
    ends: dict[TopicPartition, PartitionEnds] = field(default_factory=dict)
    group: dict[TopicPartition, int] = field(default_factory=dict)
    times: dict[TopicPartition, TimedPartition] = field(default_factory=dict)
    """The records' times, where intervals end by one."""
    now: int = 0
    look_through: int = 5
    future: dict[TopicPartition, FutureRecord] = field(default_factory=dict)
    topic: list[tuple[str, Any]] = field(default_factory=list)
    fenced: list[tuple[int, bool]] = field(default_factory=list)
    upper: Mapping[str, Mapping[str, Any]] | None = None
    # target
    target_epoch: int = 0
    target_positions: Mapping[TopicPartition, int] | None = None
    markers: dict[tuple[int, int], CommitMarker] = field(default_factory=dict)
    published: list[tuple[int, int]] = field(default_factory=list)
    log: list[fx.Effect[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = ConnectorState(
            NAME, self.connector_type, {"name": NAME}, 1, TargetState.STARTED, 0, 1, 0, 0, None, None, {}
        )

    def run(self, holder: str = "me") -> Run:
        """Return a run over the row as it is, its lease taken."""
        self.holder = holder
        ids = iter(range(1, 1000))
        return Run(NAME, holder, "deployment", {}, self.state, self.settings, lambda state: self.settings,
                   lambda: f"a{next(ids)}", lambda deployment, name, task: f"id-{task}")  # fmt: skip

    def handlers(self) -> Mapping[type[fx.Effect[Any]], Callable[[Any], Any]]:
        """Return the performer of every effect, each also writing the log."""
        table: dict[type[fx.Effect[Any]], Callable[[Any], Any]] = {
            fx.LoadConnector: lambda e: self.state,
            fx.LoadConfig: lambda e: self.configs_ever.get(e.version),
            fx.TakeLease: self._take,
            fx.ReleaseLease: lambda e: None,
            fx.RaiseEpoch: self._raise,
            fx.RaiseIncarnation: self._raise_incarnation,
            fx.RecordAssignment: lambda e: None,
            fx.LoadUnfinished: lambda e: next((row for row in self.rows if not row.state.is_final), None),
            fx.LoadResults: lambda e: (),
            fx.LoadOffsets: lambda e: dict(self.offsets),
            fx.LoadOffsetStates: lambda e: {},
            fx.InsertInterval: self._insert,
            fx.RestartInterval: self._restart,
            fx.AbandonInterval: self._abandon,
            fx.RepairOffsets: self._repair,
            fx.RecordLosses: lambda e: None,
            fx.AbandonTarget: lambda e: None,
            fx.RecordAttempt: self._record,
            fx.CommitInterval: self._commit,
            fx.WriteEpoch: self._write_epoch,
            fx.FenceProducers: lambda e: self.fenced.append((e.tasks, e.has_control)),
            fx.ReadOffsetsTopic: self._read_topic,
            fx.ReadPartitionEnds: lambda e: dict(self.ends),
            fx.ReadTimeBounds: self._time_bounds,
            fx.LoadTimeBefore: self._time_before,
            fx.RecordFuture: lambda e: self.future.update(e.found),
            fx.ReadGroupOffsets: lambda e: {p: o for p, o in self.group.items() if p in e.partitions},
            fx.CommitGroupOffsets: lambda e: self.group.update(e.positions),
            fx.TaskConfigs: lambda e: TaskAssignment(self.configs, self.has_committer),
            fx.LatestSourceOffsets: lambda e: self.upper,
            fx.CompareTarget: lambda e: e.config == self.state.config,
            fx.FenceTarget: self._fence_target,
            fx.ReadLastInterval: lambda e: max(self.markers, default=None),
            fx.ReadTargetMarker: lambda e: self.markers.get(_short(e.key)),
            fx.CommitTarget: self._commit_target,
            fx.PublishTarget: lambda e: self.published.append(_short(e.key)),
        }

        def logged(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def perform(effect: fx.Effect[Any]) -> Any:
                self.log.append(effect)
                return handler(effect)

            return perform

        return {kind: logged(handler) for kind, handler in table.items()}

    def done(self, plan: Plan) -> list[TaskResult]:
        """Return what tasks that reach their bounds report; sinks stage all of it."""
        if self.connector_type is ConnectorType.SOURCE:
            return [TaskResult(task.task, TaskOutcome.DONE) for task in plan.tasks]
        return [
            TaskResult(
                task.task,
                TaskOutcome.DONE,
                positions={part.topic_partition: part.end for part in task.ranges},
                staged=tuple(Staged(p.topic, p.partition, p.start, p.end, {}) for p in task.ranges),
            )
            for task in plan.tasks
        ]

    def _time_bounds(self, effect: fx.ReadTimeBounds) -> Any:
        log = TimedLog(
            lambda parts, millis: {part: self.times[part].first(millis) for part in parts},
            lambda ranges: nullcontext(TimedReader(self.times, ranges)),
            lambda topics: {part.topic: end.topic_id for part, end in self.ends.items()},
        )
        return find_time_bounds(log, effect, self.now, self.look_through)

    def _time_before(self, effect: fx.LoadTimeBefore) -> datetime | None:
        done = (row.bound_time for row in self.rows if row.state is IntervalState.COMMITTED)
        return max((time for time in done if time is not None and time < effect.before), default=None)

    def _take(self, effect: fx.TakeLease) -> ConnectorState | None:
        if self.holder not in (None, effect.holder):
            return None
        self.holder = effect.holder
        return self.state

    def _mine(self, epoch: int) -> None:
        if self.state.epoch != epoch:
            raise StaleEpochError(f"epoch {self.state.epoch} replaced {epoch}")

    def _raise(self, effect: fx.RaiseEpoch) -> int:
        if self.holder != effect.holder or self.state.target_state is not TargetState.STARTED:
            raise StaleEpochError("not the holder")
        self.state = replace(self.state, epoch=max(self.state.epoch, effect.floor) + 1)
        return self.state.epoch

    def _raise_incarnation(self, effect: fx.RaiseIncarnation) -> int:
        self._mine(effect.epoch)
        self.state = replace(self.state, incarnation=max(self.state.incarnation, effect.floor) + 1)
        return self.state.incarnation

    def _insert(self, effect: fx.InsertInterval) -> None:
        row = effect.row
        self._mine(row.key.epoch)
        assert all(one.state.is_final for one in self.rows), "two unfinished intervals"
        self.rows.append(row)
        ids = {**self.state.topic_ids, **{part.topic: part.topic_id for part in row.ranges}}
        self.state = replace(self.state, sequence=row.key.sequence, assignment=row.assignment, topic_ids=ids,
                             tasks_ever=max(self.state.tasks_ever, row.tasks))  # fmt: skip

    def _change(self, which: IntervalKey, epoch: int, **changes: Any) -> IntervalRow:
        self._mine(epoch)
        at = next(i for i, row in enumerate(self.rows) if row.key.sequence == which.sequence)
        self.rows[at] = replace(self.rows[at], **changes)
        return self.rows[at]

    def _restart(self, effect: fx.RestartInterval) -> IntervalRow:
        row = next(row for row in self.rows if row.key.sequence == effect.key.sequence)
        return self._change(
            effect.key,
            effect.epoch,
            key=replace(row.key, epoch=effect.epoch),
            attempts=row.attempts + 1,
            ranges=effect.ranges or row.ranges,
            source=effect.source or row.source,
            tasks=effect.tasks,
        )

    def _abandon(self, effect: fx.AbandonInterval) -> None:
        row = self._change(effect.key, effect.epoch, state=IntervalState.ABANDONED)
        if self.connector_type is ConnectorType.SINK and not row.is_backfill:
            self.offsets.update({part.topic_partition: part.start for part in row.ranges})

    def _record(self, effect: fx.RecordAttempt) -> None:
        self._change(effect.key, effect.epoch, state=effect.state)

    def _repair(self, effect: fx.RepairOffsets) -> None:
        self._mine(effect.epoch)
        found: Mapping[Any, Any] = effect.projection.offsets
        if self.connector_type is ConnectorType.SINK:
            found = sink_wishes(found)
        for partition, offset in found.items():
            if offset is None:
                self.offsets.pop(partition, None)
            else:
                self.offsets[partition] = offset
        ids = {**self.state.topic_ids, **effect.topic_ids}
        self.state = replace(self.state, offsets_position=effect.projection.position, topic_ids=ids)

    def _commit(self, effect: fx.CommitInterval) -> None:
        self._change(effect.key, effect.epoch, state=IntervalState.COMMITTED)
        self.offsets.update(effect.positions or effect.source_offsets or {})

    def _write_epoch(self, effect: fx.WriteEpoch) -> None:
        if any(kind == "epoch" and value >= effect.epoch for kind, value in self.topic):
            raise StaleEpochError("a newer epoch stands in the topic")
        self.topic.append(("epoch", effect.epoch))

    def _read_topic(self, effect: fx.ReadOffsetsTopic) -> OffsetProjection:
        entries = self.topic[effect.position.ends[0] if effect.position else 0 :]
        return OffsetProjection(
            dict(value for kind, value in entries if kind == "offset"),
            max((value for kind, value in self.topic if kind == "epoch"), default=0),
            TopicPosition("connect-offsets", "1", {0: len(self.topic)}),
        )

    def _fence_target(self, effect: fx.FenceTarget) -> Mapping[TopicPartition, int] | None:
        if self.target_epoch > effect.epoch:
            error = StaleEpochError("a newer epoch stands in the target")
            error.epoch = self.target_epoch
            raise error
        self.target_epoch = effect.epoch
        return self.target_positions

    def _commit_target(self, effect: fx.CommitTarget) -> CommitMarker:
        return self.markers.setdefault(_short(effect.key), _marker(effect.staged))


def _short(key: IntervalKey) -> tuple[int, int]:
    return key.incarnation, key.sequence


def _marker(staged: Sequence[Staged]) -> CommitMarker:
    return CommitMarker({TopicPartition(one.topic, one.partition): one.end for one in staged})
