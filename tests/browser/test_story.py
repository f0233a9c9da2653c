"""The life of connectors as somebody sees it who has only the page: `connect standalone`, Kafka, Chromium."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.worker import Worker
from tests.integration.topics import Topics

pytestmark = pytest.mark.browser

TIMEOUT_MS = 180_000
"""The first interval of a worker starts Spark."""


def fresh(word: str) -> str:
    return f"{word}-{uuid.uuid4().hex[:6]}"


def create(worker: Worker, name: str, config: dict[str, str]) -> None:
    answer = httpx.post(f"{worker.api}/connectors", json={"name": name, "config": config}, timeout=60)
    assert answer.status_code == 201, answer.text


def write(page: Page, key: str, text: str) -> None:
    page.locator(f".field[data-key='{key}'] input").fill(text)


def state(page: Page) -> Locator:
    return page.locator(".connector-top .pill")


def committed(page: Page, sequence: int, records: int) -> None:
    """Wait until an interval has moved so many records."""
    line = page.locator(f"tbody[data-sequence='{sequence}']")
    expect(line).to_contain_text("COMMITTED", timeout=TIMEOUT_MS)
    expect(line.locator("td[data-label=Records]")).to_have_text(str(records))


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_create_by_form_run_and_break(page: Page, standalone: Worker, topics: Topics) -> None:
    name, topic = fresh("lines"), topics.create(1)
    file = standalone.folder / f"{name}.txt"
    file.write_text("one\ntwo\nthree\n")
    page.goto(standalone.page)
    page.get_by_role("link", name="New connector").click()
    page.get_by_role("link", name="FileStreamSource").click()
    write(page, "name", name)
    write(page, "topic", topic)
    write(page, "file", "/etc/passwd")
    at_file = page.locator(".field[data-key='file'] .field-errors")
    expect(at_file).to_contain_text("file.roots")
    write(page, "file", str(file))
    expect(page.get_by_text("No error found")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(state(page)).to_have_text("RUNNING", timeout=TIMEOUT_MS)
    page.get_by_role("link", name="Intervals").click()
    committed(page, 1, 3)
    assert topics.read(topic, 3) == [b"one", b"two", b"three"]
    page.get_by_role("link", name="Config", exact=True).click()
    write(page, "topic", "")
    expect(page.locator(".field[data-key='topic'] .field-errors")).to_contain_text("topic")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast-bad")).to_contain_text("topic")
    expect(state(page)).to_have_text("RUNNING")


def test_failed_task_trace_and_restart(page: Page, standalone: Worker, topics: Topics) -> None:
    name, topic = fresh("broken"), topics.create(1)
    topics.write(topic, [b'"good"', b"not json", b'"fine"'], 1)
    file = standalone.folder / f"{name}.txt"
    converter = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    config = {"connector.class": "FileStreamSink", "topics": topic, "file": str(file), **converter}
    create(standalone, name, {**config, "value.converter.schemas.enable": "false"})
    page.goto(f"{standalone.page}#/connectors/{name}/tasks")
    task = page.locator("[data-task='0']")
    expect(task.locator(".pill")).to_have_text("FAILED", timeout=TIMEOUT_MS)
    task.locator(".trace summary").click()
    expect(task.locator(".trace pre")).to_contain_text("DataError")
    page.get_by_role("link", name="Config", exact=True).click()
    page.get_by_label("Show every setting").check()
    write(page, "errors.tolerance", "all")
    expect(page.get_by_text("No error found")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_role("link", name="Tasks").click()
    page.get_by_role("button", name="Restart", exact=True).first.click()
    expect(state(page)).to_have_text("RUNNING", timeout=TIMEOUT_MS)
    page.get_by_role("link", name="Errors").click()
    expect(page.get_by_text("1 record skipped.")).to_be_visible(timeout=TIMEOUT_MS)
    assert lines(file) == ["good", "fine"]


def test_rewind_reads_what_was_previewed(page: Page, standalone: Worker, topics: Topics) -> None:
    name, topic = fresh("again"), topics.create(1)
    file = standalone.folder / f"{name}.txt"
    topics.write(topic, [b"a", b"b"], 1)
    create(standalone, name, {"connector.class": "FileStreamSink", "topics": topic, "file": str(file)})
    page.goto(f"{standalone.page}#/connectors/{name}/intervals")
    committed(page, 1, 2)
    topics.write(topic, [b"c", b"d", b"e"], 1)
    committed(page, 2, 3)
    page.get_by_role("link", name="Offsets").click()
    expect(page.get_by_text('{"kafka_offset":5}')).to_be_visible()
    page.get_by_role("button", name="Stop it").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(state(page)).to_have_text("STOPPED")
    page.get_by_role("button", name="Rewind to an interval").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("listbox").select_option("2")
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.locator(".effect")).to_have_text("3 records will be read again, those of interval #2.")
    dialog.get_by_role("button", name="Rewind").click()
    expect(page.get_by_text('{"kafka_offset":2}').first).to_be_visible(timeout=TIMEOUT_MS)
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("link", name="Intervals").click()
    committed(page, 3, 3)
    assert lines(file) == ["a", "b", "c", "d", "e", "c", "d", "e"]
    remove(page, standalone, name)


def remove(page: Page, standalone: Worker, name: str) -> None:
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Delete its offsets").check()
    dialog.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile(r"#/$"), timeout=TIMEOUT_MS)
    assert name not in httpx.get(f"{standalone.api}/connectors", timeout=30).json()
