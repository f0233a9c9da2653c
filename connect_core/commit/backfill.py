"""Committing one interval of a backfill: all of its ranges or none; no position moves."""

from __future__ import annotations

from collections.abc import Sequence

from connect_core.api.backfill import Backfill
from connect_core.commit.committed import Committed
from connect_core.errors import DataError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitInterval,
    PublishTarget,
    RecordAttempt,
    ReplaceTarget,
)
from connect_core.interval.values import IntervalState, Plan, TaskOutcome, TaskResult
from connect_core.plan.ending import end_sink_interval
from connect_core.plan.proof import FOREIGN, proves_commit
from connect_core.plan.run import Run, Steps

__all__ = ["commit_backfill"]


def commit_backfill(run: Run, plan: Plan, backfill: Backfill, results: Sequence[TaskResult]) -> Steps[Committed]:
    """Replace what was committed of the interval's ranges by its data, or abandon it.

    An incomplete interval is abandoned at once: it must not block the live export, and another attempt could not
    continue it. Raises StaleEpochError, or DataError if earlier files would remain beside the new ones.
    """
    row, ordered = plan.row, sorted(results, key=lambda one: one.task)
    failed = [one for one in ordered if one.outcome is TaskOutcome.FAILED]
    if failed or not _is_whole(plan, ordered):
        yield from RecordAttempt(row.key, run.mine, tuple(results), IntervalState.RUNNING)
        yield from end_sink_interval(run, row, None, _reason(failed))
        return Committed.FAILED if failed else Committed.UNCLEAR
    yield from RecordAttempt(row.key, run.mine, tuple(results), IntervalState.STAGED)
    staged = tuple(piece for result in ordered for piece in result.staged)
    try:
        marker = yield from ReplaceTarget(row.key, staged, backfill)
    except DataError as error:
        yield from end_sink_interval(run, row, None, str(error))
        raise
    if marker.moves or not proves_commit(marker, row.ranges):
        yield from AbandonInterval(
            row.key, run.mine, "the target contains its abort marker" if marker.aborted else FOREIGN
        )
        return Committed.ABANDONED
    yield from PublishTarget(row.key, marker)
    yield from CommitInterval(row.key, run.mine, tuple(results), positions=marker.positions, columns=marker.columns)
    return Committed.COMMITTED


def _is_whole(plan: Plan, results: Sequence[TaskResult]) -> bool:
    """Return whether every range was staged to its end: a shorter file would have another name than the earlier one."""
    if any(result.outcome is not TaskOutcome.DONE for result in results):
        return False
    staged = {(one.topic, one.partition, one.start, one.end) for result in results for one in result.staged}
    wanted = {(one.topic, one.partition, one.start, one.end) for one in plan.row.ranges if one.start < one.end}
    return wanted <= staged


def _reason(failed: Sequence[TaskResult]) -> str:
    if not failed:
        return "not everything was read: the run was interrupted, or a worker was lost"
    error = failed[0].error
    return f"task {failed[0].task} failed" + ("" if error is None else f": {error.kind}: {error.message}")
