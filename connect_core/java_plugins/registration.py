"""Registers a worker's Java plugins, and makes the Python class for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from connect_core.java_plugins.catalog import JavaClass
from connect_core.java_plugins.connectors import JavaSinkConnector, JavaSourceConnector
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.sink import JavaSinkTask
from connect_core.java_plugins.source import JavaSourceTask
from connect_core.java_plugins.stages import JavaConverter, JavaHeaderConverter, JavaPredicate, JavaTransformation
from connect_core.registry import Plugin, PluginClass, registry
from connect_core.settings import WorkerSettings

__all__ = ["JavaPlugin", "JavaPluginSource", "add_java_plugins"]

_NATIVE_FIRST, _JAVA_FIRST = -1, 1
_KINDS: dict[str, PluginClass] = {
    "source": JavaSourceConnector,
    "sink": JavaSinkConnector,
    "transformation": JavaTransformation,
    "predicate": JavaPredicate,
    "converter": JavaConverter,
    "header_converter": JavaHeaderConverter,
}
_TASKS: dict[str, PluginClass] = {"source": JavaSourceTask, "sink": JavaSinkTask}


@dataclass(frozen=True, slots=True)
class JavaPlugin(Plugin):
    """A plugin of ``plugin.path``: its class is generated, not imported."""

    java: JavaClass = field(kw_only=True)
    plugins: JavaPlugins = field(kw_only=True)

    def load(self) -> PluginClass:
        """Return the class that represents the Java class."""
        return _class_of(self)


@dataclass(frozen=True)
class JavaPluginSource:
    """The Java plugins of one worker, for the registry."""

    java: JavaPlugins

    def plugins(self) -> Sequence[Plugin]:
        """Return all of them; if a name is built in as well, the one that the worker prefers is used."""
        return _plugins_of(self.java)

    @property
    def trouble(self) -> str | None:
        """Why plugins may be missing."""
        return self.java.trouble


def add_java_plugins(worker: WorkerSettings) -> None:
    """Add the plugins of a worker's ``plugin.path`` to the registry; they are discovered at the first use.

    Raise ConfigError for bad settings.
    """
    found = JavaPlugins.of(worker)
    if found is not None:
        registry().add(JavaPluginSource(found))


@lru_cache(maxsize=16)
def _cached_plugins(key: int, java: JavaPlugins) -> tuple[Plugin, ...]:
    return tuple(_plugin(one, java) for one in java.catalog.classes if one.is_offered)


def _plugins_of(java: JavaPlugins) -> Sequence[Plugin]:
    return _cached_plugins(id(java.catalog), java)


def _plugin(one: JavaClass, java: JavaPlugins) -> Plugin:
    return JavaPlugin(
        name=one.name,
        type=one.type,
        version=one.version,
        target=f"java:{one.name}",
        distribution=one.location or "",
        rank=_JAVA_FIRST if java.is_preferred(one.name) else _NATIVE_FIRST,
        java=one,
        plugins=java,
    )


_CLASSES: dict[tuple[int, str, str], PluginClass] = {}


def _class_of(plugin: JavaPlugin) -> PluginClass:
    """Return the class of a plugin, always the same one: classes are compared by identity."""
    key = id(plugin.java), plugin.name, plugin.type
    if key not in _CLASSES:
        _CLASSES[key] = _made(plugin)
    return _CLASSES[key]


def _made(plugin: JavaPlugin) -> PluginClass:
    shared: dict[str, Any] = {"java": plugin.java, "plugins": plugin.plugins}
    if plugin.type in _TASKS:
        task = plugin.java.task or f"{plugin.name}Task"
        shared["tasks"] = _named(task, _TASKS[plugin.type], dict(shared))
    return _named(plugin.name, _KINDS[plugin.type], shared)


def _named(name: str, kind: PluginClass, attributes: dict[str, Any]) -> PluginClass:
    package, _, simple = name.rpartition(".")
    return type(simple, (kind,), {**attributes, "__module__": package, "__qualname__": simple})
