"""Tables of the functions that perform effects on the metadata database; each effect is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlalchemy import Connection

from connect_core.api.records import TopicPartition
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    Effect,
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
from connect_core.interval.values import ConnectorType, SourceOffsets
from connect_core.store import attempts, configs, connectors, intents, interval_history, intervals, leases, offsets

__all__ = ["BY_RUN", "READS", "WRITES"]

Performer: TypeAlias = Callable[..., Any]
"""Takes the connection and the effect → the result of the effect."""


def _load_offsets(connection: Connection, effect: LoadOffsets) -> SourceOffsets | Mapping[TopicPartition, int]:
    kind = connectors.get(connection, effect.connector).type
    stored = offsets.load(connection, effect.connector, kind)
    return stored if kind is ConnectorType.SOURCE else offsets.sink_positions(stored)


READS: Mapping[type[Effect[Any]], Performer] = {
    LoadConnector: lambda connection, effect: connectors.get(connection, effect.connector),
    LoadConfig: lambda connection, effect: configs.find(connection, effect.connector, effect.version),
    LoadUnfinished: lambda connection, effect: intervals.load_unfinished(connection, effect.connector),
    LoadResults: lambda connection, effect: attempts.load_results(connection, effect.key),
    LoadTimeBefore: interval_history.time_before,
    LoadOffsets: _load_offsets,
    LoadOffsetStates: lambda connection, effect: offsets.load_states(connection, effect.connector),
}
WRITES: Mapping[type[Effect[Any]], Performer] = {
    TakeLease: leases.take,
    ReleaseLease: leases.release,
    RaiseEpoch: leases.raise_epoch,
    RaiseIncarnation: leases.raise_incarnation,
    RecordLosses: intervals.record_losses,
    RecordFuture: intervals.record_future,
    AbandonInterval: intervals.abandon,
    RepairOffsets: intervals.repair,
    RecordAttempt: intervals.record_attempt,
    CommitInterval: intervals.commit,
    StoreIntent: intents.store,
    FinishIntent: intents.finish,
}
"""Each is a compare-and-set: on the lease's holder, or on the epoch."""

BY_RUN: Mapping[type[Effect[Any]], Performer] = {
    RecordAssignment: connectors.record_assignment,
    InsertInterval: intervals.insert_next,
    RestartInterval: intervals.restart,
}
"""These also take ``run``, the ``RunIdentity`` of the run that performs them."""
