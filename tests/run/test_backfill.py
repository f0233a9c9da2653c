"""How a backfill's run ends, and what its event tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from connect_core.api.sink import IntervalKey
from connect_core.errors import RetriableError
from connect_core.interval.runs import RunOutcome, RunRequest, RunStatus
from connect_core.interval.values import Counts, IntervalRow, IntervalState
from connect_core.run.backfill import concluded, unreported
from connect_core.store.interval_history import PastInterval

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
BACKFILL = RunRequest("a", "scheduled__1", bound_time=NOW - HOUR, since=NOW - 2 * HOUR, begun_at=NOW)


@pytest.mark.parametrize("status", [RunStatus.SKIPPED, RunStatus.STOPPED])
def test_a_backfill_that_was_not_carried_out_is_tried_again(status: RunStatus) -> None:
    outcome = RunOutcome(status, "another run has it")
    assert concluded(RunRequest("a", "r"), outcome, is_stopping=True) is outcome
    with pytest.raises(RetriableError):
        concluded(BACKFILL, outcome, is_stopping=False)


def test_a_backfill_that_is_interrupted_between_two_intervals_is_tried_again() -> None:
    with pytest.raises(RetriableError, match="interrupted"):
        concluded(BACKFILL, RunOutcome(RunStatus.DRAINED), is_stopping=True)


def test_a_backfill_without_work_says_which_time_it_was_for() -> None:
    outcome = concluded(BACKFILL, RunOutcome(RunStatus.IDLE), is_stopping=False)
    assert "from 2026-03-01 10:00:00+00:00 to 2026-03-01 11:00:00+00:00" in outcome.reason


def past(sequence: int, since: datetime | None, ended: datetime) -> PastInterval:
    row = IntervalRow(IntervalKey("a", 1, sequence, 1), IntervalState.COMMITTED, 1, "sink-1", since=since)
    return PastInterval(row, Counts(), None, "scheduled__1", "", "", None, ended, ended, ended)


def test_a_run_that_is_done_over_as_a_backfill_tells_of_that_alone() -> None:
    live, earlier = past(1, None, NOW + HOUR), past(2, NOW, NOW - HOUR)
    own = past(3, NOW, NOW + HOUR)
    assert unreported(BACKFILL, [live, earlier, own]) == [own]
    assert unreported(RunRequest("a", "scheduled__1"), [live, earlier, own]) == [live, earlier, own]
