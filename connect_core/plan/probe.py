"""Asking cheaply whether a plan would find work; the answer is a hint, the plan decides."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.records import TopicPartition
from connect_core.interval.effects import (
    LatestSourceOffsets,
    LoadConnector,
    LoadOffsets,
    LoadOffsetStates,
    LoadUnfinished,
    ReadPartitionEnds,
)
from connect_core.interval.values import (
    ConnectorState,
    ConnectorType,
    OffsetStates,
    PartitionEnds,
    SourceOffsets,
    TargetState,
)
from connect_core.plan.run import Run, Steps
from connect_core.plan.source import is_reached

__all__ = ["has_data"]


def has_data(run: Run) -> Steps[bool | None]:
    """Return whether there is work; ``None`` for a source that declares no bound."""
    state: ConnectorState = yield LoadConnector(run.connector)
    if state.target_state is not TargetState.STARTED or state.failure:
        return False
    run = run.refreshed(state)
    if (yield LoadUnfinished(run.connector)) is not None:
        return True
    if state.type is ConnectorType.SOURCE:
        offsets: SourceOffsets = yield LoadOffsets(run.connector)
        states: OffsetStates = yield LoadOffsetStates(run.connector)
        upper: SourceOffsets | None = yield LatestSourceOffsets(run.connector, offsets, states)
        return None if upper is None else not is_reached(upper, offsets)
    positions: Mapping[TopicPartition, int] = yield LoadOffsets(run.connector)
    ends: Mapping[TopicPartition, PartitionEnds] = yield ReadPartitionEnds(
        run.settings.topics, run.settings.topics_regex
    )
    return any(end.stable > positions.get(part, end.earliest) for part, end in ends.items())
