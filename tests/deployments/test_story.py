"""The life of a connector as somebody sees it who has only the page: through Airflow, in its frame and alone."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Locator, Page, expect

from connect_core.dag.naming import dag_id_of
from tests.deployments.stack import Deployments
from tests.integration.topics import Topics

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.timeout(600)]

Screen = Page | FrameLocator
TIMEOUT_MS = 120_000
"""Airflow starts a task within seconds, on a busy machine within many."""


@pytest.fixture
def signed_in(context: BrowserContext, page: Page, deployments: Deployments) -> Page:
    context.add_cookies([{"name": "_token", "value": deployments.token, "url": deployments.airflow}])
    return page


@pytest.fixture(scope="module")
def topics(deployments: Deployments) -> Topics:
    return Topics(deployments.stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])


def frame_of(page: Page, title: str) -> FrameLocator:
    return page.frame_locator(f"iframe[title='{title}']")


def write(screen: Screen, key: str, text: str) -> None:
    screen.locator(f".field[data-key='{key}'] input").fill(text)


def state(screen: Screen) -> Locator:
    return screen.locator(".connector-top .pill")


def open_tab(screen: Screen, name: str) -> None:
    screen.get_by_role("link", name=name, exact=True).click()


def committed(screen: Screen, sequence: int, records: int) -> None:
    """Wait until an interval has moved so many records."""
    line = screen.locator(f"tbody[data-sequence='{sequence}']")
    expect(line).to_contain_text("COMMITTED", timeout=TIMEOUT_MS)
    expect(line.locator("td[data-label=Records]")).to_have_text(re.compile(rf"^{records}\b"))


def create_by_form(screen: Screen, name: str, topic: str, file: Path) -> None:
    screen.get_by_role("link", name="New connector").click(timeout=TIMEOUT_MS)
    screen.get_by_role("link", name="FileStreamSink").click()
    for key, text in {"name": name, "topics": topic, "file": "/etc/passwd"}.items():
        write(screen, key, text)
    expect(screen.locator(".field[data-key='file'] .field-errors")).to_contain_text("file.roots")
    write(screen, "file", str(file))
    expect(screen.get_by_text("No error found")).to_be_visible()
    screen.get_by_role("button", name="Create").click()
    expect(state(screen)).to_have_text("RUNNING", timeout=TIMEOUT_MS)


def break_config(screen: Screen, file: Path) -> None:
    """See the error at the key; nothing is stored."""
    open_tab(screen, "Config")
    write(screen, "file", "/etc/passwd")
    expect(screen.locator(".field[data-key='file'] .field-errors")).to_contain_text("file.roots")
    screen.get_by_role("button", name="Save").click()
    expect(screen.locator(".toast-bad")).to_contain_text("file.roots")
    write(screen, "file", str(file))
    expect(screen.get_by_text("No error found")).to_be_visible()


def fail_read_trace_and_restart(screen: Screen, topics: Topics, topic: str) -> None:
    """Send what is not JSON, read why the task failed, tolerate it, restart."""
    topics.write(topic, [b"not json", b'"e"'], 1)
    open_tab(screen, "Tasks")
    task = screen.locator("[data-task='0']")
    expect(task.locator(".pill")).to_have_text("FAILED", timeout=TIMEOUT_MS)
    task.locator(".trace summary").click()
    expect(task.locator(".trace pre")).to_contain_text("DataError")
    open_tab(screen, "Config")
    screen.get_by_label("Show every setting").check()
    write(screen, "errors.tolerance", "all")
    expect(screen.get_by_text("No error found")).to_be_visible()
    screen.get_by_role("button", name="Save").click()
    expect(screen.get_by_text("Saved.")).to_be_visible()
    open_tab(screen, "Tasks")
    screen.get_by_role("button", name="Restart", exact=True).first.click()
    expect(state(screen)).to_have_text("RUNNING", timeout=TIMEOUT_MS)
    open_tab(screen, "Errors")
    expect(screen.get_by_text("1 record skipped.")).to_be_visible(timeout=TIMEOUT_MS)


def stop_and_rewind(screen: Screen, to: str, effect: str) -> None:
    open_tab(screen, "Offsets")
    screen.get_by_role("button", name="Stop it").click()
    screen.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(state(screen)).to_have_text("STOPPED", timeout=TIMEOUT_MS)
    screen.get_by_role("button", name="Rewind to an interval").click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_role("listbox").select_option(to)
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.locator(".effect")).to_have_text(effect)
    dialog.get_by_role("button", name="Rewind").click()
    expect(screen.get_by_text('{"kafka_offset":2}').first).to_be_visible(timeout=TIMEOUT_MS)


def delete(screen: Screen) -> None:
    screen.get_by_role("button", name="Delete").click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_label("Delete its offsets").check()
    dialog.get_by_role("button", name="Delete").click()


def begin(screen: Screen, name: str, topics: Topics, topic: str, file: Path) -> None:
    """Create the connector, see it move what there is, twice, and break its configuration."""
    topics.write(topic, [b'"a"', b'"b"'], 1)
    create_by_form(screen, name, topic, file)
    open_tab(screen, "Intervals")
    committed(screen, 1, 2)
    topics.write(topic, [b'"c"', b'"d"'], 1)
    committed(screen, 2, 2)
    break_config(screen, file)


def pause_in_airflow(page: Page, deployments: Deployments, name: str) -> None:
    """Follow the link out of the frame; see beside the DAG what its switch does."""
    inside = frame_of(page, "Connect")
    open_tab(inside, "Intervals")
    inside.get_by_role("link", name="Run and log").first.click()
    expect(page).to_have_url(re.compile(rf"/dags/{re.escape(dag_id_of(name))}/runs/"))
    page.goto(f"{deployments.airflow}/dags/{dag_id_of(name)}/plugin/connector")
    beside = frame_of(page, "Connector")
    expect(beside.get_by_role("heading", name=name, exact=True)).to_be_visible(timeout=TIMEOUT_MS)
    expect(state(beside)).to_have_text("RUNNING")
    deployments.set_paused(name, is_paused=True)
    expect(state(beside)).to_have_text("PAUSED", timeout=TIMEOUT_MS)
    deployments.set_paused(name, is_paused=False)
    expect(state(beside)).to_have_text("RUNNING", timeout=TIMEOUT_MS)


def end(screen: Screen, topics: Topics, topic: str, file: Path) -> None:
    """Let a task fail and restart it, read again what the preview says, delete."""
    fail_read_trace_and_restart(screen, topics, topic)
    assert file.read_text().split() == ["a", "b", "c", "d", "e"]
    stop_and_rewind(screen, "2", "4 records will be read again, those of intervals #2 to #3.")
    screen.get_by_role("button", name="Resume").click()
    open_tab(screen, "Intervals")
    committed(screen, 4, 4)
    assert file.read_text().split() == ["a", "b", "c", "d", "e", "c", "d", "e"]
    delete(screen)
    expect(screen.get_by_role("link", name="New connector")).to_be_visible(timeout=TIMEOUT_MS)


# The page by itself is that of tests/browser/test_story.py, over `connect standalone`.
_ALONE = pytest.param(False, marks=pytest.mark.matrix, id="alone")


@pytest.mark.parametrize("is_framed", [pytest.param(True, id="in-the-frame"), _ALONE])
def test_life(signed_in: Page, deployments: Deployments, topics: Topics, is_framed: bool) -> None:
    page, topic, file = signed_in, topics.create(1), deployments.folder / f"{uuid.uuid4().hex[:6]}.txt"
    name = "framed <b>" if is_framed else "alone {{7*7}}"
    page.goto(f"{deployments.airflow}/plugin/connectors" if is_framed else f"{deployments.rest}/ui/")
    screen = frame_of(page, "Connect") if is_framed else page
    begin(screen, name, topics, topic, file)
    if is_framed:
        pause_in_airflow(page, deployments, name)
        page.goto(f"{deployments.airflow}/plugin/connectors")
        screen.get_by_role("link", name=name, exact=True).click(timeout=TIMEOUT_MS)
    end(screen, topics, topic, file)
    assert name not in httpx.get(f"{deployments.rest}/connectors", timeout=60).json()
