"""Exporting time slots again: what is asked of the scheduler, and what is refused before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from connect_core.errors import BadRequestError, IllegalWorkerStateError, NotFoundError
from connect_core.herder import history, lifecycle
from connect_core.herder.backfills import start_backfill
from tests.herder.exports import world_of
from tests.herder.harness import Harness
from tests.herder.hours import FULL, HOUR, HOURLY, HourlyExport

pytestmark = pytest.mark.slow


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> HourlyExport:
    """An export of the hours before the last full one."""
    made = HourlyExport(world_of(harness, tmp_path)).create()
    made.live(FULL - 2 * HOUR)
    made.live(FULL - HOUR)
    return made


def test_runs_are_named_by_the_ends_of_slots(export: HourlyExport) -> None:
    herder = export.harness.herder
    started = start_backfill(herder, export.name, FULL - 4 * HOUR, FULL - HOUR)
    assert (started.slots, started.start, started.end) == (3, FULL - 4 * HOUR, FULL - HOUR)
    one = start_backfill(herder, export.name, FULL - 2 * HOUR, FULL - HOUR)
    assert one.slots == 1
    asked = [f"backfill {(FULL - first * HOUR).isoformat()} {(FULL - HOUR).isoformat()}" for first in (3, 1)]
    assert export.harness.scheduler.calls[-2:] == [(act, export.name) for act in asked]
    assert [act.action for act in history.list_acts(herder, export.name).acts][:2] == ["backfill", "backfill"]


def test_times_that_are_no_slots(export: HourlyExport) -> None:
    herder = export.harness.herder
    minutes = timedelta(minutes=10)
    with pytest.raises(BadRequestError, match=r"no slot within .* schedule=0 \* \* \* \*, which is in UTC"):
        start_backfill(herder, export.name, FULL - 2 * HOUR + minutes, FULL - HOUR - minutes)
    with pytest.raises(BadRequestError, match="no slot within"):
        start_backfill(herder, export.name, FULL - 2 * HOUR + minutes, FULL - HOUR)
    with pytest.raises(NotFoundError):
        start_backfill(herder, "nobody", FULL - HOUR, FULL)
    HourlyExport(export.harness, "plain", {**HOURLY, "interval.bound": "latest"}).create()
    with pytest.raises(BadRequestError, match="Only a sink with"):
        start_backfill(herder, "plain", FULL - HOUR, FULL)


def test_no_slot_of_a_long_time_is_left_out(export: HourlyExport) -> None:
    """A calendar has the newest thousand of them: the backfill would begin behind the time that was asked for."""
    minutes = HourlyExport(export.harness, "minutes", {**HOURLY, "schedule": "* * * * *"}).create()
    minutes.live(FULL)
    herder, long = export.harness.herder, timedelta(minutes=1000)
    with pytest.raises(BadRequestError, match="has more than 1000 slots between"):
        start_backfill(herder, minutes.name, FULL - long - timedelta(minutes=1), FULL)
    assert start_backfill(herder, minutes.name, FULL - long, FULL).slots == 1000


def test_what_cannot_be_exported_again_now(export: HourlyExport) -> None:
    herder = export.harness.herder
    with pytest.raises(IllegalWorkerStateError, match=r"has reached .*: its next run exports what comes after"):
        start_backfill(herder, export.name, FULL - HOUR, FULL)
    export.begin(FULL - HOUR, 5, FULL - 2 * HOUR)
    with pytest.raises(IllegalWorkerStateError, match="is exporting a slot within this time"):
        start_backfill(herder, export.name, FULL - 3 * HOUR, FULL - HOUR)
    lifecycle.stop(herder, export.name)
    with pytest.raises(IllegalWorkerStateError, match="is stopped: resume it first"):
        start_backfill(herder, export.name, FULL - 3 * HOUR, FULL - HOUR)
    assert not [act for act, _ in export.harness.scheduler.calls if act.startswith("backfill")]
