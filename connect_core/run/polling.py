"""Polling a source task in its own thread: ``poll`` may block, ``stop`` comes from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Empty, Full, Queue

from connect_core.api.batch import Batch
from connect_core.api.offsets import canonical
from connect_core.api.records import SourceRecord
from connect_core.api.source import SourceTask
from connect_core.errors import RetriableError
from connect_core.interval.values import OffsetStates

__all__ = ["Polled", "Poller"]

_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Polled:
    """One answer of ``poll``: records as a batch; ``None`` means there were none.

    ``states``: the private state that belongs to the last offset of each source
    partition, by its canonical JSON.
    """

    batch: Batch | None
    records: Sequence[SourceRecord] = ()
    states: OffsetStates = field(default_factory=dict)
    error: BaseException | None = None


@dataclass(slots=True)
class Poller:
    """Calls a task's ``poll_batch`` or ``poll`` until told to stop."""

    task: SourceTask
    _answers: Queue[Polled] = field(default_factory=lambda: Queue(maxsize=2))
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin polling."""
        self._thread = threading.Thread(target=self._poll_until_stopped, name="poll", daemon=True)
        self._thread.start()

    def next(self, seconds: float) -> Polled | None:
        """Return the next answer, or ``None`` if none came in time. Raises what ``poll`` raised."""
        try:
            answer = self._answers.get(timeout=max(seconds, 0.001))
        except Empty:
            return None
        if answer.error is not None:
            raise answer.error
        return answer

    def stop(self, seconds: float) -> bool:
        """Ask the task to stop and wait so long → whether ``poll`` has returned."""
        self._stopping.set()
        self.task.stop()
        if self._thread is not None:
            end = time.monotonic() + seconds
            while self._thread.is_alive() and time.monotonic() < end:
                self._drain()
                self._thread.join(0.05)
            return not self._thread.is_alive()
        return True

    def _drain(self) -> None:
        while not self._answers.empty():
            self._answers.get_nowait()

    def _poll_until_stopped(self) -> None:
        poll = self._poll_batch if type(self.task).poll_batch is not SourceTask.poll_batch else self._poll_records
        while not self._stopping.is_set():
            try:
                answer = poll()
            except RetriableError:
                self._stopping.wait(_RETRY_SECONDS)
                continue
            except BaseException as error:
                self._put(Polled(None, error=error))
                return
            self._put(answer)

    def _poll_batch(self) -> Polled:
        batch = self.task.poll_batch()
        if batch is None:
            return self._poll_records()
        return self._polled(batch) if len(batch) else Polled(None)

    def _poll_records(self) -> Polled:
        records = self.task.poll()
        return self._polled(Batch.from_records(records), records) if records else Polled(None)

    def _polled(self, batch: Batch, records: Sequence[SourceRecord] = ()) -> Polled:
        # Asked here, before the next poll: later the task may be in another file.
        assert batch.positions is not None
        partitions = [partition for partition, _ in batch.positions.last()]
        states = {canonical(one): self.task.offset_state(one) for one in partitions}
        return Polled(batch, records, {key: state for key, state in states.items() if state is not None})

    def _put(self, answer: Polled) -> None:
        while not self._stopping.is_set():
            try:
                self._answers.put(answer, timeout=0.1)
            except Full:
                continue
            return
