"""``connect slots`` and ``connect backfill``: what they print, what they request, and what they exit with."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from connect_core.cli.app import application
from connect_core.errors import BadRequestError, ConnectError, NotFoundError
from connect_core.store import requests
from tests.herder.exports import world_of
from tests.herder.harness import Harness
from tests.herder.hours import FULL, HOUR, HOURLY, HourlyExport

pytestmark = pytest.mark.slow


@pytest.fixture
def export(deployment: Harness, tmp_path: Path) -> HourlyExport:
    """Two exported hours and one that is missing."""
    made = HourlyExport(world_of(deployment, tmp_path)).create()
    made.live(FULL - 3 * HOUR)
    made.live(FULL - 2 * HOUR, records=7, late=2)
    return made


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(application(arguments[0]), arguments)


def test_slots_are_listed_with_their_states(export: HourlyExport) -> None:
    done = connect("slots", export.name, "--from", (FULL - 4 * HOUR).isoformat(), "--to", (FULL - HOUR).isoformat())
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert [line.split()[4] for line in lines[1:4]] == ["finished", "late", "missing"]
    assert lines[2].split()[5:7] == ["7", "2"]
    assert "1 finished, 1 late, 1 missing" in done.stdout
    assert f"everything before {(FULL - 2 * HOUR):%Y-%m-%d %H:%M} UTC" in done.stdout
    done = connect("slots", export.name, "--from", str(FULL - 4 * HOUR), "--to", str(FULL - 2 * HOUR))
    assert done.exit_code == 0


def test_times_without_a_zone_are_in_utc(export: HourlyExport) -> None:
    first, last = (f"{FULL - hours * HOUR:%Y-%m-%dT%H:%M}" for hours in (4, 2))
    listed = json.loads(connect("slots", export.name, "--from", first, "--to", last, "--json").stdout)
    assert datetime.fromisoformat(listed["slots"][-1]["end"]) == FULL - 2 * HOUR
    done = connect("backfill", export.name, "--from", first, "--to", last)
    assert (done.exit_code, "2 slots" in done.stdout) == (0, True), done.output


def test_json_is_that_of_the_api(export: HourlyExport) -> None:
    found = json.loads(connect("slots", export.name, "--json").stdout)
    assert (found["connector"], found["schedule"]) == (export.name, HOURLY["schedule"])
    assert {slot["state"] for slot in found["slots"]} >= {"finished", "late"}


def test_a_connector_without_slots_says_why(export: HourlyExport) -> None:
    HourlyExport(export.harness, "plain", {**HOURLY, "interval.bound": "latest"}).create()
    done = connect("slots", "plain")
    assert (done.exit_code, "Only a sink with interval.bound" in done.stdout) == (0, True)
    assert isinstance(connect("slots", "nobody").exception, NotFoundError)


def test_a_backfill_is_requested(export: HourlyExport) -> None:
    done = connect("backfill", export.name, "--from", str(FULL - 4 * HOUR), "--to", str(FULL - 2 * HOUR))
    assert (done.exit_code, "2 slots" in done.stdout) == (0, True), done.output
    with export.harness.database.read() as connection:
        found = requests.latest(connection, "backfill", export.name)
    assert found is not None
    assert found.asked.detail["first"] == (FULL - 3 * HOUR).isoformat()
    assert found.asked.detail["last"] == (FULL - 2 * HOUR).isoformat()
    done = connect("slots", export.name)
    assert "A backfill was requested and Airflow has not been told yet" in done.stdout


def test_bad_times_are_refused(export: HourlyExport) -> None:
    done = connect("backfill", export.name, "--from", "yesterday", "--to", str(FULL))
    assert isinstance(done.exception, ConnectError)
    assert str(done.exception).startswith("--from yesterday is not a time: write ISO 8601, such as ")
    done = connect("backfill", export.name, "--from", str(FULL - timedelta(minutes=20)), "--to", str(FULL))
    assert isinstance(done.exception, BadRequestError)
    assert connect("backfill", export.name).exit_code == 2
