"""The contract shared by source and sink connectors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from connect_core.api.connector import Connector, Task, WorkerLimits
from connect_core.testing.contexts import MemoryConnectorContext
from connect_core.testing.plugin_contract import PluginContract

__all__ = ["ConnectorContract"]


class ConnectorContract(PluginContract):
    """Tests of a connector's planning; ``folder`` is its only file root."""

    connector: ClassVar[type[Connector]]
    readme: ClassVar[Path | None] = None
    """The documentation for users; if given, it must name every setting as `` `name` ``."""

    def plugin(self) -> type[Any]:
        """Return the class under test."""
        return self.connector

    def prepare(self, folder: Path) -> None:
        """Create what the example config needs, such as files to read; called for each new target."""

    def limits(self, folder: Path) -> WorkerLimits:
        """Return the worker's limits."""
        return WorkerLimits((folder,), standalone=True)

    def started(self, folder: Path) -> Connector:
        """Call ``prepare``, then return a connector that is initialized and started."""
        self.prepare(folder)
        connector, given = self.connector(), dict(self.config)
        connector.initialize(MemoryConnectorContext(self.limits(folder)))
        connector.start(given)
        assert given == dict(self.config), "start() must not change the settings it is given"
        return connector

    def test_readme_names_every_setting(self) -> None:
        """Users do not know of a setting that the page does not name."""
        if self.readme is not None:
            text = self.readme.read_text("utf-8")
            names = [key.name for key in self.definition().sorted_keys() if not key.internal]
            assert [name for name in names if f"`{name}`" not in text] == []

    def test_connector_starts_and_stops(self, tmp_path: Path) -> None:
        """initialize, start and stop work; version is text."""
        connector = self.started(tmp_path)
        assert isinstance(connector.version(), str)
        connector.stop()

    def test_task_configs_keep_to_the_limit(self, tmp_path: Path) -> None:
        """There are at most ``tasks.max`` maps of text to text, and the same ones if nothing has changed."""
        connector = self.started(tmp_path)
        for most in (1, 2, 5):
            configs = _plain(connector.task_configs(most))
            assert len(configs) <= most, f"task_configs({most}) returned {len(configs)} configurations"
            assert configs == _plain(connector.task_configs(most)), (
                "task_configs() must return the same when called again"
            )
            wrong = [one for config in configs for pair in config.items() for one in pair if not isinstance(one, str)]
            assert wrong == [], f"names and values of a task's configuration must be text, not {wrong}"
            assert json.loads(json.dumps(configs)) == configs
        assert connector.task_configs(1), "after prepare() there must be something for a task to do"
        connector.stop()

    def test_task_stops_without_a_start(self, tmp_path: Path) -> None:
        """stop() follows a start() that failed: it must not hide that error with its own."""
        task = self.new_task(tmp_path)
        task.stop()
        assert isinstance(task.version(), str)

    def test_live_validation_answers(self, tmp_path: Path) -> None:
        """validate_live finds no error in the example."""
        connector = self.started(tmp_path)
        found = connector.validate_live(dict(self.config), self.limits(tmp_path))
        assert {name: errors for name, errors in found.items() if errors} == {}
        connector.stop()

    def new_task(self, folder: Path) -> Task:
        """Return a task that is initialized and not yet started."""
        raise NotImplementedError


def _plain(configs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    return [dict(config) for config in configs]
