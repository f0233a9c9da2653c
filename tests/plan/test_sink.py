"""Planning of sink intervals, performed against the simulated world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker
from connect_core.commit.interval import Committed
from connect_core.effects.perform import perform
from connect_core.errors import DataLossError, StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import (
    ConnectorType,
    IntervalCaps,
    IntervalState,
    PartitionEnds,
    TargetState,
    TaskError,
    TaskOutcome,
    TaskResult,
)
from connect_core.plan.interval import Verdict, plan_interval
from tests.plan.sink_plans import commit, losses_of, plan
from tests.simulator.world import World

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def world() -> World:
    ends = {ZERO: PartitionEnds("id", 0, 10, 10), ONE: PartitionEnds("id", 2, 5, 9)}
    return World(ConnectorType.SINK, configs=({"task": "0"}, {"task": "1"}), ends=ends)


def test_bounds_are_stored_before_any_read(world: World) -> None:
    planned = plan(world)
    assert planned.verdict is Verdict.RUN
    assert planned.plan is not None
    assert [(r.start, r.end) for r in world.rows[0].ranges] == [(0, 10), (2, 5)]
    assert [task.ranges[0].partition for task in planned.plan.tasks] == [0, 1]


def test_target_is_fenced_before_positions(world: World) -> None:
    plan(world)
    kinds = [type(effect) for effect in world.log]
    assert kinds.index(fx.RaiseEpoch) < kinds.index(fx.FenceTarget) < kinds.index(fx.LoadOffsets)


def test_commit_publishes_then_records(world: World) -> None:
    planned = plan(world)
    world.log.clear()
    assert commit(world, planned) is Committed.COMMITTED
    kinds = [type(effect) for effect in world.log]
    assert kinds == [fx.RecordAttempt, fx.CommitTarget, fx.PublishTarget, fx.CommitInterval, fx.CommitGroupOffsets]
    assert world.offsets == {ZERO: 10, ONE: 5}
    assert world.group == {ZERO: 10, ONE: 5}


def test_nothing_new_is_idle(world: World) -> None:
    planned = plan(world)
    commit(world, planned)
    assert plan(world, planned.run).verdict is Verdict.IDLE
    assert len(world.rows) == 1


def test_later_intervals_keep_the_epoch_and_abut(world: World) -> None:
    planned = plan(world)
    commit(world, planned)
    world.ends[ZERO] = PartitionEnds("id", 0, 25, 25)
    again = plan(world, planned.run)
    assert again.run.epoch == planned.run.epoch
    assert [(r.start, r.end) for r in world.rows[1].ranges] == [(10, 25), (5, 5)]
    assert world.rows[1].key.sequence == 2


def test_interval_has_the_assignment_of_its_own_plan_not_of_the_runs_first(world: World) -> None:
    planned = plan(world)
    commit(world, planned)
    assert (world.rows[0].assignment, world.rows[0].tasks) == ("sink-2", 2)
    world.configs = ({"task": "0"},)
    world.ends[ZERO] = PartitionEnds("id", 0, 25, 25)
    assert plan(world, planned.run).run.epoch == planned.run.epoch
    assert (world.rows[1].assignment, world.rows[1].tasks) == ("sink-1", 1)


def test_marker_found_is_published_never_rerun(world: World) -> None:
    planned = plan(world)
    world.markers[(1, 1)] = CommitMarker({ZERO: 10, ONE: 5})
    again = plan(world, world.run("other"))
    assert again.verdict is Verdict.IDLE
    assert world.published == [(1, 1)]
    assert world.rows[0].state is IntervalState.COMMITTED
    assert world.offsets == {ZERO: 10, ONE: 5}
    assert planned.plan is not None


def test_interval_without_marker_runs_again_in_its_bounds(world: World) -> None:
    plan(world)
    world.ends[ZERO] = PartitionEnds("id", 0, 99, 99)
    again = plan(world, world.run("other"))
    assert again.plan is not None
    assert [(r.start, r.end) for r in again.plan.row.ranges] == [(0, 10), (2, 5)]
    assert again.plan.row.key.epoch == 2
    assert not again.plan.is_last


def test_retry_starts_at_the_targets_position(world: World) -> None:
    plan(world)
    world.target_positions = {ZERO: 4, ONE: 2}
    again = plan(world, world.run("other"))
    assert again.plan is not None
    assert [(r.start, r.end) for r in again.plan.row.ranges] == [(4, 10), (2, 5)]


@pytest.mark.parametrize(("kept", "ranges"), [({ZERO: 4, ONE: 2}, [(4, 25), (2, 5)]), ({ONE: 5}, [(0, 25), (5, 5)])])
def test_interval_the_restored_target_does_not_reach_is_abandoned(
    world: World, kept: dict[TopicPartition, int], ranges: list[tuple[int, int]]
) -> None:
    commit(world, plan(world))
    world.ends[ZERO] = PartitionEnds("id", 0, 25, 25)
    world.target_positions = {ZERO: 10, ONE: 5}
    plan(world, world.run("other"))
    assert [(r.start, r.end) for r in world.rows[1].ranges] == [(10, 25), (5, 5)]
    world.target_positions = kept
    again = perform(plan_interval(world.run("third")), {**world.handlers(), fx.AbandonTarget: lambda effect: None})
    assert world.rows[1].state is IntervalState.ABANDONED
    reasons = [effect.reason for effect in world.log if isinstance(effect, fx.AbandonInterval)]
    assert [reason.partition(":")[0] for reason in reasons] == ["the target was restored to an earlier state"]
    assert again.plan is not None
    assert [(r.start, r.end) for r in again.plan.row.ranges] == ranges


def test_what_a_restored_target_forgot_is_read_from_its_beginning_whatever_the_reset(world: World) -> None:
    commit(world, plan(world))
    world.ends = {ZERO: PartitionEnds("id", 0, 25, 25)}
    world.target_positions = {}
    run = world.run("other")
    latest = replace(run.settings, offset_reset="latest")
    run = replace(run, settings=latest, settings_of=lambda state: latest)
    again = perform(plan_interval(run), {**world.handlers(), fx.AbandonTarget: lambda effect: None})
    assert again.plan is not None
    assert [(r.start, r.end) for r in again.plan.row.ranges] == [(0, 25)]


def test_stale_driver_cannot_commit(world: World) -> None:
    planned = plan(world)
    plan(world, world.run("other"))
    with pytest.raises(StaleEpochError):
        commit(world, planned)
    assert world.offsets == {}


def test_abort_marker_abandons(world: World) -> None:
    planned = plan(world)
    world.markers[(1, 1)] = CommitMarker({}, aborted=True)
    assert commit(world, planned) is Committed.ABANDONED
    assert world.offsets == {ZERO: 0, ONE: 2}


def test_failed_task_keeps_the_interval_open(world: World) -> None:
    planned = plan(world)
    assert planned.plan is not None
    results = world.done(planned.plan)
    results[1] = TaskResult(1, TaskOutcome.FAILED, error=TaskError("E", "no", "", False))
    assert commit(world, planned, results) is Committed.FAILED
    assert world.rows[0].state is IntervalState.FAILED
    assert world.markers == {}


def test_lost_result_is_unclear(world: World) -> None:
    planned = plan(world)
    assert planned.plan is not None
    assert commit(world, planned, world.done(planned.plan)[:1]) is Committed.UNCLEAR
    assert world.offsets == {}


def test_plain_sink_commits_what_it_declared_safe(world: World) -> None:
    world.has_committer = False
    planned = plan(world)
    results = [
        TaskResult(0, TaskOutcome.DONE, positions={ZERO: 7}),
        TaskResult(1, TaskOutcome.DONE, positions={ONE: 5}),
    ]
    assert commit(world, planned, results) is Committed.COMMITTED
    assert world.offsets == {ZERO: 7, ONE: 5}


def test_first_plan_carries_on_the_consumer_group(world: World) -> None:
    world.group = {ZERO: 6}
    planned = plan(world)
    assert planned.plan is not None
    assert [r.start for r in planned.plan.row.ranges] == [6, 2]


def test_topic_recreated_since_the_consumer_group_committed_is_read_from_its_beginning(world: World) -> None:
    world.group = {ZERO: 50}
    commit(world, plan(world))
    assert world.offsets == {ZERO: 10, ONE: 5}
    world.ends[ZERO] = PartitionEnds("id", 0, 70, 70)
    plan(world)
    assert [(part.start, part.end) for part in world.rows[1].ranges] == [(10, 70), (5, 5)]


def test_added_partition_begins_at_its_earliest(world: World) -> None:
    world.settings = replace(world.settings, offset_reset="latest")
    world.offsets = {ZERO: 10}
    planned = plan(world)
    assert [(r.start, r.end) for r in world.rows[0].ranges] == [(10, 10), (2, 5)]
    assert planned.verdict is Verdict.RUN


def test_recreated_topic_is_named(world: World) -> None:
    commit(world, plan(world))
    world.ends = {part: replace(ends, topic_id="other") for part, ends in world.ends.items()}
    with pytest.raises(DataLossError, match="deleted and created again"):
        plan(world)


def recreated(world: World, count: int, **more: int) -> None:
    """Create the topic again, with so many records in each partition."""
    numbers = range(more.get("partitions", 2))
    world.ends = {TopicPartition("t", number): PartitionEnds("other", 0, count, count) for number in numbers}


def test_recreated_topic_is_named_at_every_plan_also_with_more_partitions(world: World) -> None:
    commit(world, plan(world))
    world.settings = replace(world.settings, offset_reset="latest")
    recreated(world, 99, partitions=3)
    for _ in range(2):
        with pytest.raises(DataLossError, match="deleted and created again"):
            plan(world)


def test_recreated_topic_is_begun_anew_where_losses_are_skipped_also_while_it_is_empty(world: World) -> None:
    world.settings = replace(world.settings, data_loss="skip")
    commit(world, plan(world))
    recreated(world, 0)
    assert plan(world).verdict is Verdict.IDLE
    assert (world.offsets, world.state.topic_ids) == ({ZERO: 0, ONE: 0}, {"t": "other"})
    recreated(world, 99)
    plan(world)
    assert [(r.start, r.end) for r in world.rows[1].ranges] == [(0, 99), (0, 99)]
    assert [len(effect.losses) for effect in world.log if isinstance(effect, fx.RecordLosses)] == [2]


@pytest.mark.parametrize("is_interrupted", [False, True])
@pytest.mark.parametrize("kept", [False, True], ids=["positions in SQL", "in the target"])
def test_partitions_a_recreated_topic_lacks_are_new_ones_when_it_grows(
    world: World, kept: bool, is_interrupted: bool
) -> None:
    world.settings = replace(world.settings, data_loss="skip")
    if kept:
        world.target_positions = {ZERO: 0, ONE: 2}
    planned = plan(world)
    if not is_interrupted:
        commit(world, planned)
        world.target_positions = {ZERO: 10, ONE: 5} if kept else None
    recreated(world, 3, partitions=1)
    finish(world, kept)
    assert world.offsets == {ZERO: 3, ONE: 0}
    lost = [one for one in losses_of(world) if one[0] == ONE and one[2] == 0]
    assert lost == [(ONE, 2 if is_interrupted and not kept else 5, 0)]
    recreated(world, 9, partitions=2)
    finish(world, kept)
    assert world.offsets == {ZERO: 9, ONE: 9}
    assert [(part.start, part.end) for part in world.rows[-1].ranges] == [(3, 9), (0, 9)]


def finish(world: World, kept: bool) -> None:
    """Plan and commit until there is nothing to read; a target with positions follows."""

    def move(effect: fx.AbandonTarget) -> None:
        moved = {part: to for part, to in (effect.positions or {}).items() if to is not None}
        world.target_positions = {**(world.target_positions or {}), **moved}

    while True:
        answers = {**world.handlers(), **({fx.AbandonTarget: move} if kept else {})}
        planned = perform(plan_interval(world.run()), answers)
        if planned.plan is None:
            return
        commit(world, planned)
        if kept:
            ends = {part.topic_partition: part.end for part in planned.plan.row.ranges}
            world.target_positions = {**(world.target_positions or {}), **ends}


def test_topic_recreated_before_the_first_interval_of_a_target_with_positions(world: World) -> None:
    world.ends = {ZERO: PartitionEnds("id", 10, 10, 10)}
    world.target_positions = {}
    assert plan(world).verdict is Verdict.IDLE
    begun = [effect.positions for effect in world.log if isinstance(effect, fx.AbandonTarget)]
    assert begun == [{ZERO: 10}]
    world.target_positions = {ZERO: 10}
    recreated(world, 99, partitions=1)
    with pytest.raises(DataLossError, match="deleted and created again"):
        plan(world)


def test_topic_created_again_with_fewer_partitions_is_skipped(world: World) -> None:
    world.has_committer = False
    world.settings = replace(world.settings, data_loss="skip")
    plan(world)
    recreated(world, 99, partitions=1)
    again = plan(world)
    assert again.plan is not None
    assert [(part.start, part.end) for part in again.plan.row.ranges] == [(10, 10), (5, 5)]
    assert losses_of(world) == [(ZERO, 0, 10), (ONE, 2, 5)]
    assert commit(world, again) is Committed.COMMITTED


def test_cap_leaves_the_rest_to_the_next(world: World) -> None:
    world.settings = replace(world.settings, caps=IntervalCaps(records=6))
    planned = plan(world)
    assert planned.plan is not None
    assert [(r.start, r.end) for r in planned.plan.row.ranges] == [(0, 3), (2, 5)]
    assert not planned.plan.is_last


def test_paused_connector_stops(world: World) -> None:
    world.state = replace(world.state, target_state=TargetState.PAUSED)
    assert plan(world).verdict is Verdict.STOP


def test_lost_database_starts_above_the_targets_epoch(world: World) -> None:
    world.target_epoch = 41
    assert plan(world).run.epoch == 42
