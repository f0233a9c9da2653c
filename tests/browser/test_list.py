"""The list of connectors over a seeded database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from connect_core.store import silences
from tests.browser.seed import seed
from tests.herder.harness import SINK, SOURCE, Harness

pytestmark = pytest.mark.browser

SECONDS_FOR_1000 = 15
"""Far more than it takes; a page that gets slow with every row needs minutes."""


def rows(page: Page) -> list[str]:
    names: list[str] = page.locator("table.list tbody tr").evaluate_all("rows => rows.map(row => row.dataset.name)")
    return names


def states(page: Page) -> list[str]:
    return page.locator("table.list tbody .pill").all_inner_texts()


def seeded(harness: Harness, number: int) -> list[str]:
    with harness.database.write() as connection:
        return seed(connection, number)


def test_empty_list_says_what_to_do(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.get_by_text("No connector yet")).to_be_visible()
    page.get_by_role("link", name="Create the first one").click()
    expect(page.get_by_role("heading", name="Sinks")).to_be_visible()


def test_thousand_connectors(page: Page, site: str, harness: Harness) -> None:
    names = seeded(harness, 1000)
    page.goto(site)
    table = page.locator("table.list[aria-busy=false]")
    expect(table.locator("tbody tr")).to_have_count(1000, timeout=SECONDS_FOR_1000 * 1000)
    assert sorted(rows(page)) == sorted(names)
    shown = states(page)
    assert shown == sorted(shown, key=["FAILED", "RUNNING", "PAUSED", "STOPPED"].index)
    failed = shown.count("FAILED")
    assert failed == 11
    counter = page.get_by_role("button", name="11 FAILED")
    counter.click()
    expect(table.locator("tbody tr")).to_have_count(failed)
    counter.click()
    page.get_by_role("searchbox").fill("eu payments")
    expect(page.get_by_text("42 of 1,000 connectors")).to_be_visible()
    assert {name.split("-")[1] for name in rows(page)} == {"payments"}


def test_filters_stand_in_the_address(page: Page, site: str, harness: Harness) -> None:
    seeded(harness, 60)
    page.goto(site)
    page.get_by_label("Type").select_option("source")
    page.get_by_label("Tag").select_option("us")
    expect(page).to_have_url(f"{site}#/?type=source&tag=us")
    expect(page.get_by_text("No connector fits these filters.")).to_be_visible()
    page.get_by_label("Tag").select_option("eu")
    expect(page.locator("table.list tbody tr").first).to_be_visible()
    before = rows(page)
    assert before
    page.reload()
    expect(page.locator("table.list tbody tr")).to_have_count(len(before))
    assert rows(page) == before


def test_columns_sort(page: Page, site: str, harness: Harness) -> None:
    names = seeded(harness, 30)
    page.goto(site)
    links = page.locator("table.list tbody tr").get_by_role("link")
    expect(links).to_have_count(len(names))
    page.get_by_role("button", name="Name").click()
    expect(links).to_have_text(sorted(names))
    page.get_by_role("button", name="Name").click()
    expect(links).to_have_text(sorted(names, reverse=True))


def test_acts_on_all_selected(page: Page, site: str, harness: Harness) -> None:
    harness.create("one", SOURCE)
    harness.create("two", SINK)
    harness.create("other", {**SINK, "file": "/tmp/c.txt"})
    page.goto(site)
    page.get_by_label("Select one").check()
    page.get_by_label("Select two").check()
    acts = page.get_by_role("group", name="Act on the selected")
    expect(acts.get_by_text("2 connectors selected")).to_be_visible()
    expect(acts.get_by_role("button", name="Restart failed")).to_be_disabled()
    acts.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused 2 connectors")).to_be_visible()
    expect(page.get_by_role("button", name="2 PAUSED")).to_be_visible()
    assert sorted(harness.scheduler.calls)[-2:] == [("pause", "one"), ("pause", "two")]


def test_failed_ones_restart_together(page: Page, site: str, harness: Harness) -> None:
    seeded(harness, 8)
    page.goto(site)
    page.get_by_label("Select all shown").check()
    page.get_by_role("button", name="Restart 1 failed").click()
    expect(page.get_by_text("Restarting 1 connector")).to_be_visible()
    assert harness.scheduler.calls == [("retry", "us-products-sink-0007")]


def test_list_says_that_airflow_does_not_answer(page: Page, site: str, harness: Harness) -> None:
    seeded(harness, 3)
    with harness.database.write() as connection:
        silences.note(connection, silences.Silence("watcher", datetime.now(UTC), "ReadTimeout"))
    page.goto(site)
    expect(page.get_by_text("Airflow has not responded since")).to_contain_text("watcher: ReadTimeout")
    with harness.database.write() as connection:
        silences.forget(connection, "watcher")
    expect(page.get_by_text("Airflow has not responded since")).to_be_hidden()
