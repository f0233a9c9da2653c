"""Planning of source intervals, performed against the simulated world."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from connect_core.commit.interval import Committed, commit_interval
from connect_core.effects.perform import perform
from connect_core.errors import StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorType, IntervalState
from connect_core.plan.interval import Planned, Verdict, plan_interval
from connect_core.plan.run import Run
from tests.simulator.world import World

FILE = '{"filename":"a"}'


def at(position: int) -> Mapping[str, Mapping[str, int]]:
    return {FILE: {"position": position}}


@pytest.fixture
def world() -> World:
    return World(ConnectorType.SOURCE, upper=at(10))


def plan(world: World, run: Run | None = None) -> Planned:
    return perform(plan_interval(run or world.run()), world.handlers())


def test_fence_comes_before_offsets_are_read(world: World) -> None:
    plan(world)
    kinds = [type(effect) for effect in world.log]
    fence = [fx.RaiseEpoch, fx.FenceProducers, fx.ReadOffsetsTopic, fx.WriteEpoch, fx.FenceProducers]
    order = [*fence, fx.ReadOffsetsTopic, fx.RepairOffsets, fx.LoadOffsets, fx.InsertInterval]
    assert [kind for kind in kinds if kind in order] == order


def test_epoch_of_the_topic_outlives_a_lost_database(world: World) -> None:
    world.topic.append(("epoch", 7))
    planned = plan(world)
    assert planned.run.epoch == 8
    assert world.topic[-1] == ("epoch", 8)


def test_every_id_of_earlier_plans_is_fenced(world: World) -> None:
    world.configs = ({"task": "0"}, {"task": "1"}, {"task": "2"})
    plan(world)
    world.configs = ({"task": "0"},)
    plan(world, world.run())
    assert world.fenced == [(3, True), (3, False)] * 2


def test_a_new_assignment_is_fenced_anew(world: World) -> None:
    planned = plan(world)
    world.configs = ({"task": "other"},)
    assert plan(world, planned.run).run.epoch == 2


def test_the_topic_wins_over_sql(world: World) -> None:
    world.offsets = dict(at(3))
    world.topic.append(("offset", (FILE, {"position": 7})))
    planned = plan(world)
    assert planned.plan is not None
    source = planned.plan.row.source
    assert source is not None
    assert (source.start, source.upper) == (at(7), at(10))


def test_reached_bound_is_idle(world: World) -> None:
    world.topic.append(("offset", (FILE, {"position": 10})))
    assert plan(world).verdict is Verdict.IDLE
    assert world.rows == []


def test_source_without_bound_runs(world: World) -> None:
    world.upper = None
    assert plan(world).verdict is Verdict.RUN


def test_recovery_keeps_the_upper_bound(world: World) -> None:
    plan(world)
    world.topic.append(("offset", (FILE, {"position": 4})))
    world.upper = at(99)
    again = plan(world, world.run("other"))
    assert again.plan is not None
    source = again.plan.row.source
    assert source is not None
    assert (source.start, source.upper) == (at(4), at(10))


def test_commit_says_what_the_topic_says(world: World) -> None:
    planned = plan(world)
    assert planned.plan is not None
    world.topic.append(("offset", (FILE, {"position": 8})))
    done = world.done(planned.plan)
    assert perform(commit_interval(planned.run, planned.plan, done), world.handlers()) is Committed.COMMITTED
    assert world.offsets == at(8)
    assert world.rows[0].state is IntervalState.COMMITTED


def test_commit_reads_no_marker_its_plan_has_read(world: World) -> None:
    plan(world)
    world.topic.append(("offset", (FILE, {"position": 4})))
    again = plan(world, world.run("other"))
    assert again.plan is not None
    assert again.plan.row.source is not None
    handlers, read = world.handlers(), []

    def read_topic(effect: fx.ReadOffsetsTopic) -> object:
        read.append(effect.position)
        return handlers[fx.ReadOffsetsTopic](effect)

    noting = {**handlers, fx.ReadOffsetsTopic: read_topic}
    perform(commit_interval(again.run, again.plan, world.done(again.plan)), noting)
    assert read == [again.plan.row.source.position]
    assert read != [again.run.state.offsets_position]


def test_newer_epoch_in_the_topic_stops_the_run(world: World) -> None:
    planned = plan(world)
    world.topic.append(("epoch", 9))
    with pytest.raises(StaleEpochError, match="epoch 9"):
        plan(world, planned.run)


def test_lost_database_starts_above_the_topics_epoch(world: World) -> None:
    world.topic.append(("epoch", 30))
    assert plan(world).run.epoch == 31
