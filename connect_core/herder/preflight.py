"""Everything that can be found wrong with a configuration before it is used."""

from __future__ import annotations

from functools import partial

from connect_core.api.connector import Connector
from connect_core.configs import ConfigInfos, validate
from connect_core.herder.context import Herder
from connect_core.herder.live import with_live_check
from connect_core.herder.raw import RawConfig
from connect_core.registry import PluginKind, registry

__all__ = ["preflight"]


def preflight(herder: Herder, config: RawConfig) -> ConfigInfos:
    """Return every setting with what is wrong about it.

    With ``connect.validate.live`` a configuration without errors is also tried
    on the systems it names. Raise ConfigError where its connector class is
    missing or unknown.
    """
    infos = validate(config, herder.worker, herder.providers)
    given = {key: value for key, value in config.items() if value is not None}
    # A setting of null passes, as in Connect, but there is nothing a system could be asked with it.
    is_tried = herder.worker.values["connect.validate.live"] and len(given) == len(config)
    if infos.error_count or not is_tried:
        return infos
    resolved = herder.providers.resolve(given, given.get("name", ""))
    connector: Connector = registry().load(PluginKind.CONNECTOR, infos.name.strip())()
    return with_live_check(infos, partial(connector.validate_live, resolved, herder.worker.limits()))
