"""Effects on the metadata database: each one transaction, a compare-and-set on the epoch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from connect_core.api.sink import IntervalKey
from connect_core.effects.perform import Handlers
from connect_core.interval.runs import RunIdentity
from connect_core.store import Database, connectors, interval_history, intervals, leases
from connect_core.store.attempts import TaskProgress
from connect_core.store.effects import BY_RUN, READS, WRITES

__all__ = ["StoreEffects"]


@dataclass(frozen=True, slots=True)
class StoreEffects:
    """Performs the metadata database effects of ``plan`` and ``commit``.

    Every method is one transaction and safe to call from any thread. Besides the
    errors of each effect: RetriableError when the database is down,
    UnclearOutcomeError when the reply to a commit was lost.
    """

    database: Database
    run: RunIdentity = field(default_factory=RunIdentity)

    def handlers(self) -> Handlers:
        """Return the performer of each effect this object performs."""
        return {
            **{kind: partial(self._read, function) for kind, function in READS.items()},
            **{kind: partial(self._write, function) for kind, function in WRITES.items()},
            **{kind: partial(self._write, partial(function, run=self.run)) for kind, function in BY_RUN.items()},
        }

    def renew_lease(self, connector: str, holder: str, seconds: float) -> bool:
        """Extend the lease; false once another holder has taken it."""
        with self.database.write() as connection:
            return leases.renew(connection, connector, holder, seconds)

    def heartbeat(self, key: IntervalKey, epoch: int, progress: Iterable[TaskProgress] = ()) -> bool:
        """Record that the interval is running and how far its tasks are; false if it no longer has this epoch."""
        with self.database.write() as connection:
            return intervals.beat(connection, key, epoch, progress)

    def signals(self, connector: str) -> leases.Signals | None:
        """Return the signals that make a driver end at the next commit point; ``None`` for an unknown name."""
        with self.database.read() as connection:
            return leases.read_signals(connection, connector)

    def record_failure(
        self, connector: str, holder: str, trace: str, is_retriable: bool, *, has_tries_left: bool = False
    ) -> bool:
        """Make the connector FAILED, a retriable one after the last try; a fatal one until a restart or new config.

        False if ``holder`` no longer has the connector.
        """
        with self.database.write() as connection:
            is_retried = is_retriable and has_tries_left
            failure = {"trace": trace, "is_retriable": is_retriable, "is_retried": is_retried}
            return connectors.record_failure(connection, connector, holder, failure)

    def finished(self, connector: str, run_id: str, others: Collection[int]) -> list[interval_history.PastInterval]:
        """Return the committed intervals of a scheduler's run, and ``others``, the oldest first."""
        with self.database.read() as connection:
            return interval_history.of_run(connection, connector, run_id, others)

    def schedule_retry(self, connector: str, seconds: float, tries_left: int) -> bool:
        """Record when the failed interval runs again; while tries are left, its tasks are not shown as FAILED."""
        with self.database.write() as connection:
            return intervals.schedule_retry(connection, connector, seconds, tries_left)

    def _read(self, function: Callable[..., Any], effect: Any) -> Any:
        with self.database.read() as connection:
            return function(connection, effect)

    def _write(self, function: Callable[..., Any], effect: Any) -> Any:
        with self.database.write() as connection:
            return function(connection, effect)
