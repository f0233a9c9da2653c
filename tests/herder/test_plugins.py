"""Plugins: found by any name, configurations of one checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from connect_core.connectors.file.source import FileStreamSourceConnector
from connect_core.errors import BadRequestError, ConfigError, NotFoundError
from connect_core.herder import plugins
from connect_core.herder.context import Herder
from tests.herder.harness import SOURCE, Harness, worker

FULL = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.mark.parametrize("name", ["FileStreamSource", "FileStreamSourceConnector", FULL])
def test_plugin_config_by_any_name(name: str) -> None:
    names = [key["name"] for key in plugins.get_plugin_config(name, "4.3.1")]
    assert names[:3] == ["file", "topic", "batch.size"]
    assert "tasks.max" in names


def test_unknown_plugin_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=r"^Unknown plugin Nope\.$"):
        plugins.get_plugin_config("Nope")


def test_other_version_is_refused() -> None:
    with pytest.raises(BadRequestError) as refused:
        plugins.get_plugin_config("FileStreamSource", "9.9.9")
    assert str(refused.value) == (
        f"Plugin {FULL} not found that matches the version range [9.9.9,9.9.9], available versions: [4.3.1]"
    )


@pytest.mark.parametrize(
    ("plugin", "given"),
    [("FileStreamSource", FULL), (FULL, FULL), ("FileStreamSource", "FileStreamSourceConnector")],
)
def test_names_of_one_plugin_agree(harness: Harness, plugin: str, given: str) -> None:
    infos = plugins.validate_config(harness.herder, plugin, {**SOURCE, "name": "v", "connector.class": given})
    assert (infos.name, infos.error_count) == (given, 0)


@pytest.mark.parametrize(("plugin", "given"), [(FULL, "FileStreamSource"), ("Nope", "FileStreamSource")])
def test_names_of_two_plugins_differ(harness: Harness, plugin: str, given: str) -> None:
    with pytest.raises(BadRequestError, match=f"Included connector type {given} does not match request type {plugin}"):
        plugins.validate_config(harness.herder, plugin, {**SOURCE, "connector.class": given})


def test_missing_class_is_a_config_error(harness: Harness) -> None:
    with pytest.raises(ConfigError, match="contains no connector type"):
        plugins.validate_config(harness.herder, "FileStreamSource", {"name": "v"})


def test_live_check_is_of_the_connector(harness: Harness, tmp_path: Path) -> None:
    settings = worker(**{"connect.validate.live": "true", "file.roots": str(tmp_path)})
    herder = Harness(harness.database, settings).herder
    config = {**SOURCE, "name": "v", "file": str(tmp_path / "none.txt")}
    found = plugins.validate_config(herder, "FileStreamSource", config).errors()
    assert found == {key: list(errors) for key, errors in live_errors(config, herder).items()}


def test_hidden_values_are_tried_as_stored(harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever edits what REST shows of a configuration checks it before it is put."""
    settings = worker(**{"connect.validate.live": "true", "file.roots": str(tmp_path)})
    herder = Harness(harness.database, settings).herder
    (tmp_path / "a.txt").touch()
    secret = {**SOURCE, "name": "a", "file": str(tmp_path / "a.txt"), "my.password": "hunter2-canary"}
    harness.create("a", secret)
    tried: list[str] = []

    def tries(connector: object, config: Mapping[str, str], limits: object) -> Mapping[str, Sequence[str]]:
        tried.append(config["my.password"])
        return {"file": [f"refused {config['my.password']}"]}

    monkeypatch.setattr(FileStreamSourceConnector, "validate_live", tries)
    infos = plugins.validate_config(herder, "FileStreamSource", {**secret, "my.password": "[hidden]"})
    assert tried == ["hunter2-canary"]
    assert infos.errors() == {"file": ["refused [hidden]"]}
    with pytest.raises(BadRequestError, match=r"no stored value for my\.password"):
        plugins.validate_config(herder, "FileStreamSource", {**secret, "name": "b", "my.password": "[hidden]"})
    moved = {**secret, "my.password": "[hidden]", "my.url": "http://elsewhere"}
    with pytest.raises(BadRequestError, match=r"A change of my\.url may send my\.password elsewhere"):
        plugins.validate_config(herder, "FileStreamSource", moved)


def live_errors(config: Mapping[str, str], herder: Herder) -> Mapping[str, Sequence[str]]:
    return FileStreamSourceConnector().validate_live(config, herder.worker.limits())
