"""Bounds of sink intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.records import TopicPartition
from connect_core.api.sink import PartitionRange
from connect_core.errors import DataLossError
from connect_core.interval.values import IntervalSettings, PartitionEnds
from connect_core.plan.bounds import (
    cap_ranges,
    find_losses,
    first_position,
    has_records,
    sink_ranges,
    surviving_positions,
)

PART = TopicPartition("orders", 0)


def ends(earliest: int = 0, stable: int = 10, latest: int = 10, topic_id: str = "id") -> PartitionEnds:
    return PartitionEnds(topic_id, earliest, stable, latest)


def test_ranges_end_at_last_stable_offset() -> None:
    assert sink_ranges({PART: 3}, {PART: ends(stable=7, latest=10)}) == (PartitionRange("orders", 0, 3, 7, "id"),)


def test_ranges_never_go_backwards() -> None:
    assert sink_ranges({PART: 9}, {PART: ends(stable=7)})[0].end == 9


def test_first_position_carries_on_the_group() -> None:
    assert first_position(ends(), 4, IntervalSettings()) == 4
    assert first_position(ends(2, 8, 10), 10, IntervalSettings()) == 10


@pytest.mark.parametrize(("reset", "expected"), [("earliest", 2), ("latest", 8)])
def test_first_position_follows_reset_where_the_group_is_of_an_earlier_topic(reset: str, expected: int) -> None:
    assert first_position(ends(2, 8, 10), 11, IntervalSettings(offset_reset=reset)) == expected


@pytest.mark.parametrize(("reset", "expected"), [("earliest", 2), ("latest", 8)])
def test_first_position_follows_reset(reset: str, expected: int) -> None:
    assert first_position(ends(2, 8), None, IntervalSettings(offset_reset=reset)) == expected


def test_removed_offsets_fail_by_default() -> None:
    with pytest.raises(DataLossError, match=r"Offsets 3 to 4 of orders-0.*interval\.data\.loss=skip"):
        surviving_positions({PART: 3}, find_losses({PART: 3}, {PART: ends(earliest=5)}, {}), "fail")


def test_removed_offsets_are_skipped_by_policy() -> None:
    assert surviving_positions({PART: 3}, find_losses({PART: 3}, {PART: ends(earliest=5)}, {}), "skip") == {PART: 5}


def test_recreated_topic_is_another_source() -> None:
    with pytest.raises(DataLossError, match="deleted and created again"):
        surviving_positions({PART: 3}, find_losses({PART: 3}, {PART: ends(topic_id="new")}, {"orders": "old"}), "fail")


def test_recreated_topic_starts_over_by_policy() -> None:
    assert surviving_positions(
        {PART: 3}, find_losses({PART: 3}, {PART: ends(topic_id="new")}, {"orders": "old"}), "skip"
    ) == {PART: 0}


@pytest.mark.parametrize(
    ("positions", "expected"),
    [({}, True), ({PART: 8}, False), ({PART: 7}, True), ({PART: 10}, False), ({PART: 11}, True)],
    ids=["none yet", "at the stable end", "before it", "an open transaction was aborted", "beyond: another topic"],
)
def test_work_is_what_is_readable_and_what_is_lost(positions: dict[TopicPartition, int], expected: bool) -> None:
    assert has_records(positions, {PART: ends(2, 8, 10)}) is expected


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.integers(1, 3000))
def test_caps_keep_the_total_and_starve_nobody(sizes: list[int], cap: int) -> None:
    ranges = tuple(PartitionRange("t", index, 5, 5 + size) for index, size in enumerate(sizes))
    capped = cap_ranges(ranges, cap)
    got = [part.end - part.start for part in capped]
    assert sum(got) == min(cap, sum(sizes))
    assert all(part.partition == index and part.start == 5 for index, part in enumerate(capped))
    assert all(taken <= size for taken, size in zip(got, sizes, strict=True))
    fair = min(cap, sum(sizes)) // len(sizes)
    assert all(taken >= min(size, fair) for taken, size in zip(got, sizes, strict=True))
