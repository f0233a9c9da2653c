"""The page says what a connector's guarantee takes: in the list, beside the name, and in the overview."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.herder.harness import Harness
from tests.herder.test_guarantee_channels import CONDITIONS, MARIADB

pytestmark = pytest.mark.browser


def test_page_says_what_the_guarantee_takes(page: Page, site: str, harness: Harness) -> None:
    harness.create("shop", {**MARIADB, "mode": "incrementing"})
    page.goto(site)
    expect(page.locator(".list td.guarantee span")).to_have_attribute("title", _with(CONDITIONS["incrementing"]))
    page.get_by_role("link", name="shop", exact=True).click()
    expect(page.locator(".tab-body")).to_contain_text(f"exactly-once, {_with(CONDITIONS['incrementing'])}")
    expect(page.get_by_text("exactly-once", exact=True)).to_have_attribute("title", _with(CONDITIONS["incrementing"]))


def _with(end: str) -> str:
    return f"if a row commits within 60 s (late.window.ms) of one of a higher number, and {end}"
