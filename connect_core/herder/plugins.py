"""Plugins: their list, the definitions of their settings, and validation of configurations."""

from __future__ import annotations

from typing_extensions import TypedDict

from connect_core.configs import HIDDEN, ConfigKeyInfo, ValidatedConfig, keep_hidden, plugin_config
from connect_core.configs.versions import ensure_version
from connect_core.errors import BadRequestError, ConfigError, NotFoundError
from connect_core.herder.configuration import RawConfig
from connect_core.herder.context import Herder
from connect_core.herder.preflight import preflight
from connect_core.java.strings import trim
from connect_core.registry import registry
from connect_core.store import connectors

__all__ = ["PluginInfo", "get_plugin_config", "list_plugins", "validate_config"]

_SUFFIX = "Connector"

PluginInfo = TypedDict("PluginInfo", {"class": str, "type": str, "version": str})
"""An installed plugin, as REST shows it."""


def list_plugins(*, connectors_only: bool = True) -> list[PluginInfo]:
    """Return the plugins with class, type and version, in Connect's order."""
    types = ("sink", "source") if connectors_only else ()
    return [
        {"class": plugin.name, "type": plugin.type, "version": plugin.version} for plugin in registry().plugins(*types)
    ]


def get_plugin_config(name: str, version: str | None = None) -> list[ConfigKeyInfo]:
    """Return the definition of a plugin's settings. Raise NotFoundError, BadRequestError for another version."""
    plugin = registry().describe(name)
    if plugin is None:
        raise NotFoundError(f"Unknown plugin {name}.")
    try:
        ensure_version(plugin, version)
    except ConfigError as error:
        raise BadRequestError(str(error)) from error
    return plugin_config(name) or []


def validate_config(herder: Herder, plugin: str, config: RawConfig) -> ValidatedConfig:
    """Return every setting of a configuration with its errors.

    With ``connect.validate.live`` a configuration without errors is also tried
    on the systems it names. Raise BadRequestError if it is for another plugin
    than ``plugin`` or has hidden values that are not stored, ConfigError if its connector class is missing or unknown.
    """
    given = config.get("connector.class")
    if given is not None and not _plain(given).endswith(_plain(plugin)):
        raise BadRequestError(f"Included connector type {given} does not match request type {plugin}")
    return preflight(herder, _whole(herder, config))


def _whole(herder: Herder, config: RawConfig) -> RawConfig:
    """Return a configuration with the stored values in place of hidden ones, as when it is put."""
    if HIDDEN not in config.values():
        return config
    with herder.database.read() as connection:
        state = connectors.find(connection, trim(config.get("name") or ""))
    try:
        return keep_hidden(config, {} if state is None else state.config)
    except ConfigError as error:
        raise BadRequestError(str(error)) from error


def _plain(name: str) -> str:
    return name.removesuffix(_SUFFIX) or name
