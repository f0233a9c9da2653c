"""What a plan knows of the connector's row is read again under its epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from connect_core.api.records import TopicPartition
from connect_core.effects.perform import perform
from connect_core.errors import StaleEpochError
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorType, PartitionEnds
from connect_core.plan.interval import Planned, plan_interval
from tests.simulator.world import World

PART = TopicPartition("t", 0)


def plan(world: World, just_before: Callable[[], None]) -> Planned:
    """Plan, and let something happen between the first look at the row and the raise of the epoch."""
    handlers: dict[Any, Any] = dict(world.handlers())
    raise_epoch = handlers[fx.RaiseEpoch]

    def interrupted(effect: fx.RaiseEpoch) -> int:
        just_before()
        return raise_epoch(effect)  # type: ignore[no-any-return]

    return perform(plan_interval(world.run()), {**handlers, fx.RaiseEpoch: interrupted})


def test_a_reset_just_before_the_fence_is_seen() -> None:
    """Else the plan would adopt the positions of the consumer group that the reset was to forget."""
    world = World(ConnectorType.SINK, ends={PART: PartitionEnds("id", 0, 9, 9)}, group={PART: 5})

    def reset() -> None:
        world.state = replace(world.state, sequence=1)

    planned = plan(world, reset).plan
    assert planned is not None
    assert (planned.row.key.sequence, planned.row.ranges[0].start) == (2, 0)


def test_tasks_assigned_just_before_the_fence_are_fenced_too() -> None:
    world = World(ConnectorType.SOURCE, upper={'{"filename":"a"}': {"position": 10}})

    def assign() -> None:
        world.state = replace(world.state, tasks_ever=5)

    plan(world, assign)
    assert world.fenced == [(5, True), (5, False)]


@pytest.mark.parametrize("kind", list(ConnectorType))
def test_a_new_configuration_is_not_run_with_the_tasks_of_the_old_one(kind: ConnectorType) -> None:
    world = World(kind, ends={PART: PartitionEnds("id", 0, 9, 9)})

    def configure() -> None:
        world.state = replace(world.state, config_version=2)

    with pytest.raises(StaleEpochError, match=r"orders was reconfigured .* plan again"):
        plan(world, configure)
    assert world.rows == []
