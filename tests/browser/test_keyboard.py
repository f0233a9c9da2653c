"""Everything works without a mouse, and shows where the keyboard is."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import TIMEOUT_MS
from tests.herder.harness import SOURCE, Harness

pytestmark = pytest.mark.browser

MANY = 60


def focused(page: Page) -> str:
    """The name of what has the focus."""
    name: str = page.evaluate(
        "() => { const e = document.activeElement; "
        "return e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || e.tagName }"
    )
    return name.strip()


def expect_focus(page: Page, name: str) -> None:
    """Wait until what has this name has the focus."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while focused(page) != name and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert focused(page) == name


def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of this name has the focus, which can be seen."""
    passed = []
    for _ in range(MANY):
        page.keyboard.press("Tab")
        passed.append(focused(page))
        if passed[-1] == name:
            outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
            return
    raise AssertionError(f"no way to {name!r} but through {passed}")


def test_walk_from_list_to_pause(page: Page, site: str, harness: Harness) -> None:
    harness.create("a", SOURCE)
    harness.driver("a").plan()
    page.goto(site)
    expect(page.get_by_role("link", name="a", exact=True)).to_be_visible()
    page.keyboard.press("/")
    expect_focus(page, "Search connectors")
    page.keyboard.type("a")
    tab_to(page, "a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="a", exact=True)).to_be_visible()
    tab_to(page, "Pause")
    page.keyboard.press("Enter")
    expect(page.locator(".connector-top .pill")).to_have_text("PAUSED")
    tab_to(page, "Offsets")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Offsets can be changed while the connector is stopped.")).to_be_visible()


@pytest.mark.parametrize("is_blurred", [False, True], ids=["at once", "after Tab"])
def test_typing_does_not_call_one_back_to_the_list(page: Page, site: str, harness: Harness, is_blurred: bool) -> None:
    harness.create("a", SOURCE)
    page.goto(site)
    expect(page.get_by_role("link", name="a", exact=True)).to_be_visible()
    search = page.get_by_role("searchbox")
    search.press("a")
    if is_blurred:
        search.press("Tab")
        assert page.evaluate("location.hash") == "#/?q=a"
    page.evaluate("() => { location.hash = '#/connectors/a' }")
    expect(page.get_by_role("heading", name="a", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("location.hash") == "#/connectors/a"


def test_question_takes_and_returns_the_focus(page: Page, site: str, harness: Harness) -> None:
    harness.create("a", SOURCE)
    page.goto(f"{site}#/connectors/a")
    expect(page.locator(".connector-top .pill")).to_have_text("UNASSIGNED")
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("no topic, file or table is touched")
    expect_focus(page, "Cancel")
    page.keyboard.press("Escape")
    # Gone, not only closed: until then the page is busy with the answer.
    expect(page.locator("dialog")).to_have_count(0)
    expect_focus(page, "Delete")
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No connector yet")).to_be_visible()
    assert harness.scheduler.calls[-1] == ("remove", "a")


def test_row_is_selected_by_space(page: Page, site: str, harness: Harness) -> None:
    harness.create("a", SOURCE)
    page.goto(site)
    expect(page.get_by_role("link", name="a", exact=True)).to_be_visible()
    tab_to(page, "Select a")
    page.keyboard.press("Space")
    expect(page.get_by_text("1 connector selected")).to_be_visible()
    tab_to(page, "Resume")


def test_skip_link_leads_to_the_content(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.get_by_role("heading", name="Connectors")).to_be_visible()
    page.keyboard.press("Tab")
    expect_focus(page, "Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
