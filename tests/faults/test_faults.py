"""A part of the fault matrix, small enough for every test run; ``make faults`` is the whole of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from random import Random

import pytest

from tests.faults.history import Findings
from tests.faults.proxy import KafkaWatch
from tests.faults.rows import ROWS, Row
from tests.faults.world import World

pytestmark = [pytest.mark.faults, pytest.mark.timeout(420)]

SMOKE = (1, 6, 9, 15)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    with World(tmp_path_factory.mktemp("faults"), Random(seed)) as world:
        yield world


@pytest.mark.parametrize("row", [row for row in ROWS if row.number in SMOKE], ids=lambda row: row.name)
def test_nothing_is_lost_or_repeated(world: World, row: Row) -> None:
    try:
        found = row.run(world)
    finally:
        world.end_drivers()
    assert found.violations == ()
    assert (found.lost, found.repeated) == (0, 0)
    assert found.faults > 0
    assert found.is_good


def test_findings_that_moved_little_or_lost_one_are_not_good() -> None:
    assert Findings(1, 1000, 0, 0, (), 0.0).is_good
    for bad in (
        Findings(1, 999, 0, 0, (), 0.0),
        Findings(1, 1000, 1, 0, (), 0.0),
        Findings(1, 1000, 0, 1, (), 0.0),
        Findings(1, 1000, 0, 0, ("I4",), 0.0),
    ):
        assert not bad.is_good


def test_proxy_knows_the_answer_to_a_commit_among_others() -> None:
    watch = KafkaWatch()
    watch.sent(b"\x00\x00\x00\x08\x00\x1a\x00\x03\x00\x00\x00\x07\x00\x00\x00\x08\x00\x03\x00\x00\x00\x00\x00\x08")
    assert not watch.answered(b"\x00\x00\x00\x04\x00\x00\x00\x08")
    assert watch.answered(b"\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00")
