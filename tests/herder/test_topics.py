"""Active topics: what committed intervals used, until reset."""

from __future__ import annotations

from connect_core.herder import topics
from connect_core.interval.values import TaskOutcome, TaskResult
from tests.herder.worlds import World


def test_topics_come_with_commits(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.commit(driver.begin(), [TaskResult(0, TaskOutcome.DONE, topics=("b", "a"))])
    assert topics.list_active(world.herder, "a") == ["a", "b"]
    topics.reset_active(world.herder, "a")
    assert topics.list_active(world.herder, "a") == []
    driver.commit(driver.begin(), [TaskResult(0, TaskOutcome.DONE, topics=("b",))])
    assert topics.list_active(world.herder, "a") == ["b"]


def test_unknown_connector_has_no_topics(world: World) -> None:
    topics.reset_active(world.herder, "x")
    assert topics.list_active(world.herder, "x") == []
