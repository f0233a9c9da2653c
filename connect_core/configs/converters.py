"""Checks of the systems that a connector's converters use, mainly schema registries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from connect_core.api.convert import Converter, TopicSchema
from connect_core.api.source import WrittenSchemas
from connect_core.configs.connector import ConnectorConfig

__all__ = ["topic_schemas", "try_converters"]


def try_converters(
    config: ConnectorConfig, written: Callable[[], Mapping[str, WrittenSchemas]]
) -> Mapping[str, Sequence[str]]:
    """Check the systems of the key and value converters; setting → errors with remedy. Raise ConnectError.

    ``written``: returns the topics that a source writes; called only if a converter needs to know them.
    """
    found: dict[str, Sequence[str]] = {}
    tried: dict[tuple[type, frozenset[tuple[str, str]]], Mapping[str, Sequence[str]]] = {}
    converters = list(_converters(config))
    topics = written() if any(converter.checks_written_schemas for _, converter, _ in converters) else {}
    for part, converter, settings in converters:
        of_part = {topic: one.key if part == "key" else one.value for topic, one in topics.items()}
        schemas = {topic: schema for topic, schema in of_part.items() if schema is not None}
        # Keys and values with the same settings ask once whether a registry responds.
        asked = type(converter), frozenset(settings.items())
        errors = tried.get(asked)
        if errors is None or (schemas and not errors):
            errors = converter.validate_live(settings, part == "key", schemas)
        if not schemas:
            tried[asked] = errors
        found |= {f"{part}.converter.{setting}": messages for setting, messages in errors.items()}
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
