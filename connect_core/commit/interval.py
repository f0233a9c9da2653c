"""Committing one interval: markers are the proof; the metadata database follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from connect_core.commit.backfill import commit_backfill
from connect_core.commit.committed import Committed
from connect_core.errors import DataLossError
from connect_core.interval.effects import (
    AbandonInterval,
    CommitGroupOffsets,
    CommitInterval,
    CommitTarget,
    PublishTarget,
    RecordAttempt,
)
from connect_core.interval.values import ConnectorType, IntervalState, Plan, TaskOutcome, TaskResult
from connect_core.plan.bounds import covering
from connect_core.plan.proof import FOREIGN, has_ranges
from connect_core.plan.run import Run, Steps
from connect_core.plan.source import committed_offsets

__all__ = ["Committed", "commit_interval"]

_DATA_LOSS = f"{DataLossError.__module__}.{DataLossError.__qualname__}"


def commit_interval(run: Run, plan: Plan, results: Sequence[TaskResult]) -> Steps[Committed]:
    """Make the interval's data visible and record it, or record why it is not.

    Raises StaleEpochError when another run took over the connector meanwhile.
    """
    if plan.backfill is not None:
        return (yield from commit_backfill(run, plan, plan.backfill, results))
    results = [_passable(run, result) for result in results]
    trouble = _trouble(plan, (*results, *plan.kept))
    if trouble is not None:
        state = IntervalState.FAILED if trouble is Committed.FAILED else IntervalState.RUNNING
        yield from RecordAttempt(plan.row.key, run.mine, tuple(results), state)
        return trouble
    if run.state.type is ConnectorType.SOURCE:
        return (yield from _commit_source(run, plan, results))
    if plan.assignment.has_committer:
        return (yield from _commit_target(run, plan, results))
    return (yield from _commit_claims(run, plan, results))


def _trouble(plan: Plan, results: Sequence[TaskResult]) -> Committed | None:
    outcomes = {result.outcome for result in results}
    if TaskOutcome.FAILED in outcomes:
        return Committed.FAILED
    lost = {task.task for task in plan.tasks} - {result.task for result in results}
    if lost or outcomes & {TaskOutcome.STALE, TaskOutcome.UNCLEAR}:
        return Committed.UNCLEAR
    return None


def _passable(run: Run, result: TaskResult) -> TaskResult:
    """Return the result; as unclear if its records vanished after they were planned and the next plan may skip them."""
    is_skipping = run.state.type is ConnectorType.SINK and run.settings.data_loss == "skip"
    if not (is_skipping and result.error is not None and result.error.kind == _DATA_LOSS):
        return result
    return replace(result, outcome=TaskOutcome.UNCLEAR)


def _commit_source(run: Run, plan: Plan, results: Sequence[TaskResult]) -> Steps[Committed]:
    offsets, projection = yield from committed_offsets(run, plan.row.source)
    yield from CommitInterval(
        plan.row.key, run.mine, tuple(results), source_offsets=offsets, offsets_position=projection.position
    )
    return Committed.COMMITTED


def _commit_target(run: Run, plan: Plan, results: Sequence[TaskResult]) -> Steps[Committed]:
    staged = tuple(
        piece for result in sorted((*results, *plan.kept), key=lambda one: one.task) for piece in result.staged
    )
    yield from RecordAttempt(plan.row.key, run.mine, tuple(results), IntervalState.STAGED)
    marker = yield from CommitTarget(plan.row.key, staged)
    if not has_ranges(marker, plan.row.ranges):
        yield from AbandonInterval(plan.row.key, run.mine, FOREIGN)
        return Committed.ABANDONED
    if marker.aborted:
        yield from AbandonInterval(plan.row.key, run.mine, "the target contains its abort marker")
        return Committed.ABANDONED
    yield from PublishTarget(plan.row.key, marker)
    positions = covering(plan.row, marker.positions)
    yield from CommitInterval(plan.row.key, run.mine, tuple(results), positions=positions, columns=marker.columns)
    yield from CommitGroupOffsets(run.settings.consumer_group, marker.positions)
    return Committed.COMMITTED


def _commit_claims(run: Run, plan: Plan, results: Sequence[TaskResult]) -> Steps[Committed]:
    """Commit the positions that ``pre_commit`` declared safe: at least once, as the connector keeps no marker."""
    reached = {part: position for result in (*results, *plan.kept) for part, position in result.positions.items()}
    claims = covering(plan.row, reached)
    yield from CommitInterval(plan.row.key, run.mine, tuple(results), positions=claims)
    yield from CommitGroupOffsets(run.settings.consumer_group, claims)
    return Committed.COMMITTED
