"""Polling a source task in its own thread: ``poll`` may block, ``stop`` comes from outside."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, Queue
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.flow import Prepared, RowFailure
from connect_core.api.offsets import canonical, checked_map
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.errors import AttemptError, DataError, RetriableError
from connect_core.interval.values import OffsetStates
from connect_core.task.contexts import Boundaries, Transactions
from connect_core.task.hooks import HookThread, hook_error, stop_plugin
from connect_core.task.polled_records import checked_records
from connect_core.task.tolerance import class_name

__all__ = ["Polled", "Poller"]

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS = 0.5
_AHEAD = 1


@dataclass(frozen=True, slots=True)
class Polled:
    """One result of ``poll``: records as a batch; ``None`` means there were none.

    ``states``: the private state that belongs to the last offset of each source partition, by its canonical JSON.
    ``result``: what the task itself made of the batch, ``failures``: the rows that failed in doing so (``take_over``).
    ``is_interruptible``: whether the interval may end after it. ``is_lent``: whether the next poll may change its
    objects, as a result of ``poll``; it then begins only at ``Poller.proceed``.
    """

    batch: Batch | None
    records: Sequence[SourceRecord] = ()
    states: OffsetStates = field(default_factory=dict)
    boundaries: Boundaries = field(default_factory=Boundaries)
    error: BaseException | None = None
    result: Batch | None = None
    failures: Sequence[RowFailure] = ()
    is_interruptible: bool = True
    is_lent: bool = False


@dataclass(slots=True)
class Poller:
    """Starts a task, then calls its ``poll_batch`` or ``poll`` until stopped, all in one thread.

    ``seconds``: how long ``start`` may take. A poll may block forever: the interval ends without it.

    ``poll_batch`` is one call ahead of its consumer. ``poll`` waits until its last result has been converted, since a
    task may reuse the objects of that result: in Connect one thread polls and converts.
    """

    task: SourceTask
    transactions: Transactions | None = None
    seconds: float = 300.0
    _answers: Queue[Polled] = field(default_factory=Queue)
    _room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_AHEAD))
    _is_lent: bool = False
    _returned: threading.Event = field(default_factory=threading.Event)
    _has_stopped: bool | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _hooks: HookThread | None = None
    _polling: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self, config: Mapping[str, str]) -> None:
        """Start the task and begin polling. Raise ConnectError if it cannot, RetriableError if it hangs."""
        self._hooks = HookThread(self.task, self.seconds)
        self._hooks.call("start", lambda: self.task.start(config))
        self._polling.set()
        self._hooks.begin(self._poll_until_stopped)

    def next(self, seconds: float) -> Polled | None:
        """Return the next result, or ``None`` if none came in time. Raises what ``poll`` raised, as ConnectError.

        Nothing of the result before is needed any more.
        """
        self.proceed()
        try:
            answer = self._answers.get(timeout=max(seconds, 0.001))
        except Empty:
            return None
        if answer.is_lent:
            self._is_lent = True
        else:
            self._room.release()
        if answer.error is not None:
            error = hook_error(self.task, "poll", answer.error)
            raise error from (error.__cause__ if error is answer.error else answer.error)
        return answer

    def proceed(self) -> None:
        """Let the task poll again: the objects of the last result are needed no more, as they have been converted."""
        if self._is_lent:
            self._is_lent = False
            self._returned.set()

    def stop(self, seconds: float) -> bool:
        """Stop the task, once, and wait at most this long → whether ``stop`` and ``poll`` have returned.

        ``stop`` is called in another thread than ``poll``, as it may have to end ``poll``.
        """
        if self._has_stopped is None:
            self._stopping.set()
            self._has_stopped = stop_plugin(HookThread(self.task, seconds), self.task, seconds)
        end = time.monotonic() + seconds
        while not self._is_over() and time.monotonic() < end:
            self._ended.wait(0.05)
        if self._hooks is not None:
            self._hooks.close()
        if not self._is_over():
            _LOG.warning("%s.poll did not return within %g s after stop", class_name(self.task), seconds)
        return self._has_stopped and self._is_over()

    def last(self, seconds: float) -> Iterator[Polled]:
        """Stop the task → what it had polled, and what the poll in progress returned, if it did so in time.

        Without this, a source with slow polls would never make progress. What a poll raises after ``stop`` is ignored.
        Connect: ``AbstractWorkerSourceTask.execute``.
        """
        self._stopping.set()
        # Before ``stop``, which may clear the objects that the task reuses.
        yield from self._waiting()
        self.stop(seconds)
        yield from self._waiting()

    def _waiting(self) -> Iterator[Polled]:
        while not self._answers.empty():
            answer = self._answers.get_nowait()
            if answer.batch is not None:
                yield answer

    def _is_over(self) -> bool:
        return self._ended.is_set() or not self._polling.is_set()

    def _poll_until_stopped(self) -> None:
        try:
            self._poll()
        finally:
            self._ended.set()

    def _poll(self) -> None:
        poll = self._poll_batch if type(self.task).poll_batch is not SourceTask.poll_batch else self._poll_records
        while not self._stopping.is_set():
            try:
                answer = poll()
            except BaseException as error:
                if isinstance(error, RetriableError) and not isinstance(error, AttemptError):
                    _LOG.warning("%s.poll failed and will be called again: %s", class_name(self.task), error)
                    self._stopping.wait(_RETRY_SECONDS)
                    continue
                self._put(Polled(None, error=error))
                return
            self._put(answer)

    def _poll_batch(self) -> Polled:
        batch = self.task.poll_batch()
        if batch is None:
            return self._poll_records()
        if isinstance(batch, Prepared):
            polled = self._polled(batch.polled)
            return replace(polled, records=batch.records, result=batch.result, failures=batch.failures)
        return self._polled(batch) if len(batch) else self._nothing()

    def _check(self, positions: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]) -> None:
        """Check what is committed of a task's own columns. Raises DataError."""
        try:
            for partition, offset in positions:
                checked_map(partition, "source_partition")
                checked_map({} if offset is None else offset, "source_offset")
        except DataError as error:
            raise self._uncommittable("poll_batch", error) from error

    def _uncommittable(self, method: str, error: DataError) -> DataError:
        return DataError(f"{class_name(self.task)}.{method} returned what cannot be committed: {error}")

    def _poll_records(self) -> Polled:
        # A copy, since the task may reuse the list as well.
        records = checked_records(self.task, self.task.poll())
        if not records:
            return self._nothing()
        try:
            batch = Batch.from_records(records)
        except DataError as error:
            raise self._uncommittable("poll", error) from error
        return replace(self._polled(batch, records), is_lent=True)

    def _nothing(self) -> Polled:
        return Polled(None, is_interruptible=self.task.is_interruptible())

    def _polled(self, batch: Batch, records: Sequence[SourceRecord] = ()) -> Polled:
        # Read here, before the next poll: later the task may be in another file.
        assert batch.positions is not None
        positions = batch.positions.last()
        if not records:
            # Those of records were checked one by one as they were copied.
            self._check(positions)
        states = {canonical(one): self.task.offset_state(one) for one, _ in positions}
        # Taken here as well: what the next poll requests concerns the next batch.
        boundaries = self.transactions.take(records) if self.transactions is not None else Boundaries()
        known = {key: dict(state) for key, state in states.items() if state is not None}
        return Polled(batch, records, known, boundaries, is_interruptible=self.task.is_interruptible())

    def _put(self, answer: Polled) -> None:
        self._returned.clear()
        self._answers.put(answer)
        go_on = self._returned.wait if answer.is_lent else self._acquire_room
        while not go_on(0.1) and not self._stopping.is_set():
            continue

    def _acquire_room(self, seconds: float) -> bool:
        return self._room.acquire(timeout=seconds)
