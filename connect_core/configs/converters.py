"""Checks of the systems that a connector's converters use, mainly schema registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from connect_core.api.convert import Converter, TopicSchema
from connect_core.configs.connector import ConnectorConfig

__all__ = ["topic_schemas", "try_converters"]


def try_converters(config: ConnectorConfig) -> Mapping[str, Sequence[str]]:
    """Check the systems of the key and value converters; setting → errors with remedy. Raise ConnectError."""
    found: dict[str, Sequence[str]] = {}
    tried: dict[tuple[type, frozenset[tuple[str, str]]], Mapping[str, Sequence[str]]] = {}
    for part, converter, settings in _converters(config):
        asked = type(converter), frozenset(settings.items())
        if asked not in tried:
            tried[asked] = converter.validate_live(settings, part == "key")
        found |= {f"{part}.converter.{setting}": errors for setting, errors in tried[asked].items()}
    return found


def topic_schemas(config: ConnectorConfig, topics: Sequence[str]) -> Sequence[TopicSchema]:
    """Return the newest schemas of topics in the registries. Raise ConnectError."""
    found: list[TopicSchema] = []
    for part, converter, settings in _converters(config):
        found += converter.topic_schemas(settings, part == "key", topics)
    return found


def _converters(config: ConnectorConfig) -> Iterator[tuple[str, Converter, Mapping[str, str]]]:
    for part in ("key", "value"):
        name, settings = config.converter_properties(f"{part}.converter")
        yield part, config.unconfigured_converter(name), settings
