"""What connectors have moved: bounds, processes, and files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api.sink import IntervalKey, PartitionRange
from connect_core.cli.moved_data import (
    Bound,
    MovedInterval,
    check_abutting,
    count_lines,
    has_line,
    moved_intervals,
    parquet_files,
)
from connect_core.errors import ConnectError
from connect_core.interval.effects import InsertInterval, RaiseEpoch
from connect_core.interval.values import Counts, IntervalRow, IntervalState, SourceBounds, TaskOutcome, TaskResult
from tests.herder.harness import SINK, SOURCE, Driver, Harness

pytestmark = pytest.mark.slow

FILE = '{"filename":"a.txt"}'


def result(task: int, pid: int, records: int = 5) -> TaskResult:
    return TaskResult(task, TaskOutcome.DONE, Counts(records), host="w", pid=pid)


def begin(driver: Driver, sequence: int, **plan: object) -> IntervalKey:
    """Begin an interval with these ranges or bounds."""
    assert driver.plan()
    epoch = driver.do(RaiseEpoch(driver.connector, "driver"))
    driver.epoch = epoch
    key = IntervalKey(driver.connector, 1, sequence, epoch)
    driver.do(InsertInterval(IntervalRow(key, IntervalState.PLANNED, 1, "assignment", **plan)))  # type: ignore[arg-type]
    return key


def test_sink_interval_has_ranges_and_processes(harness: Harness) -> None:
    harness.create("out", {**SINK, "tasks.max": "2"})
    ranges = tuple(PartitionRange("t", number, 0, number * 2) for number in range(3))
    key = begin(harness.driver("out"), 1, ranges=ranges, tasks=2)
    driver = harness.driver("out")
    driver.epoch = key.epoch
    driver.commit(key, [result(0, 71), result(1, 72)])
    (moved,) = moved_intervals(harness.herder, "out")
    assert (moved.sequence, moved.records) == (1, 10)
    assert moved.bounds == (Bound("t-1", 0, 2), Bound("t-2", 0, 4))
    assert moved.processes == {("t-1", 72), ("t-2", 71)}


def test_source_interval_has_positions(harness: Harness) -> None:
    harness.create("in", SOURCE)
    ends = [(None, 10), (10, 25)]
    for sequence, (start, end) in enumerate(ends, 1):
        driver = harness.driver("in")
        begun = {} if start is None else {FILE: {"position": start}}
        key = begin(driver, sequence, source=SourceBounds(begun), tasks=1)
        driver.commit(key, [result(0, 9)], source_offsets={FILE: {"position": end}})
    moved = moved_intervals(harness.herder, "in")
    assert [one.bounds for one in moved] == [(Bound("a.txt", None, 10),), (Bound("a.txt", 10, 25),)]
    check_abutting("in", moved)


def test_unfinished_interval_is_left_out(harness: Harness) -> None:
    harness.create("out", SINK)
    begin(harness.driver("out"), 1, ranges=(PartitionRange("t", 0, 0, 3),), tasks=1)
    assert moved_intervals(harness.herder, "out") == []


def interval(sequence: int, *bounds: Bound) -> MovedInterval:
    return MovedInterval(sequence, 1, bounds, "tag", frozenset())


def test_gap_is_named() -> None:
    gap = [interval(1, Bound("t-0", 0, 5), Bound("t-1", 0, 2)), interval(2, Bound("t-1", 2, 3), Bound("t-0", 6, 7))]
    with pytest.raises(ConnectError, match=r"Interval 2 of connector c begins at 6 of t-0, .* ended at 5"):
        check_abutting("c", gap)


def test_parquet_is_counted_and_searched(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "partition=0"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"line": ["one", "two"]}), folder / "t+0+0+2.parquet")
    (tmp_path / "_connect").mkdir()
    files = parquet_files(tmp_path, "t")
    assert list(files.values()) == [2]
    assert has_line(files, "tw")
    assert not has_line(files, "three")
    assert parquet_files(tmp_path, "other") == {}


def test_lines_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    assert count_lines(file) == 0
    file.write_text("a\nb\n")
    assert count_lines(file) == 2
