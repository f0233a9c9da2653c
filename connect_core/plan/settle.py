"""Ending an interval without running its tasks: what markers prove is committed, the rest is abandoned."""

from __future__ import annotations

from dataclasses import replace

from connect_core.interval.effects import AbandonInterval, CommitInterval, LoadUnfinished
from connect_core.interval.values import ConnectorType, IntervalRow, IntervalState
from connect_core.plan.fence import fence_sink, fence_source
from connect_core.plan.recovery import end_at_home, home_of
from connect_core.plan.run import Run, Steps
from connect_core.plan.source import committed_offsets

__all__ = ["settle"]

_REASON = "it was interrupted, and the connector is not supposed to run"


def settle(run: Run) -> Steps[Run]:
    """End the interval that a crash left unfinished in a connector that is paused or stopped.

    A failed interval is kept: its tasks show why until they are restarted.
    Raises StaleEpochError when the connector was taken over or resumed.
    """
    row = yield from LoadUnfinished(run.connector)
    if row is None or row.state is IntervalState.FAILED:
        return run.unfenced()
    settling = replace(run.unfenced(), is_settling=True)
    if run.state.type is ConnectorType.SOURCE:
        yield from _end_source_interval((yield from fence_source(settling, 0, "")), row)
    else:
        fenced, kept = yield from fence_sink(settling, "")
        home = yield from home_of(fenced, row)
        yield from end_at_home(fenced, row, home, kept, _REASON)
    return run.unfenced()


def _end_source_interval(run: Run, row: IntervalRow) -> Steps[None]:
    offsets, projection = yield from committed_offsets(run)
    if row.source is None or offsets == row.source.start:
        yield from AbandonInterval(row.key, run.mine, _REASON)
        return
    yield from CommitInterval(row.key, run.mine, (), source_offsets=offsets, offsets_position=projection.position)
