"""Verifying a sink from its page: the result, the progress, and what goes wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.herder.exports import EXPORT, Export
from tests.herder.harness import Harness

pytestmark = pytest.mark.browser


@pytest.fixture
def export(harness: Harness, tmp_path: Path) -> Export:
    """A sink with three intervals."""
    made = Export(harness, tmp_path, EXPORT, name="hourly").create()
    for start in (0, 10, 20):
        made.run([{"n": start + number} for number in range(3)])
    return made


def test_a_recount_without_differences(page: Page, site: str, export: Export) -> None:
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".verification-result")).to_contain_text("Intervals 1 to 3, 9 rows: no difference.")
    expect(page.get_by_role("button", name="Verify")).to_be_enabled()
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()


def test_a_file_that_is_gone_is_named(page: Page, site: str, export: Export) -> None:
    place = export.files()[0]
    gone = next(path for path in export.folder.rglob("*") if path.is_file() and str(path).endswith(str(place)))
    gone.unlink()
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("alert")).to_contain_text("1 difference.")
    row = page.locator("table.differences tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("missing")
    expect(row).to_contain_text(gone.name)


def test_a_long_recount_takes_several_steps(page: Page, site: str, export: Export) -> None:
    """With no time at all a step recounts one interval; then the page gives it more."""
    asked: list[str] = []

    def hurry(route: Route) -> None:
        asked.append(route.request.url.partition("?")[2])
        route.continue_(url=route.request.url.replace("seconds=5", "seconds=0.000001"))

    page.route(re.compile(r"/verify\?"), hurry)
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".verification-result")).to_contain_text("Intervals 1 to 3: no difference.")
    expect(page.locator(".verification-result")).to_contain_text("It took several requests")
    assert asked == ["seconds=5", "to=3&seconds=5", "to=3&seconds=10"]


def test_a_recount_can_be_cancelled(page: Page, site: str, export: Export) -> None:
    page.route(re.compile(r"/verify\?"), lambda route: None)
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("button", name="Verify")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Verify")).to_be_enabled()
    expect(page.locator(".verification-result")).to_be_empty()


def test_a_refusal_is_shown(page: Page, site: str, export: Export) -> None:
    refused = {"error_code": 403, "message": "You may not edit hourly"}
    page.route(re.compile(r"/verify\?"), lambda route: route.fulfill(status=403, json=refused))
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("alert")).to_contain_text("You may not edit hourly")


def test_sources_have_no_such_button(page: Page, site: str, harness: Harness) -> None:
    harness.create("lines", {"connector.class": "FileStreamSource", "file": "x", "topic": "t"})
    page.goto(f"{site}#/connectors/lines/intervals")
    expect(page.get_by_text("No interval yet")).to_be_visible()
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)
