"""Intervals that end by a time, planned and committed against records whose times are in any order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect_core.api.records import TopicPartition
from connect_core.commit.interval import Committed, commit_interval
from connect_core.effects.perform import perform
from connect_core.errors import DataError
from connect_core.interval.time_bounds import FutureRecord, RecordTimes, millis_of
from connect_core.interval.values import ConnectorType, IntervalCaps, PartitionEnds, Plan
from connect_core.plan.interval import plan_interval
from tests.simulator.timed import TimedPartition
from tests.simulator.world import World

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)
FIRST_HOUR = datetime(2026, 3, 1, 0, tzinfo=UTC)
MINUTE = 60_000


def at(minute: float) -> int:
    """Return the time of a minute after the first hour's begin."""
    return millis_of(FIRST_HOUR) + int(minute * MINUTE)


def hour(number: int) -> datetime:
    """Return the end of an hour, from 1 on."""
    return FIRST_HOUR + timedelta(hours=number)


class Export:
    """An hourly export of a topic that grows."""

    def __init__(self, future: str = "fail", most: int | None = None) -> None:
        self.world = World(ConnectorType.SINK)
        timed = replace(self.world.settings, bound="data_interval_end", future=future, skew_ms=30 * MINUTE)
        self.world.settings = replace(timed, caps=IntervalCaps(records=most))
        self.world.times = {ZERO: TimedPartition(), ONE: TimedPartition()}
        self.plans: list[Plan] = []

    def append(self, part: TopicPartition, *minutes: float) -> None:
        """Let records of these times arrive."""
        self.world.times[part].extend(map(at, minutes))

    def run(self, number: int) -> list[Plan]:
        """Carry out the run at the end of an hour → its intervals."""
        self.world.now = millis_of(hour(number)) + 1000
        self.world.ends = {part: PartitionEnds("id", 0, len(log), len(log)) for part, log in self.world.times.items()}
        run, done = replace(self.world.run(), bound_time=hour(number)), []
        while True:
            planned = perform(plan_interval(run), self.world.handlers())
            if planned.plan is None:
                break
            steps = commit_interval(planned.run, planned.plan, self.world.done(planned.plan))
            assert perform(steps, self.world.handlers()) is Committed.COMMITTED
            done.append(planned.plan)
            run = planned.run
            if planned.plan.is_last:
                break
        self.plans += done
        return done

    def ranges(self, part: TopicPartition) -> list[tuple[int, int]]:
        """Return what the intervals read of a partition."""
        found = (one for plan in self.plans for one in plan.row.ranges if one.topic_partition == part)
        return [(one.start, one.end) for one in found if one.start < one.end]

    def records(self, plan: Plan) -> list[int]:
        """Return the times of an interval's records."""
        return [time for one in plan.row.ranges for time in self.world.times[one.topic_partition][one.start : one.end]]


def test_late_records_go_to_the_next_interval_and_are_counted_by_the_earlier_time() -> None:
    export = Export()
    export.append(ZERO, 5, 59, 60, 58, 70)
    first = export.run(1)
    second = export.run(2)
    assert export.ranges(ZERO) == [(0, 2), (2, 5)]
    assert [task.times for task in first[0].tasks] == [RecordTimes(None, at(60))]
    assert [task.times for task in second[0].tasks] == [RecordTimes(at(60), at(120))]
    assert second[0].row.bound_time == hour(2)


def test_hour_without_records_is_no_interval() -> None:
    export = Export()
    export.append(ZERO, 61)
    assert export.run(1) == []
    assert len(export.run(2)) == 1


def test_record_that_was_passed_by_another_bound_does_not_hold_up_the_time() -> None:
    export = Export()
    export.append(ZERO, 150, 30, 61, 20)
    export.world.offsets = {ZERO: 1}
    export.run(1)
    assert export.ranges(ZERO) == [(1, 2)], "the first record of the hour's end or later lies before the position"


def test_record_from_the_future_fails_once_its_partition_is_held_up() -> None:
    export = Export()
    export.append(ZERO, 1, 9000, 2)
    export.append(ONE, 3)
    with pytest.raises(DataError, match=r"t-0 is held up at offset 1: its record is of 2026-03-07T06:00:00.*advance"):
        export.run(1)
    assert [export.records(plan) for plan in export.plans] == []
    assert [(one.start, one.end) for one in export.world.rows[0].ranges] == [(0, 1), (0, 1)], "what comes before it"


def test_records_from_the_future_are_passed_over_and_recorded() -> None:
    export = Export("advance")
    export.append(ZERO, 1, 9000, 2, 9001, 3, 60, 4)
    export.run(1)
    assert export.ranges(ZERO) == [(0, 1), (1, 5)]
    assert export.world.future == {ZERO: FutureRecord(1, at(9000))}
    export.run(2)
    assert export.ranges(ZERO)[2:] == [(5, 7)]


def test_run_by_a_past_time_finds_nothing_that_was_taken() -> None:
    export = Export()
    export.append(ZERO, 5, 65, 125)
    export.run(3)
    assert export.run(1) == []
    assert export.ranges(ZERO) == [(0, 3)]


def test_record_of_the_next_hour_holds_nothing_up() -> None:
    export = Export()
    export.append(ZERO, 60.001, 2)
    assert export.run(1) == []
    export.append(ZERO, 3)
    assert export.run(1) == [], "the bound does not move, and the record there is not later than now"


minutes = st.lists(st.floats(0, 300, allow_nan=False), max_size=25)
poisoned = st.lists(st.one_of(st.floats(0, 300, allow_nan=False), st.floats(9000, 9999)), max_size=25)


@pytest.mark.slow
@given(data=st.lists(st.tuples(minutes, minutes), min_size=1, max_size=5), most=st.sampled_from([None, 1, 4]))
def test_every_record_is_in_one_interval_and_none_of_its_time_or_later(
    data: list[tuple[list[float], list[float]]], most: int | None
) -> None:
    export = Export(most=most)
    check_each_once(export, data)
    for plan in export.plans:
        assert plan.row.bound_time is not None
        assert all(time < millis_of(plan.row.bound_time) for time in export.records(plan))


@pytest.mark.slow
@given(data=st.lists(st.tuples(poisoned, poisoned), min_size=1, max_size=5), most=st.sampled_from([None, 1, 4]))
def test_records_from_the_future_are_in_one_interval_too_and_hold_up_none(
    data: list[tuple[list[float], list[float]]], most: int | None
) -> None:
    export = Export("advance", most)
    check_each_once(export, data)
    for plan in export.plans:
        assert plan.row.bound_time is not None
        times = export.records(plan)
        assert not [time for time in times if millis_of(plan.row.bound_time) <= time < at(9000)]


def check_each_once(export: Export, data: list[tuple[list[float], list[float]]]) -> None:
    """Let records arrive hour by hour, some of later hours than they may have; then all hours are over."""
    for number, (zero, one) in enumerate(data, 1):
        limit = number * 60
        export.append(ZERO, *(minute if minute >= 9000 else min(minute, limit) for minute in zero))
        export.append(ONE, *(minute if minute >= 9000 else min(minute, limit) for minute in one))
        export.run(number)
    export.run(7)
    for part, log in export.world.times.items():
        ranges = export.ranges(part)
        assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
        assert (ranges[-1][1] if ranges else 0) == len(log)
