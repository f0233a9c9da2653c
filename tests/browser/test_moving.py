"""Moving over from Kafka Connect with the page alone: report, import, switch here and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from connect_core.api.offsets import canonical
from connect_core.herder import lifecycle, offsets
from tests.browser.test_literal import HOSTILE, assert_inert
from tests.herder.harness import SINK, SOURCE, Harness
from tests.migration.fake_connect import FakeConnect, FakeConnector
from tests.migration.served_connect import ServedConnect, served_connect

pytestmark = pytest.mark.browser

PARTITION = canonical({"filename": "/tmp/a.txt"})
PASSWORD = "canary-of-the-page"


@pytest.fixture
def cluster() -> Iterator[ServedConnect]:
    there = FakeConnect(
        {
            "orders": FakeConnector(dict(SOURCE), "source", "RUNNING", {PARTITION: {"position": 10}}),
            "letters": FakeConnector({**SINK, "transforms.x.odd": "1"}, "sink", "PAUSED"),
            "alien": FakeConnector({"connector.class": "com.acme.Alien", "tasks.max": "1"}),
        }
    )
    with served_connect(there, f"mover:{PASSWORD}", is_required=True) as served:
        yield served


def read(page: Page, site: str, cluster: ServedConnect, password: str = PASSWORD) -> None:
    """Open the view from the list and let it read the cluster's connectors."""
    page.goto(site)
    page.get_by_role("link", name="Move from Kafka Connect").click()
    page.get_by_label("Address of its REST API").fill(cluster.url)
    page.get_by_label("User, if it requires a login").fill("mover")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Read its connectors").click()


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name="Connectors of the cluster").locator(f"tr[data-name='{name}']")


def test_report_tells_what_is_possible(page: Page, site: str, cluster: ServedConnect, harness: Harness) -> None:
    read(page, site, cluster)
    expect(page.get_by_text("3 of 3 connectors examined")).to_be_visible()
    expect(row(page, "orders")).to_contain_text("native")
    expect(row(page, "orders")).to_contain_text("RUNNING, 1 task")
    expect(row(page, "orders")).to_contain_text("exactly-once here")
    expect(row(page, "alien")).to_contain_text("there is no plugin com.acme.Alien here: put its jars into a folder")
    expect(page.get_by_label("Select alien")).to_be_disabled()
    row(page, "letters").get_by_text("1 missing").click()
    expect(row(page, "letters")).to_contain_text("transforms.x.odd: no plugin here has this setting")
    page.get_by_label("Select letters").uncheck()
    page.get_by_role("button", name="Import 1 connector").click()
    expect(page.get_by_text("1 of 1 connector imported")).to_be_visible()
    expect(row(page, "orders").get_by_role("link", name="created")).to_be_visible()
    expect(row(page, "orders")).to_contain_text("1 offset")
    assert offsets.get(harness.herder, "orders")[0]["offset"] == {"position": 10}
    assert {call.split()[0] for call in cluster.there.calls} == {"GET"}


def test_a_refused_login_is_one_sentence(page: Page, site: str, cluster: ServedConnect) -> None:
    read(page, site, cluster, "wrong")
    problem = page.get_by_role("alert").filter(has_text="401")
    expect(problem).to_contain_text("Use a login with this permission")
    expect(problem).not_to_contain_text("wrong")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_text("3 of 3 connectors examined")).to_be_visible()
    expect(problem).to_be_hidden()


def steps(page: Page) -> Locator:
    return page.get_by_role("list", name="Steps of the switch").get_by_role("listitem")


def press(page: Page, title: str) -> Locator:
    """Press a button of the switch and return its question."""
    page.get_by_role("button", name=f"{title}…").click()
    return page.get_by_role("dialog", name=re.compile(title))


def test_switch_here_and_back(page: Page, site: str, cluster: ServedConnect, harness: Harness) -> None:
    read(page, site, cluster)
    page.get_by_role("button", name="Import 2 connectors").click()
    row(page, "orders").get_by_role("link", name="created").click()
    expect(page.get_by_text(f"It is still at {cluster.url}")).to_be_visible()
    expect(page.get_by_role("button", name="Switch back…")).to_be_hidden()
    cluster.there.connectors["orders"].ending = 10**9
    question = press(page, "Switch here")
    expect(question).to_contain_text("can be switched back at any time")
    # What the cluster has accepted is remembered until the page is left.
    expect(question.get_by_label("Password")).to_have_value(PASSWORD)
    question.get_by_role("button", name="Switch here").click()
    expect(page.get_by_text("Waiting for its tasks there to end (1 task there)…")).to_be_visible()
    expect(steps(page).locator("xpath=self::*[@data-step='now']")).to_contain_text("stopped there")
    cluster.there.connectors["orders"].ending = 0
    expect(page.get_by_text(f"It was moved here from {cluster.url}")).to_be_visible()
    expect(steps(page).locator("xpath=self::*[@data-step='done']")).to_have_count(5)
    assert cluster.there.connectors["orders"].state == "STOPPED"
    lifecycle.stop(harness.herder, "orders")
    offsets.alter(harness.herder, "orders", [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 44}}])
    lifecycle.resume(harness.herder, "orders")
    press(page, "Switch back").get_by_role("button", name="Switch back").click()
    expect(page.get_by_text(f"It is still at {cluster.url}")).to_be_visible()
    assert cluster.there.connectors["orders"].offsets == {PARTITION: {"position": 44}}
    assert cluster.there.connectors["orders"].state == "RUNNING"
    kept = "() => JSON.stringify([{...localStorage}, {...sessionStorage}, location.href, document.cookie])"
    assert PASSWORD not in page.evaluate(kept)


def test_a_switch_that_stops_half_way_is_gone_on_with(
    page: Page, site: str, cluster: ServedConnect, harness: Harness
) -> None:
    read(page, site, cluster)
    page.get_by_role("button", name="Import 2 connectors").click()
    row(page, "orders").get_by_role("link", name="created").click()
    cluster.there.connectors["orders"].offsets[PARTITION] = {"position": -5}
    press(page, "Switch here").get_by_role("button", name="Switch here").click()
    problem = page.get_by_role("alert").filter(has_text="non-negative")
    expect(problem).to_contain_text("press the same button to continue, or the other one to undo it")
    cluster.there.connectors["orders"].offsets[PARTITION] = {"position": 5}
    # Somebody else finds it so, without a login.
    page.reload()
    expect(page.get_by_text("has started and is not finished: the newest offsets are there")).to_be_visible()
    question = press(page, "Switch here")
    question.get_by_label("User, if it requires a login").fill("mover")
    question.get_by_label("Password").fill(PASSWORD)
    question.get_by_role("button", name="Switch here").click()
    expect(page.get_by_text(f"It was moved here from {cluster.url}")).to_be_visible()
    assert offsets.get(harness.herder, "orders")[0]["offset"] == {"position": 5}


def test_a_connector_that_was_changed_there_is_refused_with_its_remedy_alone(
    page: Page, site: str, cluster: ServedConnect
) -> None:
    read(page, site, cluster)
    page.get_by_role("button", name="Import 2 connectors").click()
    row(page, "orders").get_by_role("link", name="created").click()
    expect(page.get_by_text(f"It is still at {cluster.url}")).to_be_visible()
    cluster.there.connectors["orders"].config["tasks.max"] = "7"
    press(page, "Switch here").get_by_role("button", name="Switch here").click()
    problem = page.get_by_role("alert").filter(has_text="was changed at")
    expect(problem).to_contain_text("tasks.max")
    expect(problem).not_to_contain_text("press the same button")


def test_settings_that_differ_are_named_on_the_way_back(page: Page, site: str, cluster: ServedConnect) -> None:
    read(page, site, cluster)
    page.get_by_role("button", name="Import 2 connectors").click()
    row(page, "orders").get_by_role("link", name="created").click()
    press(page, "Switch here").get_by_role("button", name="Switch here").click()
    expect(page.get_by_text(f"It was moved here from {cluster.url}")).to_be_visible()
    cluster.there.connectors["orders"].config["tasks.max"] = "7"
    press(page, "Switch back").get_by_role("button", name="Switch back").click()
    expect(page.get_by_text("It runs with the values it has there of tasks.max.")).to_be_visible()


def test_one_that_was_created_here_has_no_such_section(page: Page, site: str, harness: Harness) -> None:
    harness.create("a")
    page.goto(f"{site}#/connectors/a")
    expect(page.get_by_text("Audit log")).to_be_visible()
    expect(page.get_by_role("heading", name="Moved from Kafka Connect")).to_be_hidden()


def test_report_is_literal(page: Page, site: str) -> None:
    hostile = {**SINK, "topics": HOSTILE, "unknown": HOSTILE, HOSTILE: "1", "value.converter": HOSTILE}
    there = FakeConnect({HOSTILE: FakeConnector({**hostile, "connector.class": HOSTILE}, state=HOSTILE)})
    there.connectors["known"] = FakeConnector(hostile, state=HOSTILE)
    with served_connect(there, f"mover:{PASSWORD}") as cluster:
        read(page, site, cluster)
        expect(page.get_by_text("2 of 2 connectors examined")).to_be_visible()
        for summary in page.locator("summary").all():
            summary.click()
        assert_inert(page)
