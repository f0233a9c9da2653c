"""Running one sink task over its ranges, in the call order of WorkerSinkTask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.errors import RetriableError
from connect_core.interval.values import Counts
from connect_core.kafka.raw_batch import RawBatch
from connect_core.kafka.reader import BoundedReader
from connect_core.run.contexts import SinkContext
from connect_core.run.control import TaskControl
from connect_core.run.conversion import Converters
from connect_core.run.pipeline import Pipeline

__all__ = ["SinkRun", "SinkWork"]

Result = TypeVar("Result")
"""What a task's hook returns."""

_FIRST_RETRY_SECONDS = 0.1
_LAST_RETRY_SECONDS = 10.0
_RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class SinkWork:
    """What one sink task is run with."""

    task: SinkTask
    context: SinkContext
    task_config: Mapping[str, str]
    converters: Converters
    pipeline: Pipeline
    is_staged: bool


@dataclass(slots=True)
class SinkRun:
    """One attempt: reads the ranges, delivers batches, then stages or flushes.

    Connect: ``WorkerSinkTask``. ``flush``/``pre_commit`` come before any offset
    moves, and ``pre_commit`` may return less than was put.
    """

    work: SinkWork
    control: TaskControl
    records: int = 0
    bytes: int = 0
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    staged: tuple[Staged, ...] = ()
    topics: set[str] = field(default_factory=set)

    def run(self, open_reader: Callable[[], BoundedReader]) -> None:
        """Run the task to the end of its ranges, to a cap, or to a stop."""
        task, context = self.work.task, self.work.context
        task.initialize(context)
        try:
            task.start(self.work.task_config)
            task.open(context.assignment)
            with open_reader() as reader:
                for partition, offset in context.rewinds.items():
                    reader.seek(partition, offset)
                self._deliver_all(reader)
                self.positions = dict(reader.positions)
            self._finish()
            task.close(context.assignment)
        finally:
            task.stop()
            self.work.pipeline.close()

    def counts(self) -> Counts:
        """Return what was moved so far."""
        pipeline, converters = self.work.pipeline, self.work.converters
        return Counts(
            self.records,
            self.bytes,
            pipeline.tolerance.skipped,
            fallbacks=max(pipeline.fallbacks, converters.fallbacks),
        )

    def _deliver_all(self, reader: BoundedReader) -> None:
        paused: set[TopicPartition] = set()
        while not (reader.is_finished or self.control.is_stopping or self.is_capped()):
            for raw in reader.poll():
                self._deliver(raw)
            self.control.progress(self.records, reader.positions)
            wanted = set(self.work.context.paused)
            reader.pause(wanted - paused)
            reader.resume(paused - wanted)
            paused = wanted

    def _deliver(self, raw: RawBatch) -> None:
        self.topics.add(raw.topic)
        batch = self.work.pipeline.apply(self.work.converters.to_connect(raw))
        if len(batch):
            self._retried(lambda: self._put(batch))
        self.records += len(raw.value)
        self.bytes += sum(map(len, filter(None, raw.value)))

    def _put(self, batch: Batch) -> None:
        if not self.work.task.put_batch(batch):
            self.work.task.put([record for record in batch.to_records() if isinstance(record, SinkRecord)])

    def _finish(self) -> None:
        task = self.work.task
        if self.work.is_staged:
            self.staged = tuple(self._retried(lambda: task.stage(self.positions)))
        else:
            self.positions = dict(self._retried(lambda: task.pre_commit(self.positions)))

    def _retried(self, operation: Callable[[], Result]) -> Result:
        """Run a hook; on RetriableError again, after the context's timeout or a growing delay."""
        delay, waited = _FIRST_RETRY_SECONDS, 0.0
        while True:
            try:
                return operation()
            except RetriableError:
                asked = self.work.context.timeout_milliseconds
                pause = delay if asked is None else asked / 1000
                if waited >= _RETRY_SECONDS or self.control.wait_for_stop(pause):
                    raise
                waited += pause
                delay = min(delay * 2, _LAST_RETRY_SECONDS)
                self.work.context.timeout_milliseconds = None

    def is_capped(self) -> bool:
        """Return whether a cap ends the attempt."""
        return self.control.is_past_deadline or self.control.is_past_bytes(self.bytes)
