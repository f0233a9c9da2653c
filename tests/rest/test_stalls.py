"""A stalled connector as /v1, the metrics and the commands show it."""

from __future__ import annotations

import io

from pydantic import TypeAdapter
from rich.console import Console

from connect_core.cli.tables import list_table, print_status
from connect_core.herder.overview import ConnectorOverview, ConnectorSummaryList
from connect_core.herder.status import list_statuses
from tests.herder.harness import SINK, Harness
from tests.herder.test_observer import Scene, Topics
from tests.rest.conftest import Client


def stalled(harness: Harness) -> Scene:
    """A sink planned and idle, one whose records have waited for 61 s, and one that never was planned."""
    for name in ("a-fine", "b-stalled"):
        harness.create(name, {**SINK, "topics": "lines" if name == "b-stalled" else "other"})
        driver = harness.driver(name)
        driver.commit(driver.begin())
    scene = Scene(harness, Topics(end=7))
    scene.look()
    scene.age(61)
    return scene


def test_list_and_overview_have_the_reason(harness: Harness, call: Client) -> None:
    stalled(harness)
    answer = call("GET", "/v1/connectors").json
    TypeAdapter(ConnectorSummaryList).validate_python(answer)
    found = {one["name"]: one for one in answer["connectors"]}
    assert found["a-fine"]["is_stalled"] is False
    assert found["a-fine"]["stalled_reason"] is None
    line = found["b-stalled"]
    assert (line["is_stalled"], line["stalled_cause"], line["state"]) == (True, "unknown", "RUNNING")
    assert "7 records wait since" in line["stalled_reason"]
    overview = call("GET", "/v1/connectors/b-stalled").json
    TypeAdapter(ConnectorOverview).validate_python(overview)
    assert overview["stalled_since"] == line["stalled_since"]


def test_connects_own_status_keeps_its_form(harness: Harness, call: Client) -> None:
    stalled(harness)
    assert list(call("GET", "/connectors/b-stalled/status").json) == ["name", "connector", "tasks", "type"]


def test_metrics_count_stalls_by_cause(harness: Harness, call: Client) -> None:
    stalled(harness)
    lines = call("GET", "/metrics").text.splitlines()
    assert 'connect_connector_stalled{cause="unknown",connector="b-stalled"} 1.0' in lines
    assert 'connect_connector_stalled{cause="",connector="a-fine"} 0.0' in lines


def test_commands_show_stalled_ones_first_with_the_reason(harness: Harness) -> None:
    stalled(harness)
    statuses = list_statuses(harness.herder)
    console = Console(file=io.StringIO(), width=200)
    console.print(list_table(statuses.values()))
    print_status(console, statuses["b-stalled"])
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.index("b-stalled") < shown.index("a-fine")
    assert shown.count("7 records wait since") == 2
    assert "RUNNING stalled" in shown
