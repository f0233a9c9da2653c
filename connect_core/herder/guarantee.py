"""What a connector promises: declared by its plugin, shown wherever it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from connect_core.api.guarantee import Delivery, Guarantee
from connect_core.registry import PluginKind, registry

__all__ = ["declared_guarantee"]


def declared_guarantee(config: Mapping[str, str]) -> Guarantee:
    """Return what the plugin declares for a configuration; unknown where it cannot be asked."""
    return _declared(tuple(sorted(config.items())))


@lru_cache(maxsize=10_000)
def _declared(settings: tuple[tuple[str, str], ...]) -> Guarantee:
    config = dict(settings)
    try:
        found: Guarantee = (
            registry().load(PluginKind.CONNECTOR, config.get("connector.class", "").strip())().guarantee(config)
        )
    except Exception:
        # A plugin's own code: whatever it raises must not take the list of all connectors down.
        return Guarantee(Delivery.UNKNOWN)
    return found
