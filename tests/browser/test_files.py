"""The files of an export, as its intervals show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.herder.exports import EXPORT, Export
from tests.herder.harness import Harness

pytestmark = pytest.mark.browser


def test_an_interval_shows_the_files_it_wrote(page: Page, site: str, harness: Harness, tmp_path: Path) -> None:
    export = Export(harness, tmp_path, {**EXPORT, "flush.size": "2"}, name="hourly").create()
    export.run([{"n": number} for number in range(3)])
    export.run([{"n": 9}], is_marked=False)
    page.goto(f"{site}#/connectors/hourly/intervals")
    page.locator("[data-sequence='1']").get_by_role("button", name="1 task").click()
    page.get_by_role("button", name="Files").click()
    table = page.locator("table.files")
    expect(table.locator("caption")).to_contain_text("2 files, 3 records")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(2)
    for row, place, count in zip(rows.all(), export.files(), (2, 1), strict=True):
        expect(row).to_contain_text(str(place))
        expect(row.locator("[data-label=Records]")).to_have_text(str(count))
    page.locator("[data-sequence='2']").get_by_role("button", name="1 task").click()
    page.locator("[data-sequence='2']").get_by_role("button", name="Files").click()
    expect(page.locator("[data-sequence='2']")).to_contain_text("The target keeps no list of files of this interval.")
