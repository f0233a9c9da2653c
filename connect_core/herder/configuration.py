"""Turns a configuration sent by an operator into one to be stored, or refuses it."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.configs import keep_hidden, mask, mask_task, seal_config
from connect_core.errors import BadRequestError, ConfigError
from connect_core.herder.context import Herder
from connect_core.herder.preflight import preflight
from connect_core.herder.raw import RawConfig
from connect_core.interval.values import ConnectorType
from connect_core.registry import PluginKind, registry
from connect_core.store.connectors import NewConfig

__all__ = ["RawConfig", "accept", "named", "patched", "shown", "shown_task"]

_LONGEST_NAME = 2000
"""In bytes: less than an index entry of PostgreSQL can hold."""


def named(name: str, config: RawConfig) -> dict[str, str | None]:
    """Return the configuration with the connector's name filled in.

    Raise BadRequestError where it names another connector.
    """
    own = config.get("name")
    if own is not None and own != name:
        raise BadRequestError(f"Connector name configuration ({own}) doesn't match connector name in the URL ({name})")
    return {**config, "name": name}


def patched(stored: Mapping[str, str], patch: RawConfig) -> dict[str, str | None]:
    """Return the stored configuration with settings replaced, or removed by null (KIP-477)."""
    removed = {key for key, value in patch.items() if value is None}
    # Secrets are masked, so that they are not sent to a new address set by the patch.
    kept = {key: value for key, value in mask(stored).items() if key not in removed}
    return {**kept, **{key: value for key, value in patch.items() if key not in removed}}


def accept(herder: Herder, name: str, config: RawConfig, stored: Mapping[str, str] | None = None) -> NewConfig:
    """Check a configuration and return what is stored of it: hidden values kept, secrets sealed.

    Raise BadRequestError with every error found, in Connect's words.
    """
    try:
        whole = keep_hidden(_name_first(config), stored or {})
        infos = preflight(herder, whole, name)
        if infos.error_count:
            raise BadRequestError(infos.message())
        given = {key: value for key, value in whole.items() if value is not None}
        sealed = seal_config(given, name, herder.providers.secret_box(), is_required=not herder.worker.is_standalone)
    except ConfigError as error:
        raise BadRequestError(str(error)) from error
    if len(name.encode()) > _LONGEST_NAME:
        raise BadRequestError(f"The connector's name is longer than {_LONGEST_NAME} bytes: choose a shorter one")
    plugin = registry().find(PluginKind.CONNECTOR, infos.name.strip())
    return NewConfig(ConnectorType(plugin.type), sealed, plugin.version, herder.actor)


def _name_first(config: RawConfig) -> dict[str, str | None]:
    return {"name": config["name"], **config} if "name" in config else dict(config)


def shown(config: Mapping[str, str]) -> dict[str, str | None]:
    """Return a stored configuration for display: secrets hidden, references as they are."""
    return mask(config)


def shown_task(task: Mapping[str, str], connector: Mapping[str, str]) -> dict[str, str | None]:
    """Return a task's configuration for display, as ``shown``; ``connector``: that of its connector."""
    return mask_task(task, connector)
