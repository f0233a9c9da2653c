"""Planning of sink intervals: positions from the target, bounds from the last stable offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.interval.effects import (
    AbandonInterval,
    AbandonTarget,
    InsertInterval,
    LoadOffsets,
    LoadUnfinished,
    ReadGroupOffsets,
    ReadPartitionEnds,
    RecordLosses,
    RepairOffsets,
    RestartInterval,
)
from connect_core.interval.sink_positions import sink_offsets
from connect_core.interval.time_bounds import RecordTimes
from connect_core.interval.values import (
    ConnectorType,
    IntervalRow,
    IntervalState,
    LostRecords,
    OffsetProjection,
    PartitionEnds,
    Plan,
    TaskAssignment,
    TaskPlan,
    TaskResult,
)
from connect_core.plan.ahead import follow_group
from connect_core.plan.assignment import assign_ranges, assignment_name
from connect_core.plan.bounds import (
    cap_ranges,
    find_gone,
    find_losses,
    find_vanished,
    first_position,
    sink_ranges,
    surviving_positions,
)
from connect_core.plan.ending import end_lost_interval
from connect_core.plan.fence import begin_above, fence_sink, reloaded
from connect_core.plan.gone import ends_of, gone_with_topics
from connect_core.plan.recovery import Ended, finish_marked, recovered
from connect_core.plan.restart import kept_results
from connect_core.plan.run import Run, Steps, make_plan
from connect_core.plan.times import bounded_by_time, record_times

__all__ = ["plan_of", "plan_sink"]

Positions = Mapping[TopicPartition, int]


def plan_sink(run: Run, assignment: TaskAssignment) -> Steps[tuple[Run, Plan | None]]:
    """Fence the target, finish what a marker proves, then bound the next sink interval."""
    run, kept = yield from fence_sink(run, assignment_name(ConnectorType.SINK, assignment.configs))
    unfinished = yield from LoadUnfinished(run.connector)
    if unfinished is not None:
        run, is_over = yield from recovered(run, unfinished, kept)
        is_over = is_over or (yield from _gave_up(run, unfinished, kept))
        plan = None if is_over else (yield from _restart(run, unfinished, assignment, kept))
        if plan is not None:
            return run, plan
        run = yield from reloaded(run)
    if run.state.sequence == 0 and assignment.has_committer:
        run = yield from begin_above(run)
    while True:
        plan = yield from _next(run, assignment, kept)
        # A restored database, or one of another incarnation, creates a key that already has a marker.
        ended = None if plan is None else (yield from finish_marked(run, plan.row))
        if ended is None:
            return run, plan
        run = yield from reloaded(run)
        if ended is Ended.ABANDONED:
            run = yield from begin_above(run)


def _next(run: Run, assignment: TaskAssignment, kept: Positions | None) -> Steps[Plan | None]:
    """Write the row of the next interval, if there is anything to read."""
    positions, forgotten = yield from _positions(run, kept)
    available = yield from _available_ranges(run, positions, forgotten, moves_target=kept is not None)
    available, is_cut = yield from bounded_by_time(run, available)
    ranges = cap_ranges(available, run.settings.caps.records)
    if not assignment.configs or all(part.start == part.end for part in ranges):
        return None
    row = IntervalRow(
        _following(run),
        IntervalState.PLANNED,
        run.state.config_version,
        run.assignment or "",
        ranges=ranges,
        tasks=len(assignment.configs),
        bound_time=run.read_before,
    )
    yield from InsertInterval(row)
    plan = plan_of(run, row, assignment, (), (yield from record_times(run, row)))
    return replace(plan, is_last=ranges == available and not is_cut)


def _gave_up(run: Run, row: IntervalRow, kept: Positions | None) -> Steps[bool]:
    """Abandon an interval whose start the target no longer has: it was restored, or failed over, meanwhile.

    What lies before the start must be written again; the next interval begins at the target's position.
    """
    behind = [] if kept is None else [part for part in row.ranges if kept.get(part.topic_partition, -1) < part.start]
    if not behind or kept is None:
        return False
    first = behind[0]
    is_complete = kept.get(first.topic_partition)
    where = "has no position" if is_complete is None else f"is at {is_complete}"
    place = f"{first.topic_partition} {where} there, and the interval begins at {first.start}"
    reason = f"the target was restored to an earlier state: {place}"
    yield from AbandonInterval(row.key, run.mine, reason)
    return True


def _positions(run: Run, kept: Positions | None) -> Steps[tuple[Positions, frozenset[str]]]:
    """Return the positions of a target that keeps them, and update SQL from it; otherwise those in SQL.

    A partition the target does not have was never begun, or was reset. Second, return
    the topics of such partitions that SQL does have: the target has lost their positions.
    """
    stored: Positions = yield from LoadOffsets(run.connector)
    if kept is None:
        return stored, frozenset()
    changed = {part: kept.get(part) for part in {*stored, *kept} if kept.get(part) != stored.get(part)}
    if changed:
        yield from RepairOffsets(run.connector, run.mine, OffsetProjection(sink_offsets(changed), run.mine, None))
    return kept, frozenset(part.topic for part in stored if part not in kept)


def _restart(run: Run, row: IntervalRow, assignment: TaskAssignment, kept: Positions | None) -> Steps[Plan | None]:
    """Run an interval again within its bounds, from the position in the target's marker.

    ``None``: records of it are lost and a marker would have to include them, so that it is abandoned.
    """
    ends = yield from ends_of(row)
    ranges = tuple(_resumed(part, (kept or {}).get(part.topic_partition, part.start)) for part in row.ranges)
    unread = {part.topic_partition: part.start for part in ranges if part.start < part.end}
    losses = find_losses(unread, ends, {part.topic: part.topic_id for part in row.ranges})
    losses += find_gone(ranges, ends)
    surviving_positions(unread, losses, run.settings.data_loss)
    if losses and kept is None and assignment.has_committer:
        # The next plan finds the other losses at the positions in SQL.
        yield from end_lost_interval(run, row, losses[0].reason, gone_with_topics(row, ends))
        return None
    lost = {loss.partition: loss.end for loss in losses}
    ranges = tuple(_without(part, lost, ends) for part in ranges)
    starts = {part.topic_partition: part.start for part in ranges}
    losses = tuple(replace(loss, end=starts[loss.partition]) for loss in losses)
    results: tuple[TaskResult, ...] = ()
    if not losses:
        results = yield from kept_results(run, row)
    yield from _record_lost(run, losses, moves_target=kept is not None)
    restarted = yield from RestartInterval(
        row.key,
        run.mine,
        run.assignment or "",
        len(assignment.configs),
        ranges=ranges,
        kept=tuple(result.task for result in results),
    )
    times = yield from record_times(run, restarted)
    return replace(plan_of(run, restarted, assignment, results, times), is_last=False)


def _resumed(part: PartitionRange, position: int) -> PartitionRange:
    return replace(part, start=min(max(part.start, position), part.end))


def _record_lost(run: Run, losses: Sequence[LostRecords], moves_target: bool) -> Steps[None]:
    """Record what is permanently lost, and only then let the target's own positions pass over it."""
    if not losses:
        return
    yield from RecordLosses(run.connector, run.mine, tuple(losses))
    if moves_target:
        yield from AbandonTarget(_following(run), {loss.partition: loss.end for loss in losses})


def _pass_over(run: Run, losses: Sequence[LostRecords], ids: Mapping[str, str], moves_target: bool) -> Steps[None]:
    """Let the positions pass over what is lost, even if there is nothing to read behind it.

    In SQL they move together with the ids of their topics. A new topic's id beside a position in the former topic would
    hide that the new one's first records were never read.
    """
    if not losses:
        return
    yield from _record_lost(run, losses, moves_target)
    passed = {loss.partition: loss.end for loss in losses}
    known = {part.topic: ids[part.topic] for part in passed}
    yield from RepairOffsets(run.connector, run.mine, OffsetProjection(sink_offsets(passed), run.mine, None), known)


def _following(run: Run) -> IntervalKey:
    return IntervalKey(run.connector, run.state.incarnation, run.state.sequence + 1, run.mine)


def _without(part: PartitionRange, lost: Positions, ends: Mapping[TopicPartition, PartitionEnds]) -> PartitionRange:
    """Return a range without its lost part: without all of it, if the topic was deleted, or recreated."""
    place = part.topic_partition
    if place not in lost:
        return part
    is_cut = place in ends and ends[place].topic_id == part.topic_id and lost[place] > part.start
    return _resumed(part, lost[place] if is_cut else part.end)


def _available_ranges(
    run: Run, positions: Positions, forgotten: frozenset[str], moves_target: bool
) -> Steps[tuple[PartitionRange, ...]]:
    settings = run.settings
    ends = yield from ReadPartitionEnds(settings.topics, settings.topics_regex)
    ids = {part.topic: end.topic_id for part, end in ends.items()}
    losses = find_losses(positions, ends, run.state.topic_ids)
    losses += find_vanished(positions, ends, run.state.topic_ids)
    surviving = surviving_positions(positions, losses, settings.data_loss)
    yield from _pass_over(run, losses, ids, moves_target)
    first: Positions = {}
    fresh = tuple(sorted(part for part in ends if part not in positions))
    if fresh:
        # A Connect cluster's work is continued once; what was reset since must not come back from the group.
        adopted: Positions = {}
        if run.state.sequence == 0:
            adopted = yield from ReadGroupOffsets(settings.consumer_group, fresh)
            adopted = yield from follow_group(run, adopted, ids)
        # A partition added to a topic already read begins at its earliest offset: its records are all new.
        # So does one that a restored target lost: it was begun before, so ``auto.offset.reset`` does not apply.
        known = {part.topic for part in positions} | forgotten
        first = {part: ends[part].earliest if part.topic in known and part not in adopted
                 else first_position(ends[part], adopted.get(part), settings) for part in fresh}  # fmt: skip
        yield from _begin_partitions(run, first, ends, moves_target)
    return sink_ranges({**surviving, **first}, ends)


def _begin_partitions(
    run: Run, first: Positions, ends: Mapping[TopicPartition, PartitionEnds], moves_target: bool
) -> Steps[None]:
    """Store where partitions begin, resolved once: in the target, or in SQL unless it is simply the earliest.

    SQL has the topics' ids first: a topic that is recreated before the first interval must not be begun further on.
    """
    if moves_target:
        ids = {part.topic: ends[part].topic_id for part in first}
        yield from RepairOffsets(run.connector, run.mine, OffsetProjection({}, run.mine, None), ids)
        yield from AbandonTarget(_following(run), first)
        return
    # The end of an empty topic is also its earliest offset, but only until the first records arrive.
    is_fixed = run.settings.offset_reset != "earliest"
    resolved = {part: position for part, position in first.items() if is_fixed or position != ends[part].earliest}
    if resolved:
        ids = {part.topic: ends[part].topic_id for part in resolved}
        yield from RepairOffsets(run.connector, run.mine, OffsetProjection(sink_offsets(resolved), run.mine, None), ids)


def plan_of(
    run: Run, row: IntervalRow, assignment: TaskAssignment, kept: Sequence[TaskResult], times: RecordTimes
) -> Plan:
    """Return the plan of a row whose ranges are divided among the tasks; tasks with ``kept`` results do not run."""
    shares = assign_ranges(row.ranges, max(1, len(assignment.configs)))
    tasks = {
        task: _share(run, row, task, ranges, assignment) for task, ranges in enumerate(shares) if _has_records(ranges)
    }
    timed = {task: replace(share, times=times) for task, share in tasks.items()}
    return make_plan(run, row, assignment, timed, kept)


def _has_records(ranges: tuple[PartitionRange, ...]) -> bool:
    return any(part.start < part.end for part in ranges)


def _share(
    run: Run, row: IntervalRow, task: int, ranges: tuple[PartitionRange, ...], assignment: TaskAssignment
) -> TaskPlan:
    return TaskPlan(
        key=row.key,
        type=ConnectorType.SINK,
        task=task,
        deployment=run.deployment,
        attempt_id="",
        config_version=row.config_version,
        connector_config=run.state.config,
        task_config={},
        worker=run.worker,
        caps=run.settings.caps,
        ranges=ranges,
        columns=run.state.columns,
        staged_commit=assignment.has_committer,
    )
