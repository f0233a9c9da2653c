"""A part of the fault matrix, small enough for every test run; ``make faults`` is the whole of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.interval.values import Counts, IntervalRow, IntervalState
from connect_core.store.interval_history import PastInterval
from tests.faults import table
from tests.faults.exports import LineExport
from tests.faults.history import Findings, History
from tests.faults.lives import interval_violations
from tests.faults.order import files_out_of_order, partitions_out_of_order
from tests.faults.proxy import KafkaWatch
from tests.faults.rows import QUICK, ROWS, Row
from tests.faults.table import Result
from tests.faults.world import World

GOOD = Findings(1, 1000, 0, 0, (), 0.0)
pytestmark = [pytest.mark.faults, pytest.mark.timeout(420)]


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


LINES = list(range(1000))
SWAPPED = [*LINES[:10], LINES[12], LINES[11], LINES[10], *LINES[13:]]
"""Two lines of partition 0 have changed places."""
DOUBLED = [*LINES, *LINES[400:402]]
"""A later life has read again what an earlier one had moved."""


@pytest.mark.parametrize(
    ("lines", "repeated", "told"),
    [(LINES, 0, []), (SWAPPED, 0, ["I3"]), (DOUBLED, 2, ["I3"])],
    ids=["", "order", "life"],
)
@pytest.mark.parametrize("place", ["topic", "files"])
def test_checker_tells_of_lines_out_of_order_and_of_an_earlier_life(
    world: World, place: str, lines: list[int], repeated: int, told: list[str]
) -> None:
    history = History(world, f"checked-{world.random.getrandbits(24):06x}")
    history.topic, history.written = world.topics.create(2), len(LINES)
    in_topic, in_files = (lines, LINES) if place == "topic" else (LINES, lines)
    world.topics.write(history.topic, [json.dumps({"line": f"line {number}"}).encode() for number in in_topic], 2)
    for partition in (0, 1):
        folder = history.exported / history.topic / f"partition={partition}"
        folder.mkdir(parents=True)
        some = [f"line {number}" for number in in_files if number % 2 == partition]
        for file, part in enumerate((some[:300], some[300:])):
            pq.write_table(pa.table({"line": part}), folder / f"{file}.parquet")
    found = history.checked(1)
    assert (found.lost, found.repeated) == (0, repeated)
    assert not found.is_good
    # Nothing has moved these lines: that shows as well.
    assert sorted({text.partition(":")[0] for text in found.violations}) == sorted([*told, "I6"])


@pytest.mark.parametrize(
    ("lines", "repeated", "told"), [(LINES, 0, 0), (SWAPPED, 0, 1), (DOUBLED, 2, 2)], ids=["", "order", "life"]
)
def test_checker_of_exported_lines_tells_as_much(world: World, lines: list[int], repeated: int, told: int) -> None:
    export = LineExport(world, f"checked-{world.random.getrandbits(24):06x}")
    export.partition_of = {number: number % 2 for number in LINES}
    export.path.with_suffix(".txt").write_text("".join(f"{{n={number}}}\n" for number in lines))
    found = export.found(set(LINES), 1)
    assert (found.lost, found.repeated, len(found.violations)) == (0, repeated, told)


def test_intervals_of_all_lives_are_counted() -> None:
    lives = [past(1, 1, 0, 40), past(2, 1, 40, 60), past(3, 2, 60, 100)]
    assert list(interval_violations(lives, 100)) == []
    again = [*lives[:2], past(3, 2, 50, 100)]
    assert [text[:2] for text in interval_violations(again, 100)] == ["I6", "I4"]
    assert [text[:2] for text in interval_violations(lives[1:], 100)] == ["I6"]
    assert [text[:2] for text in interval_violations([*lives, past(4, 1, 100, 100)], 100)] == ["I5"]
    deleted = replace(past(2, 1, 40, 60), reason="the connector was deleted")
    ended = replace(deleted, row=replace(deleted.row, state=IntervalState.ABANDONED))
    assert list(interval_violations([lives[0], ended, replace(lives[2], counts=Counts(40))], 100)) == [
        "I4: interval 3 does not begin where the last ended"
    ]


def past(sequence: int, incarnation: int, start: int, end: int) -> PastInterval:
    """Return a committed interval of one partition."""
    key = IntervalKey("copy", incarnation, sequence, sequence)
    row = IntervalRow(key, IntervalState.COMMITTED, 1, "", (PartitionRange("t", 0, start, end, "id"),))
    then = datetime(2026, 1, 1, tzinfo=UTC)
    return PastInterval(row, Counts(end - start), None, "run", "tag", "worker", None, then, then, then)


def test_proxy_knows_the_answer_to_a_commit_among_others() -> None:
    watch = KafkaWatch()
    watch.sent(b"\x00\x00\x00\x08\x00\x1a\x00\x03\x00\x00\x00\x07\x00\x00\x00\x08\x00\x03\x00\x00\x00\x00\x00\x08")
    assert not watch.answered(b"\x00\x00\x00\x04\x00\x00\x00\x08")
    assert watch.answered(b"\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00")
