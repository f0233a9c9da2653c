"""One attempt of a sink task over its ranges, in the call order of WorkerSinkTask."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.records import SinkRecord, TopicPartition
from connect_core.api.sink import SinkTask, Staged
from connect_core.errors import AttemptError, ConnectError, RetriableError
from connect_core.interval.failpoints import reach
from connect_core.interval.time_bounds import RecordTimes
from connect_core.interval.values import Counts, SkippedRecords
from connect_core.kafka.raw_batch import RawBatch
from connect_core.kafka.reader import BoundedReader
from connect_core.task.contexts import SinkContext
from connect_core.task.control import TaskControl
from connect_core.task.conversion import Converters
from connect_core.task.dead_letters import SinkDeadLetters
from connect_core.task.hooks import HookThread, HookTimeoutError, stop_plugin
from connect_core.task.pipeline import Pipeline
from connect_core.task.safe_positions import SafePositions
from connect_core.task.skipped import SkippedSummary
from connect_core.task.timeouts import Timeouts

__all__ = ["SinkAttempt"]

Result = TypeVar("Result")
"""What a task's hook returns."""

_LOG = logging.getLogger(__name__)
_FIRST_RETRY_SECONDS = 0.1
_LAST_RETRY_SECONDS = 10.0


@dataclass(slots=True)
class SinkAttempt:
    """One attempt: reads the ranges, delivers batches, then stages or flushes.

    Connect: ``WorkerSinkTask``. Every hook but ``stop`` is called in one thread.
    ``pre_commit`` is called before any offset is committed, may return less than was put, and is also called from time
    to time during the interval, so that a task which writes in ``flush`` need not hold the whole interval.
    """

    task: SinkTask
    context: SinkContext
    task_config: Mapping[str, str]
    converters: Converters
    pipeline: Pipeline
    is_staged: bool
    control: TaskControl
    timeouts: Timeouts = field(default_factory=Timeouts)
    summary: SkippedSummary = field(default_factory=SkippedSummary)
    letters: SinkDeadLetters | None = None
    times: RecordTimes = field(default_factory=RecordTimes)
    records: int = 0
    bytes: int = 0
    late: int = 0
    future: int = 0
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    staged: tuple[Staged, ...] = ()
    topics: set[str] = field(default_factory=set)
    _flushed: float = field(default_factory=time.monotonic)
    _safe: SafePositions = field(default_factory=SafePositions)
    _hooks: HookThread = field(init=False)

    def __post_init__(self) -> None:
        self._hooks = HookThread(self.task, self.timeouts.hook_seconds)

    def run(self, open_reader: Callable[[], BoundedReader]) -> None:
        """Run the task to the end of its ranges, to a cap, or to a stop. Raise ConnectError."""
        task, context, call = self.task, self.context, self._hooks.call
        try:
            call("initialize", lambda: task.initialize(context))
            call("start", lambda: task.start(self.task_config))
            call("open", lambda: task.open(context.assignment))
            try:
                self._deliver_and_finish(open_reader)
            except ConnectError as error:
                self._close_after(error)
                raise
            call("close", lambda: task.close(context.assignment))
        finally:
            self._end()

    def counts(self) -> Counts:
        """Return what has been moved so far."""
        pipeline, converters = self.pipeline, self.converters
        return Counts(
            self.records,
            self.bytes,
            pipeline.tolerance.skipped,
            fallbacks=max(pipeline.fallbacks, converters.fallbacks),
            late=self.late,
            future=self.future,
        )

    def skipped(self) -> tuple[SkippedRecords, ...]:
        """Return the summary of skipped records."""
        return self.summary.lines()

    def is_capped(self) -> bool:
        """Return whether a cap ends the attempt."""
        return self.control.is_past_deadline or self.control.is_past_bytes(self.bytes)

    def _deliver_and_finish(self, open_reader: Callable[[], BoundedReader]) -> None:
        with open_reader() as reader:
            self._rewind(reader)
            self._deliver_all(reader)
            self.positions = dict(reader.positions)
        self._finish()

    def _deliver_all(self, reader: BoundedReader) -> None:
        paused: set[TopicPartition] = set()
        while not (reader.is_finished or self.control.is_stopping or self.is_capped()):
            wanted = set(self.context.paused)
            reader.pause(wanted - paused)
            reader.resume(paused - wanted)
            paused = wanted
            # All of them, even after a rewind, as in Connect: the reader is past them and returns them only once.
            has_put = [self._deliver(raw) for raw in reader.poll()]
            if not any(has_put):
                self._put_nothing(is_idle=not has_put)
            self._rewind(reader)
            self.control.progress(self.records, reader.positions)
            if not reader.is_finished and self._is_flush_due():
                self._pre_commit(reader.positions)
                self._rewind(reader)

    def _rewind(self, reader: BoundedReader) -> None:
        """Seek to the positions that the task requested in ``open``, ``put`` or ``pre_commit``."""
        while self.context.rewinds:
            partition, offset = self.context.rewinds.popitem()
            reader.seek(partition, offset)
            self._safe.rewind(partition, offset)

    def _put_nothing(self, *, is_idle: bool) -> None:
        """Let the task work without records, as Connect does: to resume what it has paused, or to try again.

        A task that stages does its work in ``stage``; for it only what it has paused matters.
        """
        if self.context.paused or (is_idle and not self.is_staged):
            self._retried("put", lambda: self.task.put([]))

    def _deliver(self, raw: RawBatch) -> bool:
        """Put a batch → whether anything was left of it to put."""
        self.topics.add(raw.topic)
        if self.letters is not None:
            self.letters.begin(raw)
        batch = self.pipeline.apply(self.converters.to_connect(raw))
        if len(batch):
            self._retried("put", lambda: self._put(batch))
        self.records += len(raw.value)
        self.bytes += raw.value_bytes
        self._count_times(raw)
        reach("K4", self.control.connector)
        return len(batch) > 0

    def _count_times(self, raw: RawBatch) -> None:
        times = self.times
        if times.late is not None:
            self.late += pc.sum(pc.less(raw.timestamp, times.late)).as_py() or 0
        if times.bound is not None:
            self.future += pc.sum(pc.greater_equal(raw.timestamp, times.bound)).as_py() or 0

    def _put(self, batch: Batch) -> None:
        if not self.task.put_batch(batch):
            self.task.put([record for record in batch.to_records() if isinstance(record, SinkRecord)])

    def _is_flush_due(self) -> bool:
        if self.is_staged:
            return False
        is_late = time.monotonic() - self._flushed >= self.timeouts.flush_seconds
        return is_late or self.context.is_commit_requested

    def _finish(self) -> None:
        self.pipeline.tolerance.check_share(self.records)
        reach("K5", self.control.connector)
        if self.is_staged:
            self._flush_letters()
            self.staged = tuple(self._retried("stage", lambda: self.task.stage(self.positions)))
            self._flush_letters()
        else:
            self._pre_commit(self.positions)
            for partition, offset in self.context.rewinds.items():
                # Nothing is read any more, so the next interval has to begin there.
                self._safe.rewind(partition, offset)
            self.positions = dict(self._safe.positions)

    def _pre_commit(self, positions: Mapping[TopicPartition, int]) -> None:
        """Let the task write what it holds and note what it declares safe. Bad records are in Kafka by then."""
        self.context.is_commit_requested = False
        claimed = self._retried("pre_commit", lambda: self.task.pre_commit(dict(positions)))
        self._flush_letters()
        self._safe.take(claimed, positions)
        if self.letters is not None and self._safe.positions == dict(positions):
            self.letters.forget()
        self._flushed = time.monotonic()

    def _flush_letters(self) -> None:
        if self.letters is not None:
            self.letters.flush()

    def _retried(self, name: str, operation: Callable[[], Result]) -> Result:
        """Run a hook; on RetriableError run it again, after the context's timeout or a growing delay."""
        delay, waited = _FIRST_RETRY_SECONDS, 0.0
        while True:
            try:
                return self._hooks.call(name, operation)
            except AttemptError:
                # A call that hangs may still write: only a new, fenced attempt may put the records again.
                raise
            except RetriableError as error:
                asked = self.context.timeout_milliseconds
                pause = delay if asked is None else asked / 1000
                if waited >= self.timeouts.retry_seconds or self.control.wait_for_stop(pause):
                    raise
                _LOG.warning("%s failed and will get the same records again: %s", name, error)
                waited += pause
                delay = min(delay * 2, _LAST_RETRY_SECONDS)
                self.context.timeout_milliseconds = None

    def _close_after(self, failure: ConnectError) -> None:
        """Let a failed task close what it opened; a second error does not replace the first."""
        if isinstance(failure, HookTimeoutError):
            return
        try:
            self._hooks.call("close", lambda: self.task.close(self.context.assignment))
        except ConnectError as error:
            _LOG.warning("a failed task could not close its partitions: %s", error)

    def _end(self) -> None:
        stop_plugin(self._hooks, self.task, self.timeouts.stop_seconds)
        self.pipeline.close()
        if self.letters is not None:
            self.letters.close()
