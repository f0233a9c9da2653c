"""The calendar of an hourly export, and exporting an hour again from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from connect_core.herder import lifecycle
from connect_core.store import requests
from connect_core.store.requests import Asked
from tests.herder.harness import Harness
from tests.herder.hours import FULL, HOUR, HOURLY, HourlyExport

pytestmark = pytest.mark.browser


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> HourlyExport:
    """An export that has reached the hour before the last full one."""
    made = HourlyExport(harness).create()
    made.live(FULL - 3 * HOUR)
    made.live(FULL - 2 * HOUR, records=1204, late=3)
    made.live(FULL - HOUR)
    return made


def slot(page: Page, hours: int, state: str) -> Locator:
    """The button of the hour that ends so many hours before the last full one."""
    start, end = FULL - (hours + 1) * HOUR, FULL - hours * HOUR
    day = "" if start.date() == end.date() else f"{end:%Y-%m-%d} "
    return page.get_by_role("button", name=f"{start:%Y-%m-%d %H:%M} to {day}{end:%H:%M}: {state}", exact=True)


def test_hours_have_their_states(page: Page, site: str, export: HourlyExport) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    calendar = page.get_by_role("region", name="Time slots")
    expect(calendar).to_contain_text("Schedule 0 * * * *. Times are in UTC.")
    expect(calendar.locator(".slot")).to_have_count(168)
    expect(slot(page, 1, "finished")).to_be_visible()
    expect(slot(page, 2, "late")).to_be_visible()
    expect(calendar.get_by_role("list", name="States")).to_contain_text("1 late")
    slot(page, 2, "late").click()
    expect(slot(page, 2, "late")).to_have_attribute("aria-pressed", "true")
    details = calendar.get_by_role("status")
    expect(details).to_contain_text("1,204 records, 3 of them late, in 1 interval, the last #2.")
    expect(page.locator("[data-sequence='2']")).to_be_visible()


def test_an_hour_is_exported_again(page: Page, site: str, harness: Harness, export: HourlyExport) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    slot(page, 1, "finished").click()
    page.get_by_role("button", name="Export this hour again").click()
    expect(page.get_by_role("dialog")).to_contain_text("Airflow runs a backfill of")
    page.get_by_role("button", name="Cancel").click()
    assert not [act for act, _ in harness.scheduler.calls if act.startswith("backfill")]
    page.get_by_role("button", name="Export this hour again").click()
    page.get_by_role("button", name="Export again", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Requested a backfill of")
    end = (FULL - HOUR).isoformat()
    assert harness.scheduler.calls[-1] == (f"backfill {end} {end}", "hourly")


def test_by_keyboard_alone(page: Page, site: str, harness: Harness, export: HourlyExport) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    slot(page, 1, "finished").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Export this hour again").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Requested a backfill of")
    assert harness.scheduler.calls[-1][0].startswith("backfill")


def test_a_refusal_is_shown(page: Page, site: str, export: HourlyExport) -> None:
    running = "A backfill of this connector is running in Airflow: wait for its end"
    refused = {"error_code": 409, "message": running}
    page.route(re.compile("/backfill$"), lambda route: route.fulfill(status=409, json=refused))
    page.goto(f"{site}#/connectors/hourly/intervals")
    slot(page, 1, "finished").click()
    page.get_by_role("button", name="Export this hour again").click()
    page.get_by_role("button", name="Export again", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text=running)).to_be_visible()


def test_what_airflow_refused_later_and_what_is_in_the_way(
    page: Page, site: str, harness: Harness, export: HourlyExport
) -> None:
    with harness.database.write() as connection:
        times = {"first": FULL.isoformat(), "last": FULL.isoformat()}
        number = requests.add(connection, Asked("backfill", "hourly", times, "jo"))
        requests.finish(connection, number, "No runs to create")
    lifecycle.pause(harness.herder, "hourly")
    page.goto(f"{site}#/connectors/hourly/intervals")
    expect(page.get_by_role("alert").filter(has_text="that jo requested")).to_contain_text("No runs to create")
    slot(page, 1, "finished").click()
    expect(page.get_by_role("button", name="Export this hour again")).to_be_disabled()
    expect(page.locator(".calendar").get_by_role("status")).to_contain_text(
        "Connector hourly is paused: resume it first."
    )


def test_an_hour_that_no_run_has_reached(page: Page, site: str, harness: Harness, export: HourlyExport) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name=re.compile(f"^{FULL - HOUR:%Y-%m-%d %H:%M} to .*: (due|missing)$")).click()
    page.locator(".calendar").get_by_role("button", name="Run now").click()
    expect(page.locator(".toast")).to_contain_text("Requested a run of hourly")
    assert harness.scheduler.calls[-1] == ("trigger", "hourly")


def test_times_of_the_connectors_zone(page: Page, site: str, harness: Harness) -> None:
    made = HourlyExport(harness, config={**HOURLY, "timezone": "+05:30"}).create()
    made.live(FULL)
    page.goto(f"{site}#/connectors/hourly/intervals")
    calendar = page.get_by_role("region", name="Time slots")
    expect(calendar).to_contain_text("Times are in +05:30, the schedule is in UTC.")
    start = (FULL - HOUR).timestamp() + 5.5 * 3600
    shown = f"{type(FULL).fromtimestamp(start, FULL.tzinfo):%H:%M} ✓"
    expect(calendar.locator(".slot").filter(has_text=shown).first).to_be_visible()


def test_earlier_weeks(page: Page, site: str, export: HourlyExport) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    expect(page.get_by_role("button", name="Later")).to_be_disabled()
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_role("rowheader", name=f"{FULL - 192 * HOUR:%Y-%m-%d}")).to_be_visible()
    page.get_by_role("button", name="Later").click()
    expect(slot(page, 1, "finished")).to_be_visible()


def test_other_sinks_have_no_calendar(page: Page, site: str, harness: Harness) -> None:
    HourlyExport(harness, config={**HOURLY, "interval.bound": "latest"}).create()
    page.goto(f"{site}#/connectors/hourly/intervals")
    expect(page.get_by_text("No interval yet")).to_be_visible()
    expect(page.get_by_role("region", name="Time slots")).to_have_count(0)
