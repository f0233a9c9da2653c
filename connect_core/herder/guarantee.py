"""A connector's delivery guarantee: declared by its plugin, shown wherever it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from connect_core.api.guarantee import Delivery, Guarantee
from connect_core.configs import Redaction
from connect_core.java_plugins.redaction import redacting
from connect_core.registry import PluginKind, registry

__all__ = ["declared_guarantee"]


def declared_guarantee(config: Mapping[str, str]) -> Guarantee:
    """Return the guarantee a plugin declares for a configuration; unknown if the plugin fails to."""
    return _declared(tuple(sorted(config.items())))


@lru_cache(maxsize=10_000)
def _declared(settings: tuple[tuple[str, str], ...]) -> Guarantee:
    config = dict(settings)
    try:
        connector = registry().create(PluginKind.CONNECTOR, config.get("connector.class", "").strip())
        with redacting(Redaction(config).texts):
            found: Guarantee = connector.guarantee(config)
    except Exception:
        # This is a plugin's own code: no error of it may break the list of all connectors.
        return Guarantee(Delivery.UNKNOWN)
    return found
