"""What users and systems write stays text: nothing of it runs, wherever the page shows it."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from connect_core.interval.values import SkippedRecords, TaskError, TaskOutcome, TaskResult
from tests.herder.harness import SINK, Harness

pytestmark = pytest.mark.browser

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(2)</script>"
TEMPLATE = "{{7*7}}${7*7}"
HOSTILE = f"{IMAGE}{SCRIPT}{TEMPLATE}\"'`"
NAME = f"{IMAGE}{TEMPLATE.replace('*', '-')}"
TABS = ("overview", "intervals", "tasks", "offsets", "config", "errors")


@pytest.fixture
def hostile(harness: Harness) -> str:
    """A connector that carries markup wherever it may, and has failed."""
    config = {
        **SINK,
        "file": f"/tmp/{HOSTILE}",
        "topics": "lines",
        "tags": HOSTILE,
        "unknown": HOSTILE,
        "errors.deadletterqueue.topic.name": "letters",
    }
    harness.create(NAME, config)
    driver = harness.driver(NAME)
    driver.commit(driver.begin(), [TaskResult(0, TaskOutcome.DONE, skipped=(skipped(),))])
    error = TaskError(HOSTILE, HOSTILE, f"Traceback: {HOSTILE}\n  at {HOSTILE}", is_retriable=False)
    driver.fail(driver.begin(), [TaskResult(0, TaskOutcome.FAILED, error=error)])
    return NAME


def skipped() -> SkippedRecords:
    return SkippedRecords("VALUE_CONVERTER", HOSTILE, HOSTILE, 1, {"topic": HOSTILE, "partition": 0, "offset": 1})


def assert_inert(page: Page) -> None:
    """No element has come from a text; the `page` fixture sees alerts and errors."""
    made = "img:not(.brand img), script:not([src='app.js']), [onerror]"
    assert page.locator(made).count() == 0


def test_list_is_literal(page: Page, site: str, hostile: str) -> None:
    page.goto(site)
    row = page.locator("table.list tbody tr")
    expect(row.get_by_role("link", name=hostile, exact=True)).to_be_visible()
    expect(row.locator(".tag").first).to_contain_text("<img src=x")
    expect(row.locator(".error")).to_contain_text(SCRIPT)
    assert_inert(page)


@pytest.mark.parametrize("tab", TABS)
def test_tab_is_literal(page: Page, site: str, hostile: str, tab: str) -> None:
    page.goto(f"{site}#/connectors/{quote(hostile, safe='')}/{tab}")
    expect(page.get_by_role("heading", name=hostile, exact=True)).to_be_visible()
    shown = page.locator(".tab-body")
    expect(shown).not_to_be_empty()
    if tab == "intervals":
        expect(page.locator(".unfold")).to_have_count(2)
    for unfold in page.locator(".unfold").all():
        unfold.click()
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    if tab == "config":
        page.get_by_role("button", name="JSON").click()
        expect(page.get_by_label("Configuration as JSON")).to_have_value(
            re.compile(re.escape(json.dumps(HOSTILE)[1:-1]))
        )
    elif tab != "offsets":
        expect(shown).to_contain_text(SCRIPT)
    assert_inert(page)


def test_api_messages_are_literal(page: Page, site: str) -> None:
    page.goto(f"{site}#/connectors/{quote(HOSTILE.replace('/', ''), safe='')}")
    expect(page.get_by_role("alert")).to_contain_text("<script>")
    assert_inert(page)


def test_inline_script_is_refused(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    answer = page.goto(site)
    assert answer is not None
    assert "unsafe" not in answer.headers["content-security-policy"]
    script = "Object.assign(document.createElement('script'), {textContent: 'ran = 1'})"
    page.evaluate(f"document.body.append({script})")
    assert page.evaluate("window.ran") is None
