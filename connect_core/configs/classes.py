"""Classes named by a configuration, found only through the registry."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ClassResolver
from connect_core.errors import ConfigError, NotFoundError
from connect_core.registry import PluginClass, PluginKind, registry

__all__ = ["PluginRecommender", "PluginValidator", "class_resolver", "class_text", "ensure_plugin"]


class _Family:
    """Stands for a class whose nested classes are plugins, as HoistField for HoistField$Key."""

    members: tuple[str, ...] = ()


def class_resolver(*, aliases: bool) -> ClassResolver:
    """Return a function that finds a plugin's class by its full name or, with ``aliases``, by a short one.

    A worker accepts the short names; Connect's bare ``ConnectorConfig`` does not.
    """

    def resolve(name: str) -> type:
        plugin = registry().describe(name)
        if plugin is not None and (aliases or plugin.name == name):
            return plugin.load()
        members = tuple(known.name for known in registry().plugins() if known.name.startswith(f"{name}$"))
        if not members:
            raise NotFoundError(f"Class {name} could not be found.")
        return type(name, (_Family,), {"members": members})

    return resolve


def ensure_plugin(kind: PluginKind, found: PluginClass, interface: type) -> None:
    """Raise ConfigError unless a class can be instantiated and has the interface.

    Connect: ``Utils.ensureConcreteSubclass``.
    """
    if issubclass(found, _Family):
        raise ConfigError(f"This class is abstract and cannot be created. Did you mean {', '.join(found.members)}?")
    if not issubclass(found, interface):
        name = registry().name_of(found)
        raise ConfigError(f"Class class {name} does not implement the {kind.value} interface")
    if inspect.isabstract(found):
        raise ConfigError("This class is abstract and cannot be created.")


@dataclass(frozen=True, slots=True)
class PluginValidator:
    """Accepts a class with an interface that can be instantiated; or null."""

    kind: PluginKind
    interface: type

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError for another class."""
        if value is not None:
            ensure_plugin(self.kind, value, self.interface)

    def __str__(self) -> str:
        return f"A concrete subclass of {self.kind.value}, A class with a public, no-argument constructor"


@dataclass(frozen=True, slots=True)
class PluginRecommender:
    """Suggests the plugins of some types, by name."""

    types: tuple[str, ...]

    def valid_values(self, name: str, parsed: Any) -> Sequence[Any]:
        """Return the names of those that work without further settings, in Connect's order."""
        return [plugin.name for plugin in registry().plugins(*self.types) if not plugin.needs_schema_registry]

    def visible(self, name: str, parsed: Any) -> bool:
        """Return true: the setting is always shown."""
        return True


def class_text(value: Any) -> Any:
    """Return a class as users write it; anything else as it is."""
    return registry().name_of(value) if isinstance(value, type) else value
