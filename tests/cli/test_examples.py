"""The quickstart's connectors: read from config/, and deployed again and again without harm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connect_core.cli.examples import (
    EXPORT,
    HOURLY,
    LINES,
    SHOP_COPIES,
    SHOP_ORDERS,
    SHOP_PARQUET,
    SOURCE,
    deploy,
    failure_of,
    load_example,
    load_examples,
    output_path,
)
from connect_core.configs import ConnectorFile
from connect_core.dev.home import Home
from connect_core.errors import ConnectError
from connect_core.herder import lifecycle
from connect_core.herder.connectors import get_config
from connect_core.herder.status import get_status
from tests.architecture.sources import ROOT
from tests.herder.harness import SINK, Harness
from tests.store.harness import failed

EXAMPLE = ConnectorFile("out", {**SINK, "name": "out"})


def calls(harness: Harness) -> list[tuple[str, str]]:
    found = list(harness.scheduler.calls)
    harness.scheduler.calls.clear()
    return found


def test_examples_are_accepted(harness: Harness) -> None:
    examples = load_examples(Home(ROOT / ".connect", ROOT))
    files = [examples[name] for name in (SOURCE, EXPORT, LINES)]
    assert [deploy(harness.herder, example) for example in files] == ["created"] * 3
    assert examples[SOURCE].config["topic"] == examples[EXPORT].config["topics"] == examples[LINES].config["topics"]


def test_export_by_the_hour_is_accepted(harness: Harness) -> None:
    example = load_example(Home(ROOT / ".connect", ROOT), HOURLY)
    assert deploy(harness.herder, example) == "created"


def test_shop_is_looked_for_in_the_stack(tmp_path: Path) -> None:
    home = Home(tmp_path / "state", ROOT)
    assert load_examples(home)[SHOP_ORDERS].config["connection.url"] == "jdbc:postgresql://127.0.0.1:5432/shop"
    (home.folder("postgres") / "port").write_text("5433")
    examples = load_examples(home)
    for name in (SHOP_ORDERS, SHOP_COPIES):
        assert examples[name].config["connection.url"] == "jdbc:postgresql://127.0.0.1:5433/shop"
    topics = {examples[name].config["topics"] for name in (SHOP_COPIES, SHOP_PARQUET)}
    assert topics == {examples[SHOP_ORDERS].config["topic.prefix"] + "orders"}


def test_paths_follow_the_state_folder(tmp_path: Path) -> None:
    home = Home(tmp_path / "state", ROOT)
    examples = load_examples(home)
    assert output_path(examples[SOURCE], home) == tmp_path / "state" / "data" / "broker" / "server.log"
    assert output_path(examples[EXPORT], home) == tmp_path / "state" / "data" / "quickstart" / "parquet"


def test_deploying_again_changes_nothing(harness: Harness) -> None:
    assert deploy(harness.herder, EXAMPLE) == "created"
    assert calls(harness) == [("deploy", "out")]
    assert deploy(harness.herder, EXAMPLE) == "there already"
    assert calls(harness) == []


def test_changed_configuration_is_stored(harness: Harness) -> None:
    deploy(harness.herder, EXAMPLE)
    changed = replace(EXAMPLE, config={**EXAMPLE.config, "tasks.max": "3"})
    assert deploy(harness.herder, changed) == "reconfigured"
    assert get_config(harness.herder, "out")["tasks.max"] == "3"


@pytest.mark.parametrize("hold", [lifecycle.pause, lifecycle.stop])
def test_held_connector_is_resumed(harness: Harness, hold: object) -> None:
    deploy(harness.herder, EXAMPLE)
    hold(harness.herder, "out")  # type: ignore[operator]
    assert deploy(harness.herder, EXAMPLE) == "resumed"
    assert calls(harness)[-1] == ("resume", "out")


def test_failed_connector_is_restarted(harness: Harness) -> None:
    deploy(harness.herder, EXAMPLE)
    driver = harness.driver("out")
    driver.fail(driver.begin(), [failed()])
    assert failure_of(get_status(harness.herder, "out")) == "Task 0 of connector out is FAILED: Traceback: boom"
    assert deploy(harness.herder, EXAMPLE) == "restarted"
    assert failure_of(get_status(harness.herder, "out")) is None


def test_missing_example_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.dev.home._SHIPPED", tmp_path)
    with pytest.raises(ConnectError, match=f"config/connectors/{SOURCE} is missing"):
        load_examples(Home(tmp_path / ".connect", tmp_path))
