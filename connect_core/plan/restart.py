"""Restarting an unfinished interval: which of its tasks run again."""

from __future__ import annotations

from connect_core.interval.effects import LoadResults
from connect_core.interval.values import IntervalRow, IntervalState, TaskOutcome, TaskResult
from connect_core.plan.run import Run, Steps

__all__ = ["kept_results"]


def kept_results(run: Run, row: IntervalRow) -> Steps[tuple[TaskResult, ...]]:
    """Return the results of tasks that need not run again.

    Of tasks that are done, where assignment and configuration are those they ran
    with; and of failed ones, where others of the interval were restarted but
    not they. In a failed interval, tried again as a whole, whatever failed runs.
    """
    if row.assignment != run.assignment or row.config_version != run.state.config_version:
        return ()
    results = yield from LoadResults(row.key)
    return tuple(result for result in results if _stands(result, row))


def _stands(result: TaskResult, row: IntervalRow) -> bool:
    if result.outcome is TaskOutcome.FAILED:
        return row.state is not IntervalState.FAILED
    return result.outcome is TaskOutcome.DONE
