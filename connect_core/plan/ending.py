"""Ending a sink's interval without running its tasks: what markers prove is committed, the rest is abandoned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from connect_core.api.records import TopicPartition
from connect_core.interval.effects import (
    AbandonInterval,
    AbandonTarget,
    CommitInterval,
    PublishTarget,
    ReadTargetMarker,
)
from connect_core.interval.values import IntervalRow, LostRecords
from connect_core.plan.bounds import covering
from connect_core.plan.proof import proves_commit
from connect_core.plan.run import Run, Steps

__all__ = ["end_lost_interval", "end_sink_interval"]


def end_sink_interval(
    run: Run,
    row: IntervalRow,
    kept: Mapping[TopicPartition, int] | None,
    reason: str,
    home: Mapping[str, str] | None = None,
) -> Steps[bool]:
    """Commit the interval as far as the target's marker goes, or abandon it permanently → whether it is committed.

    ``kept``: the positions the target keeps, read after the fence. ``home``: the
    configuration that reaches the interval's target, if it is not the current one.
    """
    if (yield from _commit_marked(run, row, home)):
        return True
    starts = {part.topic_partition: part.start for part in row.ranges}
    reached = {part: max(start, (kept or {}).get(part, start)) for part, start in starts.items()}
    if reached == starts:
        yield from AbandonInterval(row.key, run.mine, reason)
        return False
    yield from CommitInterval(row.key, run.mine, (), positions=reached)
    return True


def end_lost_interval(run: Run, row: IntervalRow, reason: str, gone: tuple[LostRecords, ...]) -> Steps[None]:
    """End an interval that can no longer be read whole, of a target without positions.

    ``gone``: what the next plan cannot notice any more; it is recorded, unless the target proves that it was committed.
    """
    if not (yield from _commit_marked(run, row)):
        yield from AbandonInterval(row.key, run.mine, reason, gone)


def _commit_marked(run: Run, row: IntervalRow, home: Mapping[str, str] | None = None) -> Steps[bool]:
    """Commit the interval if its marker proves it, otherwise leave an abort mark → whether it is committed."""
    marker = yield from ReadTargetMarker(row.key, home)
    if marker is None:
        marker = yield from AbandonTarget(replace(row.key, epoch=run.mine), None, home)
    if marker is not None and marker.moves is not row.is_backfill and proves_commit(marker, row.ranges):
        yield from PublishTarget(row.key, marker, home)
        yield from CommitInterval(
            row.key, run.mine, (), positions=covering(row, marker.positions), columns=marker.columns
        )
        return True
    return False
