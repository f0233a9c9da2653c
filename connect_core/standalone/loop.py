"""The loop of one connector in a standalone worker: wait for data, run, wait again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConnectError, NotFoundError, RetriableError, StaleEpochError
from connect_core.herder.readiness import Readiness, readiness
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.run.driver import Driver
from connect_core.run.loop import work_off
from connect_core.run.runner import TaskRunner
from connect_core.store import connectors
from connect_core.store.statuses import load_facts

__all__ = ["ConnectorLoop"]

_LOG = logging.getLogger(__name__)
_PROBE_SECONDS = 0.5
_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 60.0
_MOST_DOUBLINGS = 10


@dataclass(slots=True)
class ConnectorLoop:
    """Runs one connector in a separate thread until asked to stop.

    ``runner`` starts Spark when the first interval has work. ``on_gone``: called in the thread, before it ends because
    the connector is no longer stored.
    """

    worker: ConnectorWorker
    runner: TaskRunner
    on_gone: Callable[[], None] = lambda: None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _wake: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _asked: bool = False
    _is_held: bool = False

    def start(self) -> None:
        """Start the connector's thread."""
        self._thread = threading.Thread(target=self._live, name=f"connector-{self.worker.name}", daemon=True)
        self._thread.start()

    def wake(self, *, asked: bool = False) -> None:
        """Look for work now; ``asked``: even after a fatal failure."""
        self._asked |= asked
        self._wake.set()

    def ask_to_stop(self) -> None:
        """End at the next commit point."""
        self._stopping.set()
        self._wake.set()

    def join(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the thread's end → whether it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()

    def _live(self) -> None:
        failures = 0
        try:
            while not self._stopping.is_set():
                try:
                    if not self._goes_on():
                        return
                    failures = 0
                except BaseException as error:
                    # As Airflow does, try a run again after any error: a plugin may even try to end the process.
                    self._pause(self._report(error, min(_FIRST_RETRY_SECONDS * 2**failures, _LAST_RETRY_SECONDS)))
                    failures = min(failures + 1, _MOST_DOUBLINGS)
        finally:
            self.worker.close()

    def _goes_on(self) -> bool:
        """Run, and wait until there is work again → whether the connector is still stored."""
        try:
            if self._run_once().wait:
                self._await_work()
        except NotFoundError:
            # It may also be a topic that is missing.
            if self._is_stored():
                raise
            self.on_gone()
            return False
        return True

    def _is_stored(self) -> bool:
        with self.worker.database.read() as connection:
            return connectors.find(connection, self.worker.name) is not None

    def _report(self, error: BaseException, delay: float) -> float:
        """Log the error of a run → the seconds to wait before the next one: ``delay`` if the error may be temporary."""
        name = self.worker.name
        if self._stopping.is_set():
            _LOG.info("connector %s stopped: %s", name, error)
        elif isinstance(error, StaleEpochError):
            _LOG.info("connector %s: %s", name, error)
            return _PROBE_SECONDS
        elif isinstance(error, RetriableError):
            _LOG.warning("connector %s: next attempt in %.0f s: %s", name, delay, error)
        elif isinstance(error, ConnectError):
            _LOG.error("connector %s failed: %s", name, error)
            return _PROBE_SECONDS
        else:
            _LOG.error("connector %s: next attempt in %.0f s", name, delay, exc_info=error)
        return delay

    def _run_once(self) -> RunOutcome:
        asked, self._asked = self._asked, False
        request = RunRequest(self.worker.name, self.worker.identity.run_id, continuous=True, asked=asked)
        outcome = work_off(request, Driver(self.worker, self._stopping), self.runner)
        self._tell_holder(outcome)
        return outcome

    def _tell_holder(self, outcome: RunOutcome) -> None:
        """Warn once when another process holds the connector."""
        is_held = outcome.status is RunStatus.SKIPPED
        if is_held and not self._is_held:
            _LOG.warning(
                "connector %s is held by another process on the same database: waiting until that process ends",
                self.worker.name,
            )
        self._is_held = is_held

    def _await_work(self) -> None:
        """Return when a plan may find work; a source without bounds is planned again after its poll interval."""
        began = time.monotonic()
        while not self._stopping.is_set():
            if self._pause(_PROBE_SECONDS):
                return
            answer = self._has_work()
            if answer or (answer is None and time.monotonic() - began >= self.worker.poll_seconds):
                return

    def _has_work(self) -> bool | None:
        """Return whether a plan may find work; ``None`` for a source that declares no bound."""
        with self.worker.database.read() as connection:
            facts = load_facts(connection, [self.worker.name])
        if not facts:
            raise NotFoundError(f"Connector {self.worker.name} not found")
        ready = readiness(facts[0], datetime.now(UTC))
        return self.worker.has_data() if ready is Readiness.QUIET else ready is Readiness.DUE

    def _pause(self, seconds: float) -> bool:
        """Wait up to ``seconds`` → whether the loop was woken."""
        woken = self._wake.wait(seconds)
        self._wake.clear()
        return woken
