"""The quickstart's connectors: read from config/, and deployed again and again without harm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connect_core.cli.examples import (
    EXPORT,
    LINES,
    SHOP_COPIES,
    SHOP_ORDERS,
    SHOP_PARQUET,
    SOURCE,
    deploy,
    failure_of,
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
from tests.herder.worlds import SINK, World
from tests.store.worlds import failed

EXAMPLE = ConnectorFile("out", {**SINK, "name": "out"})


def calls(world: World) -> list[tuple[str, str]]:
    found = list(world.scheduler.calls)
    world.scheduler.calls.clear()
    return found


def test_examples_are_accepted(world: World) -> None:
    examples = load_examples(Home(ROOT / ".connect", ROOT))
    files = [examples[name] for name in (SOURCE, EXPORT, LINES)]
    assert [deploy(world.herder, example) for example in files] == ["created"] * 3
    assert examples[SOURCE].config["topic"] == examples[EXPORT].config["topics"] == examples[LINES].config["topics"]


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


def test_deploying_again_changes_nothing(world: World) -> None:
    assert deploy(world.herder, EXAMPLE) == "created"
    assert calls(world) == [("deploy", "out")]
    assert deploy(world.herder, EXAMPLE) == "there already"
    assert calls(world) == []


def test_changed_configuration_is_stored(world: World) -> None:
    deploy(world.herder, EXAMPLE)
    changed = replace(EXAMPLE, config={**EXAMPLE.config, "tasks.max": "3"})
    assert deploy(world.herder, changed) == "reconfigured"
    assert get_config(world.herder, "out")["tasks.max"] == "3"


@pytest.mark.parametrize("hold", [lifecycle.pause, lifecycle.stop])
def test_held_connector_is_resumed(world: World, hold: object) -> None:
    deploy(world.herder, EXAMPLE)
    hold(world.herder, "out")  # type: ignore[operator]
    assert deploy(world.herder, EXAMPLE) == "resumed"
    assert calls(world)[-1] == ("resume", "out")


def test_failed_connector_is_restarted(world: World) -> None:
    deploy(world.herder, EXAMPLE)
    driver = world.driver("out")
    driver.fail(driver.begin(), [failed()])
    assert failure_of(get_status(world.herder, "out")) == "Task 0 of connector out is FAILED: Traceback: boom"
    assert deploy(world.herder, EXAMPLE) == "restarted"
    assert failure_of(get_status(world.herder, "out")) is None


def test_missing_example_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connect_core.dev.home._SHIPPED", tmp_path)
    with pytest.raises(ConnectError, match=f"config/connectors/{SOURCE} is missing"):
        load_examples(Home(tmp_path / ".connect", tmp_path))
