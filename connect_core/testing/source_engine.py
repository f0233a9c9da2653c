"""Runs intervals of a source in memory: the engine's polling, without Kafka."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.connector import WorkerLimits
from connect_core.api.data import Struct
from connect_core.api.headers import Headers
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceConnector, SourceTask
from connect_core.interval.values import OffsetStates, SourceOffsets
from connect_core.task.contexts import PlannedOffsets, SourceContext, Transactions
from connect_core.task.polling import Poller
from connect_core.testing.contexts import MemoryConnectorContext

__all__ = ["Lane", "Poll", "Position", "SourceEngine", "position_after"]

_STOP_SECONDS = 10.0
_TIMEOUT_SECONDS = 10.0
_BOUNDED_SECONDS = 2.0
_EMPTY_POLLS = 2


class Lane(Enum):
    """How records are passed: one by one, or as columns if the task supports it."""

    RECORDS = "records"
    BATCHES = "batches"


@dataclass(frozen=True, slots=True)
class Position:
    """The committed offsets and private states, by canonical JSON of the source partition."""

    offsets: SourceOffsets = field(default_factory=dict)
    states: OffsetStates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Poll:
    """The records of one poll of a task, with the state that belongs to its last offsets."""

    records: tuple[SourceRecord, ...]
    states: OffsetStates = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceEngine:
    """Runs a source connector and its tasks as the engine does, one task after the other.

    ``idle_seconds``: a task without a bound ends once it has returned nothing for
    so long; ``most_records``: reading of an endless source stops there.
    """

    connector: type[SourceConnector]
    config: Mapping[str, str]
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    tasks: int = 1
    idle_seconds: float = 0.2
    most_records: int = 500

    def start(self, position: Position | None = None) -> SourceConnector:
        """Return a started connector."""
        connector = self.connector()
        connector.initialize(MemoryConnectorContext(self.limits, offset_states=(position or Position()).states))
        connector.start(dict(self.config))
        return connector

    def bound(self, position: Position) -> SourceOffsets | None:
        """Return the upper bound that the connector plans; ``None`` if it has none."""
        connector = self.start(position)
        try:
            return connector.latest(position.offsets)
        finally:
            connector.stop()

    def read(
        self, position: Position | None = None, lane: Lane = Lane.RECORDS, bound: SourceOffsets | None = None
    ) -> list[Poll]:
        """Run one interval, up to the bound given or planned → what its tasks returned, in order.

        Without a bound it ends after the idle time. Raises the errors of tasks.
        """
        begin = position or Position()
        # The first Arrow array of a process imports pandas, which must not count as idle time of the source.
        Batch.from_records([])
        upper = self.bound(begin) if bound is None else bound
        return [] if upper is not None and upper == begin.offsets else self.follow(begin, lane, upper)

    def follow(self, begin: Position, lane: Lane, bound: SourceOffsets | None = None) -> list[Poll]:
        """Run the tasks to the bound; without one, until they have been idle."""
        connector = self.start(begin)
        try:
            kind, configs = connector.task_class(), [dict(one) for one in connector.task_configs(self.tasks)]
        finally:
            connector.stop()
        kind = kind if lane is Lane.BATCHES else _in_records(kind)
        return [poll for config in configs for poll in self._run(kind(), config, begin, bound)]

    def context(self, config: Mapping[str, str], begin: Position, bound: SourceOffsets | None) -> SourceContext:
        """Return a task's context."""
        offsets = PlannedOffsets(begin.offsets)
        return SourceContext(config, self.limits, offsets, Transactions(), begin.states, bound)

    def _run(
        self, task: SourceTask, config: Mapping[str, str], begin: Position, bound: SourceOffsets | None
    ) -> list[Poll]:
        context = self.context(config, begin, bound)
        task.initialize(context)
        poller = Poller(task)
        try:
            poller.start(dict(config))
            polls = self._drain(poller, context)
        finally:
            ended = poller.stop(_STOP_SECONDS)
        assert ended, f"poll() was still running {_STOP_SECONDS:.0f} s after stop(): stop() must end it"
        return polls

    def _drain(self, poller: Poller, context: SourceContext) -> list[Poll]:
        polls: list[Poll] = []
        idle = self.idle_seconds if context.upper_bounds is None else _BOUNDED_SECONDS
        last, empty = time.monotonic(), 0
        while not self._is_over(polls, context):
            answer = poller.next(_TIMEOUT_SECONDS)
            if answer is not None and answer.batch is not None:
                records = answer.records or answer.batch.to_records()
                # Copies, as the next poll may reuse what these consist of.
                polls.append(Poll(tuple(_kept(one) for one in records if isinstance(one, SourceRecord)), answer.states))
                last, empty = time.monotonic(), 0
                continue
            empty += 1
            # Polls are counted too: on a busy machine time alone is not enough to tell that the source is idle.
            if answer is None or (empty >= _EMPTY_POLLS and time.monotonic() - last >= idle):
                break
        return polls

    def _is_over(self, polls: list[Poll], context: SourceContext) -> bool:
        if sum(len(poll.records) for poll in polls) >= self.most_records:
            return True
        upper, reader = context.upper_bounds, context.offset_storage_reader
        if upper is None:
            return False
        now = position_after(polls, Position(reader.start)).offsets
        mine = (reader.asked | set(now)) & set(upper)
        return bool(mine) and all(now.get(key) == upper[key] for key in mine)


def position_after(polls: Iterable[Poll], begin: Position | None = None) -> Position:
    """Return the position that is committed after these polls."""
    before = begin or Position()
    offsets, states = dict(before.offsets), dict(before.states)
    for poll in polls:
        for record in poll.records:
            offsets[canonical(record.source_partition or {})] = record.source_offset or {}
        states |= poll.states
    return Position(offsets, states)


def _kept(record: SourceRecord) -> SourceRecord:
    """Return a record that does not change with the objects of the given one."""
    return replace(
        record,
        key=_copied(record.key),
        value=_copied(record.value),
        headers=Headers(replace(one, value=_copied(one.value)) for one in record.headers),
        source_partition=_copied(record.source_partition),
        source_offset=_copied(record.source_offset),
    )


def _copied(value: Any) -> Any:
    if isinstance(value, Struct):
        return Struct.of_values(value.schema, [_copied(one) for one in value.values])
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return value


def _in_records(kind: type[SourceTask]) -> type[SourceTask]:
    """Return the task's class without its batch lane."""
    plain: Any = type(kind.__name__, (kind,), {"poll_batch": SourceTask.poll_batch})
    chosen: type[SourceTask] = plain
    return chosen
