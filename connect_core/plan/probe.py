"""A cheap check whether a plan would find work; the result is a hint, the plan decides."""

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
    ConnectorType,
    SourceOffsets,
    TargetState,
)
from connect_core.plan.bounds import has_records
from connect_core.plan.run import Run, Steps
from connect_core.plan.source import is_reached

__all__ = ["has_data"]


def has_data(run: Run) -> Steps[bool | None]:
    """Return whether there is work; ``None`` for a source that declares no bound."""
    state = yield from LoadConnector(run.connector)
    if state.target_state is not TargetState.STARTED or state.failure:
        return False
    run = run.refreshed(state)
    if (yield from LoadUnfinished(run.connector)) is not None:
        return True
    if state.type is ConnectorType.SOURCE:
        offsets: SourceOffsets = yield from LoadOffsets(run.connector)
        states = yield from LoadOffsetStates(run.connector)
        upper = yield from LatestSourceOffsets(run.connector, offsets, states)
        return None if upper is None else not is_reached(upper, offsets)
    positions: Mapping[TopicPartition, int] = yield from LoadOffsets(run.connector)
    ends = yield from ReadPartitionEnds(run.settings.topics, run.settings.topics_regex)
    return has_records(positions, ends)
