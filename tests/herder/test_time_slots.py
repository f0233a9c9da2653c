"""The state of each time slot, by the history of intervals."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from connect_core.herder.slot_times import slot_times
from connect_core.herder.time_slots import SlotHistory, SlotState, TimeSlot, time_slots
from connect_core.interval.values import IntervalState
from connect_core.store.interval_history import BoundedInterval

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOW = NOON + timedelta(minutes=20)
HOUR = timedelta(hours=1)
COMMITTED, ABANDONED = IntervalState.COMMITTED, IntervalState.ABANDONED


def live(sequence: int, before: float, records: int = 5, late: int = 0) -> BoundedInterval:
    """A committed interval that ends so many hours before noon."""
    bound = NOON - before * HOUR
    return BoundedInterval(sequence, COMMITTED, bound, None, records, late, bound + timedelta(minutes=2))


def again(sequence: int, before: int, state: IntervalState = COMMITTED) -> BoundedInterval:
    """An interval of the backfill of the hour that ends so many hours before noon."""
    bound = NOON - before * HOUR
    return BoundedInterval(sequence, state, bound, bound - HOUR, 5, ended_at=NOW, reason="a file is in the way")


def history(*intervals: BoundedInterval, **more: object) -> SlotHistory:
    """The history of these, which is whole."""
    bounds = [one.bound_time for one in intervals if one.since is None and one.state is COMMITTED]
    told = SlotHistory(NOW, intervals, None, max(bounds, default=None), min(bounds, default=None))
    return replace(told, **more)  # type: ignore[arg-type]


def slots(told: SlotHistory, hours: int = 4) -> list[TimeSlot]:
    """The last hours before noon."""
    return time_slots(slot_times("@hourly", NOON - hours * HOUR, NOON), told)


def states(told: SlotHistory, hours: int = 4) -> str:
    """Their states, the oldest first."""
    return " ".join(one.state.value for one in slots(told, hours))


def test_hours_with_and_without_records() -> None:
    told = history(live(1, 3), live(2, 2, records=7), live(3, 0))
    assert states(told) == "finished finished finished finished"
    found = slots(told)
    assert [one.records for one in found] == [5, 7, 0, 5]
    assert [one.last_interval for one in found] == [1, 2, None, 3]
    assert [one.can_export_again for one in found] == [True] * 4


def test_an_hour_in_several_intervals() -> None:
    (slot,) = slots(history(live(1, 0), live(2, 0, records=6), live(3, 0, records=1, late=2)), hours=1)
    assert (slot.records, slot.late, slot.interval_count, slot.last_interval) == (12, 2, 3, 3)
    assert slot.exported_at == NOON + timedelta(minutes=2)


def test_late_records_belong_to_the_hour_in_which_they_came() -> None:
    assert states(history(live(1, 2), live(2, 1, late=3), live(3, 0))) == "finished finished late finished"


def test_a_run_by_hand_within_an_hour_does_not_finish_it() -> None:
    told = history(live(1, 1), live(2, 0.5), now=NOON + timedelta(minutes=6))
    assert states(told, 2) == "finished missing"
    assert slots(told, 1)[0].records == 5


def test_hours_that_no_run_has_reached() -> None:
    assert states(history(live(1, 3), live(2, 2))) == "finished finished missing missing"
    assert states(history(live(1, 1), now=NOON + timedelta(minutes=4)), 2) == "finished due"
    found = slots(history(live(1, 1)), 2)
    assert [one.can_export_again for one in found] == [True, False]


def test_hours_of_which_kafka_has_no_record() -> None:
    assert states(history(live(1, 3), empty_until=NOON - HOUR)) == "finished finished finished missing"
    assert states(history(empty_until=NOON)) == "finished finished finished finished"


@pytest.mark.parametrize(("state", "expected"), [(IntervalState.RUNNING, "running"), (IntervalState.FAILED, "failed")])
def test_an_unfinished_interval_takes_all_hours_up_to_its_bound(state: IntervalState, expected: str) -> None:
    unfinished = BoundedInterval(2, state, NOON - HOUR)
    told = history(live(1, 3), unfinished=unfinished)
    assert states(told) == f"finished {expected} {expected} missing"
    assert ("interval 2 failed" in (slots(told)[1].reason or "")) is (expected == "failed")


def test_an_hour_is_running_until_its_last_interval() -> None:
    unfinished = BoundedInterval(3, IntervalState.RUNNING, NOON)
    (first, last) = slots(history(live(1, 1), live(2, 0), unfinished=unfinished), hours=2)
    assert (first.state, last.state) == (SlotState.FINISHED, SlotState.RUNNING)
    assert not last.can_export_again


def test_an_hour_exported_again() -> None:
    told = history(live(1, 1), live(2, 0), again(3, 1))
    first, last = slots(told, 2)
    assert (first.state, first.exported_again_at, first.records) == (SlotState.FINISHED, NOW, 5)
    assert last.exported_again_at is None
    unfinished = replace(again(4, 1), state=IntervalState.RUNNING)
    assert states(replace(told, unfinished=unfinished), 2) == "running finished"


def test_a_backfill_that_was_given_up_is_told() -> None:
    first, last = slots(history(live(1, 1), live(2, 0), again(3, 0, ABANDONED)), 2)
    assert (first.reason, last.state) == (None, SlotState.FINISHED)
    assert last.reason == "interval 3, which exported it again, was given up: a file is in the way"


def test_hours_before_the_first_interval() -> None:
    told = history(live(1, 1), live(2, 0))
    assert states(told) == "finished finished finished finished", "it has read its topics from the beginning"
    assert states(replace(told, reads_all=False)) == "missing missing finished finished"
    assert states(replace(told, is_whole=False)) == "unknown unknown finished finished"
    done = replace(told, reads_all=False, intervals=(*told.intervals, again(3, 2)))
    assert states(done) == "missing finished finished finished"
    failed = replace(told, reads_all=False, intervals=(*told.intervals, again(3, 2, ABANDONED)))
    assert states(failed) == "missing failed finished finished"


def test_nothing_has_happened_yet() -> None:
    found = slots(history())
    assert {one.state for one in found} == {SlotState.MISSING}
    assert not any(one.can_export_again for one in found)


def test_local_times_tell_the_hours_apart_when_clocks_are_set_back() -> None:
    """On 2026-10-25 Berlin has the hour from 2 to 3 twice."""
    until = datetime(2026, 10, 25, 2, tzinfo=UTC)
    times = slot_times("@hourly", until - 3 * HOUR, until)
    found = time_slots(times, SlotHistory(NOW), ZoneInfo("Europe/Berlin"))
    assert [one.local_start[11:] for one in found] == ["01:00:00+02:00", "02:00:00+02:00", "02:00:00+01:00"]
    assert found[1].local_end == "2026-10-25T02:00:00+01:00"


def test_local_times_leave_out_the_hour_that_does_not_exist() -> None:
    until = datetime(2026, 3, 29, 3, tzinfo=UTC)
    times = slot_times("@hourly", until - 3 * HOUR, until)
    found = time_slots(times, SlotHistory(NOW), ZoneInfo("Europe/Berlin"))
    assert [one.local_start[11:16] for one in found] == ["01:00", "03:00", "04:00"]
