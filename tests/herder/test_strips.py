"""The list of connectors reads the intervals of those only that have moved since it was last read."""

from __future__ import annotations

from connect_core.herder import connectors
from connect_core.herder.overview import summarize
from connect_core.interval.values import IntervalState
from tests.benchmarks.rest import statements
from tests.herder.harness import SINK, Harness

_OF_INTERVALS = "intervals.started_at"


def strips(harness: Harness) -> dict[str, list[tuple[int, IntervalState]]]:
    return {one.name: [(mark.sequence, mark.state) for mark in one.strip] for one in summarize(harness.herder)}


def commit(harness: Harness, name: str) -> None:
    driver = harness.driver(name)
    driver.commit(driver.begin())


def test_a_list_reads_only_the_intervals_of_those_that_moved(harness: Harness) -> None:
    for name in ("a", "b"):
        harness.create(name, SINK)
        commit(harness, name)
    first = strips(harness)
    assert first == {name: [(1, IntervalState.COMMITTED)] for name in ("a", "b")}
    with statements(harness.database) as seen:
        assert strips(harness) == first
    assert not [one for one in seen if _OF_INTERVALS in one]
    commit(harness, "b")
    assert strips(harness) == first | {"b": [(1, IntervalState.COMMITTED), (2, IntervalState.COMMITTED)]}


def test_an_interval_that_is_not_over_is_read_each_time(harness: Harness) -> None:
    harness.create("a", SINK)
    driver = harness.driver("a")
    key = driver.begin()
    assert strips(harness) == {"a": [(1, IntervalState.PLANNED)]}
    driver.commit(key)
    assert strips(harness) == {"a": [(1, IntervalState.COMMITTED)]}


def test_a_connector_that_is_created_again_keeps_its_strip(harness: Harness) -> None:
    harness.create("a", SINK)
    commit(harness, "a")
    before = strips(harness)
    connectors.delete(harness.herder, "a")
    assert strips(harness) == {}
    harness.create("a", SINK)
    assert strips(harness) == before
