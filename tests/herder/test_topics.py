"""Active topics: what committed intervals used, until reset."""

from __future__ import annotations

from connect_core.herder import topics
from connect_core.interval.values import TaskOutcome, TaskResult
from tests.herder.harness import Harness


def test_topics_come_with_commits(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.commit(driver.begin(), [TaskResult(0, TaskOutcome.DONE, topics=("b", "a"))])
    assert topics.list_active(harness.herder, "a") == ["a", "b"]
    topics.reset_active(harness.herder, "a")
    assert topics.list_active(harness.herder, "a") == []
    driver.commit(driver.begin(), [TaskResult(0, TaskOutcome.DONE, topics=("b",))])
    assert topics.list_active(harness.herder, "a") == ["b"]


def test_unknown_connector_has_no_topics(harness: Harness) -> None:
    topics.reset_active(harness.herder, "x")
    assert topics.list_active(harness.herder, "x") == []
