"""Planning of source intervals: committed offsets from the topic, upper bounds if declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from connect_core.api.sink import IntervalKey
from connect_core.errors import StaleEpochError
from connect_core.interval.effects import (
    InsertInterval,
    LatestSourceOffsets,
    LoadOffsets,
    LoadOffsetStates,
    LoadUnfinished,
    ReadOffsetsTopic,
    RepairOffsets,
    RestartInterval,
)
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    IntervalState,
    OffsetProjection,
    Plan,
    SourceBounds,
    SourceOffsets,
    TaskAssignment,
    TaskPlan,
    TaskResult,
)
from connect_core.plan.assignment import assignment_name
from connect_core.plan.fence import fence_source
from connect_core.plan.offsets_topic import check_finished
from connect_core.plan.restart import kept_results
from connect_core.plan.run import Run, Steps, make_plan

__all__ = ["committed_offsets", "is_reached", "plan_source"]


def plan_source(run: Run, assignment: TaskAssignment) -> Steps[tuple[Run, Plan | None]]:
    """Fence if anything is new or unclear, then bound the next source interval."""
    name = assignment_name(ConnectorType.SOURCE, (*assignment.configs, _offsets_topic(run)))
    if run.epoch is None or run.assignment != name:
        run = yield from fence_source(run, len(assignment.configs), name)
    offsets, projection = yield from committed_offsets(run)
    states = yield from LoadOffsetStates(run.connector)
    unfinished = yield from LoadUnfinished(run.connector)
    if unfinished is None:
        upper = yield from LatestSourceOffsets(run.connector, offsets, states)
        if not assignment.configs or (upper is not None and is_reached(upper, offsets)):
            return run, None
    else:
        upper = unfinished.source.upper if unfinished.source else None
    bounds = SourceBounds(offsets, upper, states, projection.position)
    kept: tuple[TaskResult, ...] = ()
    if unfinished is not None:
        kept = yield from kept_results(run, unfinished)
    row = yield from _write_row(run, unfinished, bounds, assignment, kept)
    shares = {task: _share(run, row, task) for task in range(len(assignment.configs))}
    return run, replace(make_plan(run, row, assignment, shares, kept), is_last=unfinished is None)


def committed_offsets(run: Run, bounds: SourceBounds | None = None) -> Steps[tuple[SourceOffsets, OffsetProjection]]:
    """Update SQL from the offsets topic and return the offsets; the topic takes precedence.

    Reads what came after ``bounds`` were fixed, otherwise what SQL does not have:
    a marker read twice would be counted twice. If the topic was recreated since the
    fence, SQL's offsets hold: it follows every interval that ends. Raises
    StaleEpochError if the topic has a newer epoch, DataLossError if it
    was recreated while an interval was unfinished.
    """
    known = run.state.offsets_position if bounds is None else bounds.position
    projection = yield from ReadOffsetsTopic(run.connector, known)
    if projection.epoch > run.mine:
        raise StaleEpochError(f"epoch {projection.epoch} of {run.connector} replaced epoch {run.mine}")
    if known is not None and projection.position is not None and projection.position.is_beside(known):
        yield from check_finished(run, known.topic)
        projection = replace(projection, offsets={}, states={}, moved={})
    yield from RepairOffsets(run.connector, run.mine, projection)
    offsets: SourceOffsets = yield from LoadOffsets(run.connector)
    return offsets, projection


def _offsets_topic(run: Run) -> Mapping[str, str]:
    """Return the setting that is part of an assignment: for another offsets topic, tasks are fenced again."""
    return {key: value for key, value in run.state.config.items() if key == "offsets.storage.topic"}


def is_reached(upper: SourceOffsets, offsets: SourceOffsets) -> bool:
    """Return whether every source partition has reached its upper bound."""
    return all(offsets.get(partition) == bound for partition, bound in upper.items())


def _write_row(
    run: Run,
    unfinished: IntervalRow | None,
    bounds: SourceBounds,
    assignment: TaskAssignment,
    kept: Sequence[TaskResult],
) -> Steps[IntervalRow]:
    name = run.assignment or ""
    if unfinished is not None:
        held = tuple(result.task for result in kept)
        restarted = yield from RestartInterval(
            unfinished.key, run.mine, name, len(assignment.configs), source=bounds, kept=held
        )
        return restarted
    key = IntervalKey(run.connector, run.state.incarnation, run.state.sequence + 1, run.mine)
    row = IntervalRow(
        key,
        IntervalState.PLANNED,
        run.state.config_version,
        name,
        source=bounds,
        tasks=len(assignment.configs),
        bound_time=run.bound_time,
    )
    yield from InsertInterval(row)
    return row


def _share(run: Run, row: IntervalRow, task: int) -> TaskPlan:
    caps = run.settings.caps
    tasks = max(1, row.tasks)
    return TaskPlan(
        key=row.key,
        type=ConnectorType.SOURCE,
        task=task,
        deployment=run.deployment,
        attempt_id="",
        config_version=row.config_version,
        connector_config=run.state.config,
        task_config={},
        worker=run.worker,
        caps=replace(
            caps, records=caps.records and -(-caps.records // tasks), bytes=caps.bytes and -(-caps.bytes // tasks)
        ),
        source=row.source,
        transactional_id=run.transactional_id(run.deployment, run.connector, task),
    )
