"""A part of the fault matrix, small enough for every test run; ``make faults`` is the whole of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.faults import table
from tests.faults.history import Findings
from tests.faults.order import files_out_of_order, partitions_out_of_order
from tests.faults.proxy import KafkaWatch
from tests.faults.rows import QUICK, ROWS, Row
from tests.faults.table import Result
from tests.faults.world import World

GOOD = Findings(1, 1000, 0, 0, (), 0.0)
pytestmark = [pytest.mark.faults, pytest.mark.timeout(420)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    with World(tmp_path_factory.mktemp("faults"), Random(seed)) as world:
        yield world


@pytest.mark.parametrize("row", QUICK, ids=lambda row: row.name)
def test_nothing_is_lost_or_repeated(world: World, row: Row) -> None:
    try:
        found = row.run(world)
    finally:
        world.end_drivers()
    assert found.violations == ()
    assert (found.lost, found.repeated) == (0, 0)
    assert found.faults > 0
    assert found.is_good


def test_rows_have_names_of_their_own() -> None:
    assert len({(row.number, row.name) for row in ROWS}) == len(ROWS)


def test_table_keeps_the_newest_result_of_each_row(tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    file.write_text("# Faults\n\n<!-- results -->\n<!-- end of results -->\nThe end.\n")
    row, other = Row(15, "a", lambda world: GOOD), Row(2, "b", lambda world: GOOD)
    for one, lost in ((row, 3), (other, 0), (row, 0)):
        table.write(file, [Result(one, replace(GOOD, lost=lost), 7).line()])
    lines = [line for line in file.read_text().splitlines() if line.startswith("|")]
    assert [line.split("|")[1:6] for line in lines[2:]] == [
        ["  2 ", " b ", " 1 ", " 1000 ", " 0 "],
        [" 15 ", " a ", " 1 ", " 1000 ", " 0 "],
    ]
    assert file.read_text().endswith("<!-- end of results -->\nThe end.\n")


def test_findings_that_moved_little_or_lost_one_are_not_good() -> None:
    assert GOOD.is_good
    for bad in (
        Findings(1, 999, 0, 0, (), 0.0),
        Findings(1, 1000, 1, 0, (), 0.0),
        Findings(1, 1000, 0, 1, (), 0.0),
        Findings(1, 1000, 0, 0, ("I4",), 0.0),
    ):
        assert not bad.is_good


def test_lines_out_of_order_are_found() -> None:
    assert list(partitions_out_of_order([(0, 1), (1, 5), (0, 2), (1, 4)])) == [1]
    assert list(partitions_out_of_order([(0, 1), (1, 0), (0, 1), (0, 3)])) == []
    kept, mixed, turned = [[7, 9], [1, 2]], [[1, 5], [3, 7]], [[2, 1]]
    assert list(files_out_of_order({"a": kept, "b": mixed, "c": turned})) == ["b", "c"]


def test_proxy_knows_the_answer_to_a_commit_among_others() -> None:
    watch = KafkaWatch()
    watch.sent(b"\x00\x00\x00\x08\x00\x1a\x00\x03\x00\x00\x00\x07\x00\x00\x00\x08\x00\x03\x00\x00\x00\x00\x00\x08")
    assert not watch.answered(b"\x00\x00\x00\x04\x00\x00\x00\x08")
    assert watch.answered(b"\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00")
