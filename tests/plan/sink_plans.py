"""Plans and commits of sink intervals in the simulated world, and what they recorded as lost."""

from __future__ import annotations

from connect_core.api.records import TopicPartition
from connect_core.commit.interval import Committed, commit_interval
from connect_core.effects.perform import perform
from connect_core.interval import effects as fx
from connect_core.interval.values import TaskResult
from connect_core.plan.interval import Planned, plan_interval
from connect_core.plan.run import Run
from tests.simulator.world import World

__all__ = ["commit", "losses_of", "plan"]


def plan(world: World, run: Run | None = None) -> Planned:
    return perform(plan_interval(run or world.run()), world.handlers())


def commit(world: World, planned: Planned, results: list[TaskResult] | None = None) -> Committed:
    assert planned.plan is not None
    return perform(commit_interval(planned.run, planned.plan, results or world.done(planned.plan)), world.handlers())


def losses_of(world: World) -> list[tuple[TopicPartition, int, int]]:
    recorded = [effect.losses for effect in world.log if isinstance(effect, fx.RecordLosses | fx.AbandonInterval)]
    return [(one.partition, one.start, one.end) for losses in recorded for one in losses]
