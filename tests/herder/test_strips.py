"""The list of connectors reads the intervals of those only that have moved since it was last read."""

from __future__ import annotations

from connect_core.herder import connectors
from connect_core.herder.overview import summarize
from connect_core.interval.values import IntervalState
from tests.benchmarks.rest import statements
from tests.herder.worlds import SINK, World

_OF_INTERVALS = "intervals.started_at"


def strips(world: World) -> dict[str, list[tuple[int, IntervalState]]]:
    return {one.name: [(mark.sequence, mark.state) for mark in one.strip] for one in summarize(world.herder)}


def commit(world: World, name: str) -> None:
    driver = world.driver(name)
    driver.commit(driver.begin())


def test_a_list_reads_only_the_intervals_of_those_that_moved(world: World) -> None:
    for name in ("a", "b"):
        world.create(name, SINK)
        commit(world, name)
    first = strips(world)
    assert first == {name: [(1, IntervalState.COMMITTED)] for name in ("a", "b")}
    with statements(world.database) as seen:
        assert strips(world) == first
    assert not [one for one in seen if _OF_INTERVALS in one]
    commit(world, "b")
    assert strips(world) == first | {"b": [(1, IntervalState.COMMITTED), (2, IntervalState.COMMITTED)]}


def test_an_interval_that_is_not_over_is_read_each_time(world: World) -> None:
    world.create("a", SINK)
    driver = world.driver("a")
    key = driver.begin()
    assert strips(world) == {"a": [(1, IntervalState.PLANNED)]}
    driver.commit(key)
    assert strips(world) == {"a": [(1, IntervalState.COMMITTED)]}


def test_a_connector_that_is_created_again_keeps_its_strip(world: World) -> None:
    world.create("a", SINK)
    commit(world, "a")
    before = strips(world)
    connectors.delete(world.herder, "a")
    assert strips(world) == {}
    world.create("a", SINK)
    assert strips(world) == before
