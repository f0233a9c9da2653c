"""The form made of a plugin's definitions, checked while one types."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from connect_core.herder import connectors
from tests.herder.harness import SINK, Harness

pytestmark = pytest.mark.browser


def field(page: Page, key: str) -> Locator:
    return page.locator(f".field[data-key='{key}']")


def write(page: Page, key: str, text: str) -> None:
    field(page, key).locator("input").fill(text)


def errors(page: Page, key: str) -> Locator:
    return field(page, key).locator(".field-errors")


def test_new_source_by_the_form(page: Page, site: str, harness: Harness, tmp_path: Path) -> None:
    page.goto(f"{site}#/new")
    page.get_by_role("link", name="FileStreamSource").click()
    expect(errors(page, "topic")).to_contain_text("topic")
    expect(page.get_by_role("group", name="How to edit")).to_be_visible()
    write(page, "name", "lines")
    write(page, "topic", "lines")
    write(page, "file", str(tmp_path / "in.txt"))
    write(page, "tasks.max", "many")
    expect(errors(page, "tasks.max")).to_contain_text("many")
    expect(errors(page, "topic")).to_be_empty()
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".toast-bad")).to_contain_text("tasks.max")
    assert connectors.list_names(harness.herder) == []
    write(page, "tasks.max", "1")
    expect(page.get_by_text("No error found")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="lines")).to_be_visible()
    assert connectors.get_config(harness.herder, "lines")["file"] == str(tmp_path / "in.txt")


def test_transform_gets_its_settings(page: Page, site: str) -> None:
    page.goto(f"{site}#/new/FileSystemSinkConnector")
    expect(errors(page, "path")).not_to_be_empty()
    page.get_by_label("Find a setting").fill("transforms")
    write(page, "transforms", "Hoist")
    page.get_by_label("Find a setting").fill("")
    expect(errors(page, "transforms.Hoist.type")).not_to_be_empty()
    offered = field(page, "transforms.Hoist.type").locator("datalist option")
    name = "org.apache.kafka.connect.transforms.HoistField$Value"
    assert name in offered.evaluate_all("options => options.map(option => option.value)")
    write(page, "transforms.Hoist.type", name)
    expect(errors(page, "transforms.Hoist.field")).not_to_be_empty()
    write(page, "transforms.Hoist.field", "line")
    expect(errors(page, "transforms.Hoist.field")).to_be_empty()
    page.get_by_role("button", name="JSON").click()
    written = page.get_by_label("Configuration as JSON").input_value()
    assert '"transforms.Hoist.field": "line"' in written


def test_change_is_shown_and_kept(page: Page, site: str, harness: Harness) -> None:
    harness.create("a", SINK)
    page.goto(f"{site}#/connectors/a/config")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    write(page, "tasks.max", "3")
    page.get_by_text("1 change").click()
    expect(page.locator(".save-changes .minus")).to_have_text("- 1")
    expect(page.locator(".save-changes .plus")).to_have_text("+ 3")
    save.click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert connectors.get_config(harness.herder, "a")["tasks.max"] == "3"
    page.get_by_text("History").click()
    newest = page.locator(".history article").first
    expect(newest).to_contain_text("Version 2")
    expect(newest.locator(".plus")).to_have_text("+ 3")


def test_json_is_the_same_configuration(page: Page, site: str, harness: Harness) -> None:
    harness.create("a", SINK)
    page.goto(f"{site}#/connectors/a/config")
    expect(field(page, "tasks.max")).to_be_visible()
    page.get_by_role("button", name="JSON").click()
    text = page.get_by_label("Configuration as JSON")
    text.fill(text.input_value().replace('"tasks.max": "1"', '"tasks.max": 0'))
    expect(page.get_by_text("1 error: tasks.max")).to_be_visible()
    page.get_by_role("button", name="tasks.max").click()
    expect(errors(page, "tasks.max")).to_contain_text("0")
    expect(field(page, "tasks.max").locator("input")).to_be_focused()
    page.get_by_role("button", name="JSON").click()
    text.fill("{")
    expect(page.get_by_text("This is not JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
