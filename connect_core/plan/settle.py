"""Ending an interval without running its tasks: what markers prove is committed, the rest abandoned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker
from connect_core.interval.effects import (
    AbandonInterval,
    AbandonTarget,
    CommitInterval,
    LoadUnfinished,
    PublishTarget,
    ReadTargetMarker,
)
from connect_core.interval.values import ConnectorType, IntervalRow, IntervalState
from connect_core.plan.bounds import covering
from connect_core.plan.fence import fence_sink, fence_source
from connect_core.plan.run import Run, Steps
from connect_core.plan.source import committed_offsets

__all__ = ["end_sink_interval", "settle"]

Positions = Mapping[TopicPartition, int]

_REASON = "it was interrupted, and the connector is not to run"


def settle(run: Run) -> Steps[Run]:
    """End what a crash left unfinished of a connector that is paused or stopped.

    A failed interval stays: its tasks show why until they are restarted.
    Raises StaleEpochError when the connector was taken over or resumed.
    """
    row: IntervalRow | None = yield LoadUnfinished(run.connector)
    if row is None or row.state is IntervalState.FAILED:
        return run.unfenced()
    settling = replace(run.unfenced(), is_settling=True)
    if run.state.type is ConnectorType.SOURCE:
        yield from _end_source_interval((yield from fence_source(settling, 0, "")), row)
    else:
        fenced, kept = yield from fence_sink(settling, "")
        yield from end_sink_interval(fenced, row, kept, _REASON)
    return run.unfenced()


def _end_source_interval(run: Run, row: IntervalRow) -> Steps[None]:
    offsets, projection = yield from committed_offsets(run)
    if row.source is None or offsets == row.source.start:
        yield AbandonInterval(row.key, run.mine, _REASON)
        return
    yield CommitInterval(row.key, run.mine, (), source_offsets=offsets, offsets_position=projection.position)


def end_sink_interval(run: Run, row: IntervalRow, kept: Positions | None, reason: str) -> Steps[None]:
    """Commit the interval as far as the target's marker goes, or abandon it for ever.

    ``kept``: the positions the target keeps, read after the fence.
    """
    marker: CommitMarker | None = yield ReadTargetMarker(row.key)
    if marker is None:
        marker = yield AbandonTarget(replace(row.key, epoch=run.mine))
    if marker is not None and not marker.aborted:
        yield PublishTarget(row.key, marker)
        yield CommitInterval(row.key, run.mine, (), positions=covering(row, marker.positions), columns=marker.columns)
        return
    starts = {part.topic_partition: part.start for part in row.ranges}
    reached = {part: max(start, (kept or {}).get(part, start)) for part, start in starts.items()}
    if reached == starts:
        yield AbandonInterval(row.key, run.mine, reason)
        return
    yield CommitInterval(row.key, run.mine, (), positions=reached)
