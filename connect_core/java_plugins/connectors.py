"""Java connectors on the driver, each in its own host once its task configurations are requested."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from connect_core.api.config import ConfigDef, ConfigValue
from connect_core.api.connector import Connector
from connect_core.api.guarantee import Atomicity, Delivery, Guarantee
from connect_core.api.offsets import parse
from connect_core.api.records import TopicPartition
from connect_core.api.sink import SinkConnector, SinkTask
from connect_core.api.source import (
    ConnectorTransactionBoundaries,
    ExactlyOnceSupport,
    SourceConnector,
    SourceMap,
    SourceTask,
)
from connect_core.errors import ConnectError
from connect_core.java_host.errors import java_error
from connect_core.java_host.host import JavaHost, Lane
from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.definitions import config_values, definition_of
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.refusals import refuse_impossible

__all__ = ["TASK_CLASS", "JavaConnector", "JavaSinkConnector", "JavaSourceConnector"]

_LOG = logging.getLogger(__name__)
TASK_CLASS = "task.class"
"""Key by which a task's configuration names its class. Connect: ``TaskConfig``."""

_SHARED_KEYS = ("topics", "topics.regex")


class JavaConnector(Connector):
    """What Java sources and sinks share; ``java`` and ``plugins`` are set by the class made for each plugin."""

    java: ClassVar[JavaClass]
    plugins: ClassVar[JavaPlugins]

    _host: JavaHost | None = None
    _lane: Lane | None = None
    _config: Mapping[str, str]

    def config(self) -> ConfigDef:
        """Return the settings the plugin has described."""
        java, plugins = self.java, self.plugins

        def check(name: str, value: str | None) -> None:
            plugins.ask("catalog.check", {"class": java.name, "name": name, "value": value}, {name: value})

        return definition_of(java.settings, check)

    def version(self) -> str:
        """Return the plugin's own version."""
        return self.java.version

    def validate(self, config: Mapping[str, str]) -> list[ConfigValue]:
        """Return the results of the plugin's own validation. Raise ConfigError if it cannot run here."""
        refuse_impossible(self.java.name)
        self.plugins.heap_of(config)
        told = self.plugins.ask("catalog.validate", {"class": self.java.name, "config": dict(config)}, config)
        return config_values(told["values"], self.config())

    def start(self, config: Mapping[str, str]) -> None:
        """Store the configuration; an idle connector needs no process. Raise ConfigError if it cannot run here."""
        refuse_impossible(self.java.name)
        self._config = config

    def task_configs(self, max_tasks: int) -> Sequence[Mapping[str, str]]:
        """Return the plugin's own task configurations with the class of its tasks, like Connect's worker."""
        offsets = self._committed()
        if self._host is not None and not self._host.is_alive:
            # Killed or out of memory: the plugin is started again, as the connector would be on another worker.
            self.stop()
        lane = self._lane or self._started(offsets)
        told = lane.call("connector.tasks", {"max": max_tasks, "offsets": offsets}).header
        shared = {key: self._config[key] for key in _SHARED_KEYS if key in self._config}
        return [{**config, TASK_CLASS: told["task"], **shared} for config in told["configs"]]

    def _started(self, offsets: Sequence[Any]) -> Lane:
        spec = {"connector": self.java.name, "config": dict(self._config), "offsets": offsets}

        def start(host: JavaHost) -> None:
            host.log.clean = self.context.redact
            self._host = host
            lane = host.open("connector", spec, self._take_event)
            lane.call("connector.start")
            self._lane = lane

        self.plugins.start_plugin([self.java], self._config, f"connector {self.context.connector_name}", start)
        assert self._lane is not None
        return self._lane

    def _committed(self) -> list[Any]:
        return []

    def _take_event(self, told: Mapping[str, Any]) -> None:
        if told["event"] == "reconfigure":
            self.context.request_task_reconfiguration()
        elif told["event"] == "raised":
            self.context.raise_error(java_error(told["error"]))

    def stop(self) -> None:
        """Stop the plugin and end its process."""
        host, lane, self._host, self._lane = self._host, self._lane, None, None
        if host is None:
            return
        try:
            if lane is not None and host.is_alive:
                lane.close(seconds=self.plugins.stop_seconds)
        except ConnectError as error:
            _LOG.warning("connector %s could not be stopped: %s", self.java.name, error)
            host.kill()
        else:
            self.plugins.give_back(host)


class JavaSourceConnector(JavaConnector, SourceConnector):
    """A Java source."""

    tasks: ClassVar[type[SourceTask]]

    def task_class(self) -> type[SourceTask]:
        """Return the class that represents the plugin's tasks."""
        return self.tasks

    def _committed(self) -> list[Any]:
        return [[parse(partition), offset] for partition, offset in self.context.source_offsets.items()]

    def _support(self, config: Mapping[str, str]) -> Mapping[str, Any]:
        return self.plugins.ask("catalog.support", {"class": self.java.name, "config": dict(config)}, config)

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Return what the plugin declares (KIP-618)."""
        found = self._support(config).get("exactlyOnce")
        return None if found is None else ExactlyOnceSupport(found)

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> ConnectorTransactionBoundaries:
        """Return what the plugin declares (KIP-618)."""
        found = self._support(config).get("boundaries")
        return ConnectorTransactionBoundaries(found or "UNSUPPORTED")

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return what the plugin declares; the engine itself commits records and offsets in one transaction."""
        found = super().guarantee(config)
        if found.delivery is not Delivery.UNKNOWN:
            return found
        condition = (
            "exactly-once if the plugin returns the same records again after an offset; it does not declare this"
        )
        return Guarantee(Delivery.AT_LEAST_ONCE, atomicity=Atomicity.TRANSACTION, condition=condition)

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[str, SourceMap | None]) -> bool:
        """Let the plugin check or follow an offset change (KIP-875)."""
        pairs = [[parse(partition), offset] for partition, offset in offsets.items()]
        header = {"class": self.java.name, "config": dict(config), "offsets": pairs}
        return bool(self.plugins.ask("catalog.alter", header, config)["followed"])


class JavaSinkConnector(JavaConnector, SinkConnector):
    """A Java sink: at least once, unless it stores offsets with its data itself."""

    tasks: ClassVar[type[SinkTask]]

    def task_class(self) -> type[SinkTask]:
        """Return the class that represents the plugin's tasks."""
        return self.tasks

    def guarantee(self, config: Mapping[str, str]) -> Guarantee:
        """Return at-least-once: a plugin cannot declare more."""
        return Guarantee(Delivery.AT_LEAST_ONCE, condition="more if the plugin stores offsets or keys in its target")

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Let the plugin check or follow an offset change (KIP-875)."""
        rows = [[*partition, offset] for partition, offset in offsets.items()]
        header = {"class": self.java.name, "config": dict(config), "offsets": rows}
        return bool(self.plugins.ask("catalog.alter", header, config)["followed"])
