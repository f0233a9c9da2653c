"""Connectors and effects for tests, made short."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.effects.store import StoreEffects
from connect_core.errors import ConnectError
from connect_core.interval.effects import Effect, InsertInterval, RaiseEpoch, RecordAssignment, TakeLease
from connect_core.interval.runs import RunIdentity
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    IntervalState,
    SourceBounds,
    TargetState,
    TaskError,
    TaskOutcome,
    TaskResult,
)
from connect_core.store import Database, connectors
from connect_core.store.connectors import NewConfig


class Harness:
    """One database, and its effects as a driver would perform them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.effects = StoreEffects(database, RunIdentity("run-1", "driver:1"))

    def do(self, effect: Effect[Any]) -> Any:
        return self.effects.handlers()[type(effect)](effect)

    def create(
        self, name: str = "c", kind: ConnectorType = ConnectorType.SINK, config: Mapping[str, str] | None = None
    ) -> None:
        with self.database.write() as connection:
            new = NewConfig(kind, config or {"name": name}, "4.3.1", "tester")
            connectors.create(connection, name, new, TargetState.STARTED)

    def delete(self, name: str = "c", *, forget_offsets: bool = False) -> None:
        with self.database.write() as connection:
            connectors.delete(connection, name, forget_offsets=forget_offsets)

    def target(self, state: TargetState, name: str = "c") -> None:
        with self.database.write() as connection:
            connectors.set_target_state(connection, name, state)

    def drive(self, name: str = "c", holder: str = "h", tasks: int = 1) -> int:
        """Take the lease, assign tasks, raise the epoch."""
        assert self.do(TakeLease(name, holder, 60)) is not None
        self.do(RecordAssignment(name, holder, tuple({"task": str(task)} for task in range(tasks))))
        epoch: int = self.do(RaiseEpoch(name, holder))
        return epoch

    def insert(self, key: IntervalKey, tasks: int = 1, end: int = 10, topic_id: str = "id-1") -> IntervalRow:
        row = IntervalRow(
            key,
            IntervalState.PLANNED,
            1,
            f"sink-{tasks}",
            ranges=(PartitionRange("t", 0, 0, end, topic_id),),
            tasks=tasks,
        )
        self.do(InsertInterval(row))
        return row

    def insert_source(self, key: IntervalKey, bounds: SourceBounds) -> IntervalRow:
        row = IntervalRow(key, IntervalState.PLANNED, 1, "source-x", source=bounds, tasks=1)
        self.do(InsertInterval(row))
        return row


def failed(task: int = 0, is_retriable: bool = False, trace: str = "Traceback: boom") -> TaskResult:
    error = TaskError("ConnectError", "boom", trace, is_retriable)
    return TaskResult(task, TaskOutcome.FAILED, error=error, host="worker:7", pid=42)


def race(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Run ``act`` at once in threads and return each one's result or error."""
    gate = threading.Barrier(count)
    results: list[Any] = [None] * count

    def start(number: int) -> None:
        gate.wait()
        try:
            results[number] = act(number)
        except ConnectError as error:
            results[number] = error

    threads = [threading.Thread(target=start, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
