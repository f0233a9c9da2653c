"""What README.md says is so: its connector runs, its paths, commands and connectors exist."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.registry import ENTRY_POINTS, registry
from tests.architecture.sources import ROOT
from tests.docs.example_run import Items, run_once, serving, worker_of
from tests.kafka.cluster import Cluster
from tests.registry.wheels import install

README = (ROOT / "README.md").read_text("utf-8")


def block(language: str) -> str:
    """Return the one code block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the connector of the README, as its pyproject.toml says."""
    project = tomllib.loads(block("toml"))["project"]
    points = project["entry-points"][ENTRY_POINTS]
    module = next(iter(points.values())).partition(":")[0]
    plugins = {name: target.partition(":")[2] for name, target in points.items()}
    install(tmp_path / "site", project["name"], plugins, block("python"))
    assert (tmp_path / "site" / f"{module}.py").exists(), "the entry point names the module"
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    registry.cache_clear()
    yield
    registry.cache_clear()
    sys.modules.pop(module, None)


@pytest.mark.servers
@pytest.mark.usefixtures("installed")
def test_connector_moves_items_exactly_once(tmp_path: Path, cluster: Cluster) -> None:
    given = json.loads(block("json"))
    topic = cluster.create(1)
    items = Items([{"id": number, "name": f"item {number}"} for number in range(1, 4)])
    with serving(items):
        config = {**given["config"], "url": items.url, "topic": topic, "interval.idle.ms": "5000"}
        with worker_of(tmp_path, cluster.bootstrap, given["name"], config) as worker:
            assert run_once(worker).records == 3
            items.items.append({"id": 4, "name": "item 4"})
            assert run_once(worker).records == 1
    assert [json.loads(message.value() or b"") for message in cluster.read(topic)] == items.items


def test_connector_has_thirty_lines() -> None:
    assert len(block("python").splitlines()) <= 30


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    wanted = set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE))
    assert wanted >= {"quickstart", "down", "test", "unit", "lint"}
    assert [name for name in wanted if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_map_names_what_is_there() -> None:
    tree = README.partition("## Where things are")[2].partition("```")[2].partition("```")[0]
    packages = {path.name for path in (ROOT / "connect_core").iterdir() if (path / "__init__.py").exists()}
    named = set(re.findall(r"(?<![\w/])([a-z_]+)/", tree))
    assert packages - named == set(), "a package is missing in the map"
    foreign_objects = [name for name in named if not any((ROOT / at / name).exists() for at in PLACES)]
    assert foreign_objects == []


PLACES = ("", "connect_core", "connect_core/connectors", "config", "tests")


def test_every_connector_has_its_guarantee() -> None:
    table = README.partition("## Guarantees")[2].partition("\n## ")[0]
    known = [
        plugin.name.rpartition(".")[2].removesuffix("Connector") for plugin in registry().plugins("source", "sink")
    ]
    assert [name for name in known if f"`{name}`" not in table] == []


def test_guarantees_name_tests_that_exist() -> None:
    table = README.partition("## Guarantees")[2].partition("\n## ")[0]
    links = re.findall(r"\[([^\]]*`test_[^\]]*)\]\(([^)]+)\)", table)
    assert len(links) >= 10
    named = [(path, name) for names, path in links for name in re.findall(r"`(test_\w+)`", names)]
    assert [(path, name) for path, name in named if f"def {name}(" not in (ROOT / path).read_text("utf-8")] == []


def test_no_machine_is_named() -> None:
    assert re.search(r"(^|[^.\w])/(work|root|home|tmp)/", README) is None
    hosts = set(re.findall(r"https?://([^/:\s)\"]+)", README))
    assert hosts <= {"127.0.0.1"}
