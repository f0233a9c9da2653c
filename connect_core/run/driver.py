"""The driver of a run: performs effects, renews the lease, watches for stop requests."""

from __future__ import annotations

import logging
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from connect_core.effects.perform import Handlers, perform
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, RetriableError, StaleEpochError
from connect_core.interval.effects import ReadTargetMarker
from connect_core.interval.failpoints import reach
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.interval.values import Plan, TaskResult
from connect_core.plan.interval import Planned, Verdict, plan_interval
from connect_core.plan.run import Run, Steps, begin_run, clear_target, end_run
from connect_core.run.backfill import unreported
from connect_core.run.finished import Finished
from connect_core.store.attempts import TaskProgress

__all__ = ["Driver", "Progress"]

_LOG = logging.getLogger(__name__)
_LEASE_SECONDS = 20.0
_WATCH_SECONDS = 1.0
_LINGER_SECONDS = 0.5
"""How often a run that waits for more data looks for it."""
_FIRST_RETRY_SECONDS = 10.0
_LAST_RETRY_SECONDS = 600.0

Result = TypeVar("Result")
"""What a protocol returns."""


@dataclass(slots=True)
class Progress:
    """What a run has done so far."""

    intervals: int = 0
    records: int = 0
    unclear: int = 0
    outlets: set[str] = field(default_factory=set)
    """URIs of what was written, for Airflow's assets."""
    finished: Callable[[str], Mapping[str, Any]] = lambda run_id: {}
    """Returns the description of the intervals that a run has finished."""

    def count(self, plan: Plan, results: Sequence[TaskResult]) -> None:
        """Count one committed interval."""
        self.intervals, self.unclear = self.intervals + 1, 0
        self.records += sum(result.counts.records for result in results)
        if plan.row.source is not None:
            written = {topic for result in results for topic in result.topics}
            self.outlets |= {f"kafka://{plan.tasks[0].deployment}/{topic}" for topic in written}

    def count_unclear(self, plan: Plan, tries: int) -> None:
        """Count one attempt of unclear outcome. Raises RetriableError after ``tries`` in a row."""
        self.unclear += 1
        if self.unclear >= tries:
            raise RetriableError(
                f"the outcome of {plan.job_tag} was unclear {self.unclear} times in a row; see the log"
            )

    def ended(self, status: RunStatus, request: RunRequest) -> RunOutcome:
        """Return the outcome of the run."""
        waits = request.continuous and status in (RunStatus.IDLE, RunStatus.STOPPED)
        outlets = tuple(sorted(self.outlets))
        return RunOutcome(
            status,
            wait=waits,
            intervals=self.intervals,
            records=self.records,
            outlets=outlets,
            finished=self.finished(request.run_id),
        )


@dataclass(slots=True)
class Driver:
    """One process running one connector at a time; ``stopping`` ends it at a commit point."""

    worker: ConnectorWorker
    stopping: threading.Event = field(default_factory=threading.Event)
    _began: float = field(default_factory=time.monotonic)
    _moved: float = field(default_factory=time.monotonic)
    _finished: Finished = field(default_factory=Finished)
    _request: RunRequest | None = None
    _handlers: Handlers = field(init=False)

    def __post_init__(self) -> None:
        self._handlers = self._finished.recording(self.worker.handlers())

    @property
    def is_stopping(self) -> bool:
        """Whether this process was asked to stop."""
        return self.stopping.is_set()

    def begin(self, request: RunRequest) -> Run | None:
        """Take the lease → the run, or ``None`` while another holder has it. Raises NotFoundError."""
        self._began, self._request = time.monotonic(), request
        self._moved = self._began
        holder = f"{request.run_id} {socket.gethostname()} {uuid.uuid4().hex[:8]}"
        # Not by ``self.perform``: nothing of the connector is loaded yet, so an error can contain no secret of it.
        state = perform(begin_run(request.connector, holder, _LEASE_SECONDS), self._handlers)
        if state is None:
            return None
        return self.worker.run_of(state, holder, request.bound_time, request.since)

    def perform(self, steps: Steps[Result]) -> Result:
        """Run a protocol against the real systems; errors contain no secrets of the connector."""
        try:
            return perform(steps, self._handlers)
        except ConnectError as error:
            self.worker.clean(error)
            raise

    def plan(self, run: Run) -> Planned:
        """Plan the next interval; an error of the connector makes it FAILED, the refusal of a backfill does not.

        A retriable error of a connector that has been planned before makes it FAILED only after the last try.
        """
        try:
            planned = self.perform(plan_interval(run))
        except StaleEpochError:
            raise
        except ConnectError as error:
            is_last = self._request is None or self._request.last_try
            self.worker.record_failure(run.holder, error, has_tries_left=not is_last)
            raise
        if planned.refusal is not None:
            raise planned.refusal
        return planned

    def plan_or_wait(self, run: Run, request: RunRequest) -> Planned:
        """Plan the next interval, again and again while there is no data, for ``run.linger.ms``; raises as ``plan``."""
        planned = self.plan(run)
        while planned.plan is None and self._lingers(request, planned.verdict):
            planned = self.plan(planned.run)
        return planned

    def _lingers(self, request: RunRequest, verdict: Verdict) -> bool:
        """Wait a moment for more data → whether to look for it then, rather than end the run."""
        if verdict is not Verdict.IDLE or not request.continuous:
            return False
        now = time.monotonic()
        if now - self._moved >= self.worker.linger_seconds or now - self._began > self.worker.run_seconds:
            return False
        return not self.stopping.wait(_LINGER_SECONDS)

    @contextmanager
    def holding(self, run: Run) -> Iterator[Progress]:
        """Keep the lease while the block runs; release it at its end."""
        try:
            with _repeating(_LEASE_SECONDS / 4, lambda: self.worker.renew_lease(run.holder, _LEASE_SECONDS)):
                try:
                    yield Progress(finished=self._told)
                finally:
                    self._clear_target(run)
        finally:
            # Only after renewal has stopped: otherwise a released lease would look as if another run had taken it.
            self._end(run)

    @contextmanager
    def watching(self, run: Run, plan: Plan) -> Iterator[None]:
        """While the job runs: mark it alive, and pass a stop or pause on to its tasks."""
        reach("K2", run.connector)
        self.worker.beat(plan, run.mine)

        told: list[TaskProgress] = []

        def talk_to_tasks() -> None:
            nonlocal told
            if self.is_stopping or self.worker.is_unwanted(run.state):
                self.worker.ask_tasks_to_stop(plan)
            progress = self.worker.progress(plan)
            if progress != told:
                self.worker.beat(plan, run.mine, progress)
                told = progress

        # The database's sign of life must not wait for brokers that do not answer.
        with (
            _repeating(_WATCH_SECONDS, lambda: self.worker.beat(plan, run.mine)),
            _repeating(_WATCH_SECONDS, talk_to_tasks),
        ):
            yield

    def schedule_retry(self, request: RunRequest, plan: Plan) -> None:
        """Schedule the failed interval's next run; after the last try its tasks show FAILED until then."""
        waits = min(_FIRST_RETRY_SECONDS * 2**plan.row.attempts, _LAST_RETRY_SECONDS)
        self.worker.store.schedule_retry(request.connector, waits, 0 if request.last_try else 1)

    def is_over(self, request: RunRequest, is_last: bool) -> bool:
        """Return whether the run ends after this interval."""
        self._moved = time.monotonic()
        if self.is_stopping:
            return True
        if not request.continuous:
            return is_last
        return time.monotonic() - self._began > self.worker.run_seconds

    def _told(self, run_id: str) -> Mapping[str, Any]:
        """Describe what the run has finished; if that fails, the run is successful all the same."""
        try:
            rows = self.worker.store.finished(self.worker.name, run_id, self._finished.committed)
            read_marker = self._handlers[ReadTargetMarker] if self.worker.is_loaded else None
            return self._finished.told(unreported(self._request, rows), read_marker)
        except ConnectError as error:
            _LOG.warning("the completion of run %s of %s could not be reported: %s", run_id, self.worker.name, error)
            return {}

    def _clear_target(self, run: Run) -> None:
        try:
            # A run that ends before its first plan has loaded no connector and staged nothing.
            if self.worker.is_loaded:
                self.perform(clear_target(run))
        except (ConnectError, OSError) as error:
            _LOG.warning("staged data of finished intervals of %s is left for the next run: %s", run.connector, error)

    def _end(self, run: Run) -> None:
        try:
            self.perform(end_run(run))
        except ConnectError as error:
            _LOG.warning("lease of %s was not released, it will expire: %s", run.connector, error)


@contextmanager
def _repeating(seconds: float, action: Callable[[], Any]) -> Iterator[None]:
    """Repeat an action in a thread while the block runs; if it fails, it is repeated all the same."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            try:
                action()
            except Exception as error:
                _LOG.warning("%s", error, exc_info=None if isinstance(error, ConnectError) else error)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(seconds + 5)
