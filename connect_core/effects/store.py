"""Effects on the metadata database: each one transaction, a compare-and-set on the epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.effects.perform import Handlers
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    FinishIntent,
    InsertInterval,
    LoadConfig,
    LoadConnector,
    LoadOffsets,
    LoadOffsetStates,
    LoadResults,
    LoadTimeBefore,
    LoadUnfinished,
    RaiseEpoch,
    RaiseIncarnation,
    RecordAssignment,
    RecordAttempt,
    RecordFuture,
    RecordLosses,
    ReleaseLease,
    RepairOffsets,
    RestartInterval,
    StoreIntent,
    TakeLease,
)
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    IntervalRow,
    OffsetStates,
    SourceOffsets,
    TaskResult,
)
from connect_core.store import (
    Database,
    attempts,
    configs,
    connectors,
    intents,
    interval_history,
    intervals,
    leases,
    offsets,
)
from connect_core.store.attempts import TaskProgress
from connect_core.store.intervals import RunIdentity

__all__ = ["StoreEffects"]


@dataclass(frozen=True, slots=True)
class StoreEffects:
    """Performs what ``plan`` and ``commit`` ask of the metadata database.

    Every method is one transaction and safe to call from any thread. Beside
    what each effect says: RetriableError when the database is down,
    UnclearOutcomeError when a commit's answer was lost.
    """

    database: Database
    run: RunIdentity = field(default_factory=RunIdentity)

    def handlers(self) -> Handlers:
        """Return the performer of each effect this object performs."""
        return {
            TakeLease: self._take_lease,
            ReleaseLease: self._release_lease,
            LoadConnector: self._load_connector,
            LoadConfig: self._load_config,
            RaiseEpoch: self._raise_epoch,
            RaiseIncarnation: self._raise_incarnation,
            RecordAssignment: self._record_assignment,
            RecordLosses: self._record_losses,
            LoadUnfinished: self._load_unfinished,
            LoadResults: self._load_results,
            LoadTimeBefore: self._load_time_before,
            RecordFuture: self._record_future,
            LoadOffsets: self._load_offsets,
            LoadOffsetStates: self._load_offset_states,
            InsertInterval: self._insert,
            RestartInterval: self._restart,
            AbandonInterval: self._abandon,
            RepairOffsets: self._repair,
            RecordAttempt: self._record_attempt,
            CommitInterval: self._commit,
            StoreIntent: self._store_intent,
            FinishIntent: self._finish_intent,
        }

    def renew_lease(self, connector: str, holder: str, seconds: float) -> bool:
        """Keep the connector longer; false once another holder has taken it."""
        with self.database.write() as connection:
            return leases.renew(connection, connector, holder, seconds)

    def heartbeat(self, key: IntervalKey, epoch: int, progress: Iterable[TaskProgress] = ()) -> bool:
        """Say that the interval runs, and how far its tasks are; false if it is not this epoch's any more."""
        with self.database.write() as connection:
            return intervals.beat(connection, key, epoch, progress)

    def signals(self, connector: str) -> leases.Signals | None:
        """Return what tells a driver to end at the next commit point; ``None`` for an unknown name."""
        with self.database.read() as connection:
            return leases.read_signals(connection, connector)

    def record_failure(self, connector: str, holder: str, trace: str, is_retriable: bool) -> bool:
        """Make the connector FAILED; a fatal failure stands until a restart or a new config.

        False if ``holder`` no longer has the connector.
        """
        with self.database.write() as connection:
            failure = {"trace": trace, "is_retriable": is_retriable}
            return connectors.record_failure(connection, connector, holder, failure)

    def finished(self, connector: str, run_id: str, others: Collection[int]) -> list[interval_history.PastInterval]:
        """Return the committed intervals of a scheduler's run, and ``others``, the oldest first."""
        with self.database.read() as connection:
            return interval_history.of_run(connection, connector, run_id, others)

    def schedule_retry(self, connector: str, seconds: float, tries_left: int) -> bool:
        """Say when the failed interval runs again; while tries are left its tasks are not shown FAILED."""
        with self.database.write() as connection:
            return intervals.schedule_retry(connection, connector, seconds, tries_left)

    def _take_lease(self, effect: TakeLease) -> ConnectorState | None:
        with self.database.write() as connection:
            return leases.take(connection, effect.connector, effect.holder, effect.seconds)

    def _release_lease(self, effect: ReleaseLease) -> None:
        with self.database.write() as connection:
            leases.release(connection, effect.connector, effect.holder)

    def _load_connector(self, effect: LoadConnector) -> ConnectorState:
        with self.database.read() as connection:
            return connectors.get(connection, effect.connector)

    def _load_config(self, effect: LoadConfig) -> Mapping[str, str] | None:
        with self.database.read() as connection:
            return configs.find(connection, effect.connector, effect.version)

    def _raise_incarnation(self, effect: RaiseIncarnation) -> int:
        with self.database.write() as connection:
            return leases.raise_incarnation(connection, effect.connector, effect.epoch, effect.floor)

    def _raise_epoch(self, effect: RaiseEpoch) -> int:
        with self.database.write() as connection:
            return leases.raise_epoch(
                connection, effect.connector, effect.holder, effect.floor, is_settling=effect.is_settling
            )

    def _record_assignment(self, effect: RecordAssignment) -> None:
        with self.database.write() as connection:
            assignment = connectors.Assignment(effect.holder, effect.configs, effect.config_version, self.run.worker)
            connectors.record_assignment(connection, effect.connector, assignment)

    def _load_unfinished(self, effect: LoadUnfinished) -> IntervalRow | None:
        with self.database.read() as connection:
            return intervals.load_unfinished(connection, effect.connector)

    def _record_losses(self, effect: RecordLosses) -> None:
        with self.database.write() as connection:
            intervals.record_losses(connection, effect.connector, effect.epoch, effect.losses)

    def _record_future(self, effect: RecordFuture) -> None:
        with self.database.write() as connection:
            intervals.record_future(connection, effect.connector, effect.epoch, effect.found)

    def _load_time_before(self, effect: LoadTimeBefore) -> datetime | None:
        with self.database.read() as connection:
            return interval_history.time_before(connection, effect.connector, effect.incarnation, effect.before)

    def _load_results(self, effect: LoadResults) -> tuple[TaskResult, ...]:
        with self.database.read() as connection:
            return attempts.load_results(connection, effect.key)

    def _load_offsets(self, effect: LoadOffsets) -> SourceOffsets | Mapping[TopicPartition, int]:
        with self.database.read() as connection:
            kind = connectors.get(connection, effect.connector).type
            stored = offsets.load(connection, effect.connector, kind)
        return stored if kind is ConnectorType.SOURCE else offsets.sink_positions(stored)

    def _load_offset_states(self, effect: LoadOffsetStates) -> OffsetStates:
        with self.database.read() as connection:
            return offsets.load_states(connection, effect.connector)

    def _insert(self, effect: InsertInterval) -> None:
        with self.database.write() as connection:
            intervals.insert_next(connection, effect.row, self.run)

    def _restart(self, effect: RestartInterval) -> IntervalRow:
        again = intervals.Restarted(
            effect.key,
            effect.epoch,
            effect.assignment,
            effect.tasks,
            effect.ranges,
            effect.source,
            effect.kept,
        )
        with self.database.write() as connection:
            return intervals.restart(connection, again, self.run)

    def _abandon(self, effect: AbandonInterval) -> None:
        with self.database.write() as connection:
            intervals.abandon(connection, effect.key, effect.epoch, effect.reason)

    def _repair(self, effect: RepairOffsets) -> None:
        with self.database.write() as connection:
            intervals.repair(connection, effect.connector, effect.epoch, effect.projection, effect.topic_ids)

    def _record_attempt(self, effect: RecordAttempt) -> None:
        with self.database.write() as connection:
            intervals.record_attempt(connection, effect.key, effect.epoch, effect.results, effect.state)

    def _commit(self, effect: CommitInterval) -> None:
        wanted: dict[str, Any] = dict(effect.source_offsets or {})
        wanted |= offsets.sink_offsets(effect.positions or {})
        done = intervals.Commit(
            key=effect.key,
            epoch=effect.epoch,
            results=effect.results,
            offsets=wanted,
            offsets_position=effect.offsets_position,
            columns=effect.columns,
            positions=effect.positions,
        )
        with self.database.write() as connection:
            intervals.commit(connection, done)

    def _store_intent(self, effect: StoreIntent) -> int:
        with self.database.write() as connection:
            wish = intents.Wish(effect.wanted, effect.actor)
            return intents.store(connection, effect.connector, wish, effect.floor, effect.position)

    def _finish_intent(self, effect: FinishIntent) -> None:
        with self.database.write() as connection:
            intents.finish(connection, effect.connector, effect.epoch, effect.offsets, effect.position)
