"""A stalled connector on the page: first in the list, with its badge and the reason."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.herder.harness import Harness
from tests.rest.test_stalls import stalled

pytestmark = pytest.mark.browser


def test_list_has_the_stalled_one_first_with_the_reason(page: Page, site: str, harness: Harness) -> None:
    stalled(harness)
    page.goto(site)
    lines = page.locator("table.list tbody tr")
    expect(lines).to_have_count(2)
    expect(lines.first).to_have_attribute("data-name", "b-stalled")
    expect(lines.first.locator(".pill")).to_have_text("STALLED")
    expect(lines.first).to_contain_text("7 records wait since")
    expect(lines.last.locator(".pill")).to_have_text("RUNNING")


def test_connector_says_since_when_and_why(page: Page, site: str, harness: Harness) -> None:
    stalled(harness)
    page.goto(site)
    page.get_by_role("link", name="b-stalled").click()
    expect(page.locator(".connector-top .pill")).to_have_text("STALLED")
    expect(page.get_by_role("alert").filter(has_text="Stalled: work has been waiting since")).to_contain_text(
        "7 records wait"
    )
