"""A quick metadata database: every effect one serializable transaction, proven equal to ``store`` by comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import IllegalWorkerStateError, LeaseLostError, NotFoundError, StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.sink_positions import sink_offsets, sink_positions
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalRow,
    IntervalState,
    TargetState,
    TaskOutcome,
    TaskResult,
    TopicPosition,
)

NAME = "orders"
Offsets = dict[str, Mapping[str, Any]]

_ROWS: tuple[str, ...] = (
    "state",
    "holder",
    "deleted",
    "rows",
    "results",
    "offsets",
    "states",
    "intent",
    "restarts",
    "planned_version",
)
_ROWS += ("has_tasks", "configs")


@dataclass(slots=True)
class Metadata:
    """One connector's rows. ``is_live`` says whether a lease's holder still renews it."""

    connector_type: ConnectorType
    is_live: Callable[[str], bool]
    state: ConnectorState = field(init=False)
    holder: str | None = None
    deleted: bool = False
    rows: list[IntervalRow] = field(default_factory=list)
    results: dict[int, dict[int, TaskResult]] = field(default_factory=dict)
    offsets: Offsets = field(default_factory=dict)
    states: dict[str, Mapping[str, str]] = field(default_factory=dict)
    intent: fx.StoreIntent | None = None
    losses: list[Any] = field(default_factory=list)
    restarts: set[int] = field(default_factory=set)
    planned_version: int | None = None
    """The configuration by which tasks were last assigned."""
    configs: dict[int, Mapping[str, str]] = field(default_factory=dict)
    """Version → configuration."""
    has_tasks: bool = False
    """Whether tasks were assigned since the connector was created or stopped."""
    on_commit: Callable[[IntervalRow], None] = lambda row: None
    on_abandon: Callable[[IntervalRow], None] = lambda row: None
    on_losses: Callable[[], None] = lambda: None
    on_finish: Callable[[fx.FinishIntent, bool], None] = lambda effect, is_reset: None
    on_forget: Callable[[int], None] = lambda epoch: None

    def __post_init__(self) -> None:
        self.state = ConnectorState(
            NAME, self.connector_type, {"name": NAME}, 1, TargetState.STARTED, 0, 1, 0, 0, None, None, {}
        )
        self.configs[1] = self.state.config

    def handlers(self) -> dict[type[fx.Effect[Any]], Callable[[Any], Any]]:
        return {
            fx.TakeLease: self._take,
            fx.ReleaseLease: self._release,
            fx.LoadConnector: self._load,
            fx.LoadConfig: lambda effect: self.configs.get(effect.version),
            fx.RaiseEpoch: self._raise,
            fx.RaiseIncarnation: self._raise_incarnation,
            fx.RecordAssignment: self._assignment,
            fx.LoadUnfinished: lambda effect: self.unfinished(),
            fx.LoadResults: self._load_results,
            fx.LoadOffsets: self._load_offsets,
            fx.LoadOffsetStates: lambda effect: dict(self.states),
            fx.InsertInterval: self._insert,
            fx.RestartInterval: self._restart,
            fx.RecordLosses: self._record_losses,
            fx.RecordFuture: lambda effect: self._own(effect.epoch),
            fx.LoadTimeBefore: self._time_before,
            fx.AbandonInterval: self._abandon,
            fx.RepairOffsets: self._repair,
            fx.RecordAttempt: self._record,
            fx.CommitInterval: self._commit,
            fx.StoreIntent: self._store_intent,
            fx.FinishIntent: self._finish_intent,
        }

    @property
    def open_intervals(self) -> int:
        """How many intervals are not final, of whatever life."""
        return sum(not row.state.is_final for row in self.rows)

    @property
    def is_held(self) -> bool:
        """Whether nobody runs the connector again before a person has acted."""
        row = self.unfinished()
        if self.deleted or self.state.target_state is not TargetState.STARTED or self.restarts or row is None:
            return False
        version = self.state.config_version
        if row.state is not IntervalState.FAILED or not self.has_tasks:
            return False
        if self.planned_version != version or row.config_version != version:
            return False
        failures = [one for one in self.results.get(row.key.sequence, {}).values() if one.outcome is TaskOutcome.FAILED]
        return any(one.error is not None and not one.error.is_retriable for one in failures)

    # -- disasters

    def content(self) -> Any:
        """Return all rows, as a backup has them; what was recorded as lost is kept elsewhere."""
        return {name: deepcopy(getattr(self, name)) for name in _ROWS}

    def restore(self, content: Any) -> None:
        """Put a backup in the place of all rows; without one the database starts over, with the connector created."""
        for name, value in (
            Metadata(self.connector_type, self.is_live).content() if content is None else content
        ).items():
            setattr(self, name, deepcopy(value))

    # -- what operators do

    def set_target_state(self, target: TargetState) -> None:
        if self.deleted:
            return
        self.state = replace(self.state, target_state=target)
        if target is TargetState.STOPPED:
            self.has_tasks = False
            self.restarts.clear()
            self._unblock()

    def _unblock(self) -> None:
        """Let a failed interval run again as if it had been interrupted."""
        for row in self.rows:
            if row.state is IntervalState.FAILED:
                self._change(row.key, state=IntervalState.PLANNED)

    def configure(self, config: Mapping[str, str] | None = None) -> None:
        if not self.deleted:
            self._accept(self.state.config if config is None else config)

    def _accept(self, config: Mapping[str, str]) -> None:
        self.state = replace(self.state, config=config, config_version=self.state.config_version + 1)
        self.configs[self.state.config_version] = config

    def delete(self, forget: bool) -> None:
        self.deleted, self.has_tasks = True, False
        self.restarts.clear()
        if forget:
            self._end_unfinished(())
            self.offsets.clear()
            self.states.clear()
            self.state = replace(self.state, epoch=self.state.epoch + 1, topic_ids={}, offsets_position=self._start())
            self.on_forget(self.state.epoch)

    def create(self) -> None:
        if not self.deleted:
            return
        self.deleted, self.holder, self.planned_version, self.has_tasks = False, None, None, False
        if self.connector_type is ConnectorType.SOURCE:
            self._end_unfinished(())
        self.state = replace(
            self.state,
            target_state=TargetState.STARTED,
            epoch=self.state.epoch + 1,
            incarnation=self.state.incarnation + 1,
        )
        self._accept(self.state.config)

    def end_unasked(self) -> None:
        """End a stopped connector that is to be deleted without asking its target: a sink's interval stays."""
        self._store_intent(fx.StoreIntent(NAME, {}, ""))
        if self.connector_type is ConnectorType.SOURCE:
            self._end_unfinished(())
        self.state = replace(self.state, offsets_position=self._start(), topic_ids=self._ids_but({}))
        self.intent = None

    def ask_restart(self, task: int) -> None:
        if not self.deleted:
            self.restarts.add(task)

    def unfinished(self) -> IntervalRow | None:
        return next((row for row in self.rows if not row.state.is_final), None)

    # -- effects

    def _own(self, epoch: int) -> None:
        if self.state.epoch != epoch:
            error = StaleEpochError(f"epoch {self.state.epoch} replaced {epoch}")
            error.epoch = self.state.epoch
            raise error

    def _load(self, effect: fx.LoadConnector) -> ConnectorState:
        if self.deleted:
            raise NotFoundError(effect.connector)
        return self.state

    def _take(self, effect: fx.TakeLease) -> ConnectorState | None:
        if self.deleted:
            raise NotFoundError(effect.connector)
        if self.holder not in (None, effect.holder) and self.is_live(self.holder or ""):
            return None
        self.holder = effect.holder
        return self.state

    def _release(self, effect: fx.ReleaseLease) -> None:
        if self.holder == effect.holder:
            self.holder = None

    def _raise(self, effect: fx.RaiseEpoch) -> int:
        if self.deleted:
            raise StaleEpochError("deleted")
        if self.holder != effect.holder:
            raise LeaseLostError("not the holder")
        if (self.state.target_state is TargetState.STARTED) is effect.is_settling:
            raise StaleEpochError("not in this state")
        self.state = replace(self.state, epoch=max(self.state.epoch, effect.floor) + 1)
        return self.state.epoch

    def _raise_incarnation(self, effect: fx.RaiseIncarnation) -> int:
        self._own(effect.epoch)
        self.state = replace(self.state, incarnation=max(self.state.incarnation, effect.floor) + 1)
        return self.state.incarnation

    def _assignment(self, effect: fx.RecordAssignment) -> None:
        if self.holder != effect.holder or self.deleted or self.state.target_state is TargetState.STOPPED:
            raise StaleEpochError("not the holder, or stopped")
        self.planned_version, self.has_tasks = effect.config_version, True
        row = self.unfinished()
        if row is not None and self.restarts:
            for task in self.restarts:
                self.results.get(row.key.sequence, {}).pop(task, None)
            self._unblock()
        self.restarts.clear()

    def _load_results(self, effect: fx.LoadResults) -> tuple[TaskResult, ...]:
        return tuple(self.results.get(effect.key.sequence, {}).values())

    def _load_offsets(self, effect: fx.LoadOffsets) -> Any:
        if self.deleted:
            raise NotFoundError(effect.connector)
        return dict(self.offsets) if self.connector_type is ConnectorType.SOURCE else sink_positions(self.offsets)

    def _insert(self, effect: fx.InsertInterval) -> None:
        row = effect.row
        self._own(row.key.epoch)
        if self.deleted or row.key.incarnation != self.state.incarnation:
            raise StaleEpochError("deleted")
        if self.state.target_state is not TargetState.STARTED:
            raise StaleEpochError(f"{self.state.target_state}")
        if row.key.sequence != self.state.sequence + 1 or self.unfinished() is not None:
            raise StaleEpochError("not the next interval")
        self.rows.append(replace(row, attempts=max(row.attempts, 1)))
        self.state = replace(
            self.state,
            sequence=row.key.sequence,
            assignment=row.assignment,
            tasks_ever=max(self.state.tasks_ever, row.tasks),
            topic_ids={**self.state.topic_ids, **({} if row.is_backfill else _ids(row))},
        )

    def _find(self, key: IntervalKey) -> int:
        for at, row in enumerate(self.rows):
            if (row.key.sequence, row.key.incarnation) == (key.sequence, key.incarnation):
                return at
        raise StaleEpochError(f"no interval {key}")

    def _change(self, which: IntervalKey, **changes: Any) -> IntervalRow:
        at = self._find(which)
        self.rows[at] = replace(self.rows[at], **changes)
        return self.rows[at]

    def _check_open(self, key: IntervalKey) -> IntervalRow:
        row = self.rows[self._find(key)]
        if row.state.is_final:
            raise StaleEpochError(f"{row.state}")
        return row

    def _restart(self, effect: fx.RestartInterval) -> IntervalRow:
        self._own(effect.epoch)
        if self.deleted:
            raise StaleEpochError("deleted")
        row = self._check_open(effect.key)
        kept = self.results.get(effect.key.sequence, {})
        self.results[effect.key.sequence] = {task: one for task, one in kept.items() if task in effect.kept}
        self.state = replace(
            self.state, assignment=effect.assignment, tasks_ever=max(self.state.tasks_ever, effect.tasks)
        )
        return self._change(
            effect.key,
            key=replace(row.key, epoch=effect.epoch),
            state=IntervalState.PLANNED,
            assignment=effect.assignment,
            tasks=effect.tasks,
            config_version=self.planned_version or self.state.config_version,
            attempts=row.attempts + 1,
            ranges=row.ranges if effect.ranges is None else effect.ranges,
            source=row.source if effect.source is None else effect.source,
        )

    def _time_before(self, effect: fx.LoadTimeBefore) -> datetime | None:
        done = (row for row in self.rows if row.state is IntervalState.COMMITTED and not row.is_backfill)
        times = (row.bound_time for row in done if row.key.incarnation == effect.incarnation)
        return max((time for time in times if time is not None and time < effect.before), default=None)

    def _record_losses(self, effect: fx.RecordLosses) -> None:
        self._own(effect.epoch)
        self.on_losses()
        self.losses += effect.losses

    def _abandon(self, effect: fx.AbandonInterval) -> None:
        self._own(effect.epoch)
        if self.rows[self._find(effect.key)].state is IntervalState.ABANDONED:
            return
        if effect.losses:
            self.on_losses()
            self.losses += effect.losses
        self.on_abandon(self._check_open(effect.key))
        self._end_unfinished(())

    def _end_unfinished(self, moved: Any) -> None:
        for row in [row for row in self.rows if not row.state.is_final]:
            if self.connector_type is ConnectorType.SINK and not row.is_backfill:
                starts = sink_offsets({part.topic_partition: part.start for part in row.ranges})
                for key, start in starts.items():
                    if key not in moved and start is not None:
                        self.offsets[key] = start
            self._change(row.key, state=IntervalState.ABANDONED)

    def _repair(self, effect: fx.RepairOffsets) -> None:
        self._own(effect.epoch)
        self._move(effect.projection.offsets)
        for key, offset in effect.projection.offsets.items():
            state = effect.projection.states.get(key)
            if offset is None or state is None:
                self.states.pop(key, None)
            else:
                self.states[key] = state
        if effect.projection.position:
            self.state = replace(self.state, offsets_position=effect.projection.position)
        if effect.topic_ids:
            self.state = replace(self.state, topic_ids={**self.state.topic_ids, **effect.topic_ids})

    def _move(self, wanted: Mapping[str, Mapping[str, Any] | None]) -> None:
        for key, offset in wanted.items():
            if offset is None:
                self.offsets.pop(key, None)
            else:
                self.offsets[key] = offset

    def _record(self, effect: fx.RecordAttempt) -> None:
        self._own(effect.epoch)
        self._check_open(effect.key)
        self._keep(effect.key, effect.results)
        self._change(effect.key, state=effect.state)

    def _keep(self, key: IntervalKey, results: Any) -> None:
        kept = self.results.setdefault(key.sequence, {})
        for result in results:
            kept[result.task] = result if result.outcome is TaskOutcome.DONE else _bare(result)

    def _commit(self, effect: fx.CommitInterval) -> None:
        self._own(effect.epoch)
        if self.rows[self._find(effect.key)].state is IntervalState.COMMITTED:
            return
        row = self._check_open(effect.key)
        self._keep(effect.key, effect.results)
        if not row.is_backfill:
            self._move({**(effect.source_offsets or {}), **sink_offsets(effect.positions or {})})
        ranges = row.ranges
        if effect.positions is not None:
            ranges = tuple(_cut(part, effect.positions) for part in ranges)
        if effect.offsets_position is not None:
            self.state = replace(self.state, offsets_position=effect.offsets_position)
        self.on_commit(self._change(effect.key, state=IntervalState.COMMITTED, ranges=ranges))

    def _store_intent(self, effect: fx.StoreIntent) -> int:
        if self.deleted:
            raise NotFoundError(effect.connector)
        if self.state.target_state is not TargetState.STOPPED:
            raise IllegalWorkerStateError("must be STOPPED")
        self.state = replace(self.state, epoch=max(self.state.epoch, effect.floor) + 1)
        if effect.wanted is None:
            self.state = replace(self.state, sequence=max(self.state.sequence, 1))
        self.state = replace(self.state, offsets_position=self.state.offsets_position or effect.position)
        self.intent = effect
        return self.state.epoch

    def _finish_intent(self, effect: fx.FinishIntent) -> None:
        self._own(effect.epoch)
        if self.intent is None:
            return
        ids = self._ids_but(effect.offsets if self.intent.wanted is None else self.intent.wanted)
        self._end_unfinished(effect.offsets)
        for key, offset in effect.offsets.items():
            if self.offsets.get(key) != offset:
                self.states.pop(key, None)
        self._move(effect.offsets)
        self.on_finish(effect, self.intent.wanted is None)
        self.intent = None
        self.state = replace(self.state, offsets_position=effect.position, topic_ids=ids)

    def _start(self) -> TopicPosition | None:
        """Return the start of the offsets topic that is followed."""
        known = self.state.offsets_position
        return None if known is None else known.at_start()

    def _ids_but(self, touched: Mapping[str, Any]) -> dict[str, str]:
        """Return the known ids of topics of which some partition is not touched."""
        if not touched and self.connector_type is ConnectorType.SINK:
            return dict(self.state.topic_ids)
        known = set() if self.connector_type is ConnectorType.SOURCE else set(self.offsets) - set(touched)
        topics = {part.topic for part in sink_positions({key: self.offsets[key] for key in known})}
        return {topic: identity for topic, identity in self.state.topic_ids.items() if topic in topics}


def _ids(row: IntervalRow) -> dict[str, str]:
    return {part.topic: part.topic_id for part in row.ranges}


def _bare(result: TaskResult) -> TaskResult:
    return TaskResult(result.task, result.outcome, error=result.error)


def _cut(part: Any, positions: Mapping[TopicPartition, int]) -> Any:
    return replace(part, end=max(part.start, min(part.end, positions.get(part.topic_partition, part.end))))
