"""The overview shows which schemas the registry has of the topics, with a way to it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.herder.harness import SINK, Harness
from tests.schema_registry.fault_server import fault_server, schema

pytestmark = pytest.mark.browser


def test_overview_shows_the_schemas_of_topics(page: Page, site: str, harness: Harness) -> None:
    with fault_server() as registry:
        registry.answers["/subjects/lines-value/versions/latest"] = [schema(id=8, version=3)]
        avro = {
            "value.converter": "io.confluent.connect.avro.AvroConverter",
            "value.converter.schema.registry.url": registry.url,
        }
        harness.create("copy", {**SINK, **avro, "topics": "lines,new"})
        page.goto(f"{site}#/connectors/copy")
        table = page.locator("table.schemas")
        expect(table.locator("tbody tr").nth(0)).to_have_text("linesvaluelines-value83AVRO")
        expect(table.locator("tbody tr").nth(1)).to_have_text("newvaluenew-valuenot registered yet")
        link = table.get_by_role("link", name="lines-value")
        expect(link).to_have_attribute("href", f"{registry.url}/subjects/lines-value/versions/latest")


def test_without_a_registry_nothing_is_shown(page: Page, site: str, harness: Harness) -> None:
    harness.create("copy", SINK)
    with page.expect_response(lambda one: one.url.endswith("/schemas")) as answer:
        page.goto(f"{site}#/connectors/copy")
    assert answer.value.json() == {"schemas": [], "reason": None}
    expect(page.get_by_role("heading", name="Schemas")).to_have_count(0)
