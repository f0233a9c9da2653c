"""Intervals that have begun, of topics that were deleted since."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import CommitMarker
from connect_core.commit.interval import Committed
from connect_core.effects.perform import perform
from connect_core.errors import DataLossError
from connect_core.interval import effects as fx
from connect_core.interval.values import (
    ConnectorType,
    IntervalState,
    PartitionEnds,
)
from connect_core.plan.interval import Planned, Verdict, plan_interval
from tests.plan.sink_plans import commit, losses_of, plan
from tests.simulator.world import World

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


@pytest.fixture
def two_topics() -> World:
    """An interval of two topics has begun; what is lost is skipped."""
    ends = {A: PartitionEnds("id-a", 0, 10, 10), B: PartitionEnds("id-b", 0, 10, 10)}
    world = World(ConnectorType.SINK, configs=({"task": "0"},), ends=ends)
    world.settings = replace(world.settings, topics=("a", "b"), data_loss="skip")
    plan(world)
    return world


def test_topic_deleted_before_it_was_read_is_named_with_the_remedy(two_topics: World) -> None:
    two_topics.settings = replace(two_topics.settings, data_loss="fail")
    del two_topics.ends[B]
    for _ in range(2):
        with pytest.raises(DataLossError, match=r"Topic b was deleted before offsets 0 to 9 of b-0 .* Set interval"):
            plan(two_topics)
    assert losses_of(two_topics) == []


def test_topic_deleted_before_it_was_read_is_skipped_and_the_others_are_read(two_topics: World) -> None:
    del two_topics.ends[B]
    again = plan(two_topics)
    assert two_topics.rows[0].state is IntervalState.ABANDONED
    assert losses_of(two_topics) == [(B, 0, 10)]
    assert commit(two_topics, again) is Committed.COMMITTED
    assert two_topics.offsets == {A: 10, B: 0}
    assert plan(two_topics, again.run).verdict is Verdict.IDLE


@pytest.mark.parametrize("ranges", [None, ()])
def test_loss_is_recorded_by_the_plan_after_one_killed_beyond_the_abort_mark(
    two_topics: World, ranges: tuple[()] | None
) -> None:
    del two_topics.ends[B]
    mark = CommitMarker({}, aborted=True, ranges=ranges)

    def leave(effect: fx.AbandonTarget) -> None:
        two_topics.markers[(1, 1)] = mark
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(plan_interval(two_topics.run()), {**two_topics.handlers(), fx.AbandonTarget: leave})
    again = plan(two_topics, two_topics.run("other"))
    assert two_topics.rows[0].state is IntervalState.ABANDONED
    assert losses_of(two_topics) == [(B, 0, 10)]
    commit(two_topics, again)
    plan(two_topics, two_topics.run("third"))
    assert losses_of(two_topics) == [(B, 0, 10)]


@pytest.mark.parametrize("keeps_positions", [True, False], ids=["in the target", "in SQL"])
def test_interval_is_finished_without_a_deleted_topic(two_topics: World, keeps_positions: bool) -> None:
    two_topics.has_committer = keeps_positions
    two_topics.target_positions = {A: 0, B: 4} if keeps_positions else None
    del two_topics.ends[B]
    again = plan(two_topics)
    begun = 4 if keeps_positions else 0
    assert again.plan is not None
    assert [(part.start, part.end) for part in again.plan.row.ranges] == [(0, 10), (10, 10)]
    assert losses_of(two_topics) == [(B, begun, 10)]
    moved = [effect.positions for effect in two_topics.log if isinstance(effect, fx.AbandonTarget)]
    assert moved == ([{B: 10}] if keeps_positions else [])
    two_topics.target_positions = {A: 0, B: 10} if keeps_positions else None
    assert plan(two_topics).verdict is Verdict.RUN
    assert losses_of(two_topics) == [(B, begun, 10)]


def test_commit_of_an_interval_with_a_deleted_topic_counts(two_topics: World) -> None:
    """The zombie of its last attempt leaves its marker between the two looks at it."""
    del two_topics.ends[B]
    answers = iter([None, CommitMarker({A: 10, B: 10}), None])
    steps = plan_interval(two_topics.run())
    perform(steps, {**two_topics.handlers(), fx.ReadTargetMarker: lambda effect: next(answers)})
    assert two_topics.rows[0].state is IntervalState.COMMITTED
    assert losses_of(two_topics) == []


def asked_by_name(world: World, known: tuple[dict[TopicPartition, PartitionEnds], ...]) -> Planned:
    """Plan, with these answers to questions for the ends of some topics; the ones configured are ``world.ends``."""
    answers = iter(known)

    def ends(effect: fx.ReadPartitionEnds) -> dict[TopicPartition, PartitionEnds]:
        found = next(answers)
        return {part: end for part, end in found.items() if part.topic in effect.topics}

    return perform(plan_interval(world.run()), {**world.handlers(), fx.ReadPartitionEnds: ends})


def test_topic_that_is_unknown_only_at_first_is_no_loss(two_topics: World) -> None:
    without = {A: two_topics.ends[A]}
    again = asked_by_name(two_topics, (without, two_topics.ends))
    assert again.plan is not None
    assert [(part.start, part.end) for part in again.plan.row.ranges] == [(0, 10), (0, 10)]
    assert losses_of(two_topics) == []


@pytest.mark.parametrize(("earliest", "begin"), [(0, 0), (6, 6), (99, 10)])
def test_topic_no_longer_configured_is_read_up_to_the_end_of_its_interval(
    two_topics: World, earliest: int, begin: int
) -> None:
    two_topics.has_committer = False
    two_topics.settings = replace(two_topics.settings, topics=("a",))
    ends = {A: two_topics.ends[A], B: PartitionEnds("id-b", earliest, 99, 99)}
    again = asked_by_name(two_topics, (ends,))
    assert again.plan is not None
    assert [(part.start, part.end) for part in again.plan.row.ranges] == [(0, 10), (begin, 10)]
    assert losses_of(two_topics) == ([(B, 0, begin)] if begin else [])
