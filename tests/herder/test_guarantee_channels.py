"""What a guarantee takes is said wherever the guarantee is: validation, status, page, README."""

from __future__ import annotations

import pytest

from tests.architecture.sources import ROOT
from tests.herder.harness import Harness
from tests.rest.conftest import Client, call, harness, serve, serve_any, sqlite_template, stages

__all__ = ["call", "harness", "serve", "serve_any", "sqlite_template", "stages"]

pytestmark = pytest.mark.slow
MARIADB = {
    "connector.class": "JdbcSource",
    "connection.url": "jdbc:mariadb://127.0.0.1:1/shop",
    "topic.prefix": "t-",
    "timestamp.column.name": "changed",
    "incrementing.column.name": "id",
}
CONDITIONS = {
    "timestamp": "commits within 10 s (timestamp.delay.interval.ms)",
    "incrementing": "at most 500 ranges of numbers are left out at a time",
    "timestamp+incrementing": "commits within 10 s (timestamp.delay.interval.ms)",
    "bulk": "each table has a primary key",
}


@pytest.mark.parametrize("mode", CONDITIONS)
def test_validation_says_it(call: Client, mode: str) -> None:
    config = {**MARIADB, "name": "a", "mode": mode}
    answer = call("PUT", "/connector-plugins/JdbcSource/config/validate", config).json
    told = {one["definition"]["name"]: one["definition"]["documentation"] for one in answer["configs"]}
    assert "As configured here: exactly-once" in told["exactly.once.support"]
    assert CONDITIONS[mode] in told["exactly.once.support"]


def test_validation_of_what_cannot_be_asked_goes_on(call: Client) -> None:
    config = {**MARIADB, "name": "a", "mode": "no such mode"}
    answer = call("PUT", "/connector-plugins/JdbcSource/config/validate", config)
    assert (answer.status, "As configured here" in answer.text) == (200, False)
    assert answer.json["error_count"] > 0


@pytest.mark.parametrize("mode", CONDITIONS)
def test_list_and_overview_say_it(call: Client, harness: Harness, mode: str) -> None:
    harness.create("a", {**MARIADB, "mode": mode})
    for found in (call("GET", "/v1/connectors").json["connectors"][0], call("GET", "/v1/connectors/a").json):
        assert found["guarantee"] == "exactly-once"
        assert CONDITIONS[mode] in found["guarantee_condition"]


def test_what_holds_without_a_condition_has_none(call: Client, harness: Harness) -> None:
    config = {**MARIADB, "mode": "incrementing", "connection.url": "jdbc:postgresql://127.0.0.1:1/shop"}
    harness.create("a", config)
    found = call("GET", "/v1/connectors/a").json
    assert (found["guarantee"], found["guarantee_condition"]) == ("exactly-once", "")


def test_readmes_say_it() -> None:
    (row,) = [
        line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("| `JdbcSource`")
    ]
    for part in ("timestamp.delay.interval.ms` (10 s)", "late.window.ms` (60 s)", "500 ranges", "primary key"):
        assert part in row
    page = " ".join((ROOT / "connect_core/connectors/jdbc/README.md").read_text("utf-8").split())
    for part in (
        "`timestamp.delay.interval.ms=0` or `late.window.ms=0` there it is **at-most-once**",
        "newest 500 ranges",
    ):
        assert part in page
