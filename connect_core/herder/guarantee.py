"""What a connector promises: declared by its plugin, shown wherever it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from connect_core.api.sink import SinkConnector
from connect_core.api.source import ExactlyOnceSupport, SourceConnector
from connect_core.errors import ConnectError
from connect_core.registry import PluginKind, registry

__all__ = ["guarantee_of"]

_WORDS = {
    ExactlyOnceSupport.SUPPORTED: "exactly-once",
    ExactlyOnceSupport.UNSUPPORTED: "at-least-once",
    None: "unknown",
}


def guarantee_of(config: Mapping[str, str]) -> str:
    """Return ``exactly-once``, ``at-least-once`` or, where the plugin does not say, ``unknown``.

    A sink is exactly-once when it keeps the marker of a commit with its data; a
    source when it declares so for its configuration (KIP-618).
    """
    return _declared(tuple(sorted(config.items())))


@lru_cache(maxsize=10_000)
def _declared(settings: tuple[tuple[str, str], ...]) -> str:
    config = dict(settings)
    try:
        kind = registry().load(PluginKind.CONNECTOR, config.get("connector.class", "").strip())
    except ConnectError:
        return _WORDS[None]
    if issubclass(kind, SinkConnector):
        return "exactly-once" if kind.committer is not SinkConnector.committer else "at-least-once"
    if not issubclass(kind, SourceConnector):
        return _WORDS[None]
    try:
        return _WORDS[kind().exactly_once_support(config)]
    except (ConnectError, LookupError, ValueError, TypeError):
        return _WORDS[None]
