"""Restarting an unfinished interval: which of its tasks run again."""

from __future__ import annotations

from connect_core.interval.effects import LoadResults
from connect_core.interval.values import IntervalRow, IntervalState, TaskOutcome, TaskResult
from connect_core.plan.run import Run, Steps

__all__ = ["kept_results"]


def kept_results(run: Run, row: IntervalRow) -> Steps[tuple[TaskResult, ...]]:
    """Return the results of tasks that need not run again.

    These are tasks that are done, if assignment and configuration are unchanged,
    and failed tasks, if only other tasks of the interval were restarted.
    In a failed interval that is retried as a whole, every failed task runs.
    """
    if row.assignment != run.assignment or row.config_version != run.state.config_version:
        return ()
    results = yield from LoadResults(row.key)
    return tuple(result for result in results if _stands(result, row))


def _stands(result: TaskResult, row: IntervalRow) -> bool:
    if result.outcome is TaskOutcome.FAILED:
        return row.state is not IntervalState.FAILED
    return result.outcome is TaskOutcome.DONE
