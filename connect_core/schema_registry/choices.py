"""Wire formats and subject name strategies by their names in configurations.

Built-in ones are in the tables below; other wheels add theirs by entry points of the groups
``connect_core.schema_registry.id_codecs`` and ``.subject_name_strategies``, whose name, or ``module:Class``, is used
in configurations. Nothing else is imported: a setting must not determine what code is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import metadata
from typing import Any

from connect_core.errors import PLUGIN_ERRORS, ConfigError
from connect_core.schema_registry.apicurio import GlobalIdCodec
from connect_core.schema_registry.codecs import ConfluentCodec, GlueCodec, IdCodec, NumberCodec
from connect_core.schema_registry.subjects import STRATEGIES, SubjectNameStrategy

__all__ = ["codec_of", "strategy_of"]

_CODECS: Mapping[str, Callable[[], IdCodec]] = {
    "confluent": ConfluentCodec,
    "apicurio-global": GlobalIdCodec,
    "apicurio-content": NumberCodec,
    "apicurio-content-8": partial(NumberCodec, 8),
    "glue": GlueCodec,
}


def codec_of(name: str) -> IdCodec:
    """Return a wire format by its name in ``schema.id.codec``. Raise ConfigError listing the known names."""
    key = "schema.id.codec"
    made = _CODECS.get(name) or _announced("id_codecs", key, name, _CODECS)
    found = made()
    if not isinstance(found, IdCodec):
        raise ConfigError(key, name, "it is not an IdCodec: ask the authors of its package")
    return found


def strategy_of(key: str, name: str, configs: Mapping[str, Any]) -> SubjectNameStrategy:
    """Return a strategy by Confluent's class name, its last part, or an entry point. Raise ConfigError."""
    simple = {full.rpartition(".")[2]: strategy for full, strategy in STRATEGIES.items()}
    made = STRATEGIES.get(name) or simple.get(name) or _announced("subject_name_strategies", key, name, STRATEGIES)
    found = made()
    if not callable(getattr(found, "subject_name", None)):
        raise ConfigError(key, name, "it has no method subject_name: ask the authors of its package")
    configure = getattr(found, "configure", None)
    if configure is not None:
        configure(dict(configs))
    strategy: SubjectNameStrategy = found
    return strategy


def _announced(group: str, key: str, name: str, built_in: Mapping[str, Any]) -> Callable[[], Any]:
    known = _entry_points(group)
    if name not in known:
        names = ", ".join([*built_in, *sorted({point.name for point in known.values()})])
        raise ConfigError(key, name, f"choose one of {names}, or install the package that provides it")
    try:
        made: Callable[[], Any] = known[name].load()
        return made
    except PLUGIN_ERRORS as error:
        raise ConfigError(key, name, f"it cannot be loaded: {error}; reinstall its package") from error


@cache
def _entry_points(group: str) -> Mapping[str, metadata.EntryPoint]:
    points = metadata.entry_points(group=f"connect_core.schema_registry.{group}")
    return {name: point for point in points for name in (point.name, point.value)}
