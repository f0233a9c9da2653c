"""Settings of topics that a source's records create (KIP-158). Connect: ``TopicCreationConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import (
    ConfigDef,
    ConfigType,
    Importance,
    LambdaValidator,
    NonNullValidator,
    Validator,
    Width,
    parse_type,
)
from connect_core.configs.regex import compile_pattern
from connect_core.errors import ConfigError

__all__ = ["TopicCreationGroup", "group_of_topic", "topic_creation_definition", "topic_creation_groups"]

_PREFIX, _GROUPS, _DEFAULT = "topic.creation.", "topic.creation.groups", "default"
_OWN = ("include", "exclude", "replication.factor", "partitions")


@dataclass(frozen=True, slots=True)
class TopicCreationGroup:
    """How topics with matching names are created; -1 means the broker's default."""

    name: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    replication_factor: int
    partitions: int
    settings: Mapping[str, str]

    def is_for(self, topic: str) -> bool:
        """Whether the group's patterns match a topic; the default group matches all."""
        if self.name == _DEFAULT:
            return True
        return _any_matches(self.include, topic) and not _any_matches(self.exclude, topic)


def topic_creation_definition(config: Mapping[str, str]) -> ConfigDef:
    """Return the settings of the groups that a configuration names, if it names any.

    Raise ConfigError if the list of groups, or the default group's numbers
    that the others inherit, cannot be read.
    """
    definition = ConfigDef()
    if not any(key.startswith(_PREFIX) for key in config):
        return definition
    definition.embed(f"{_PREFIX}{_DEFAULT}.", _DEFAULT, 0, _default_group())
    default = definition.parse(_without_default_patterns(config))
    replicas, partitions = (default[f"{_PREFIX}{_DEFAULT}.{name}"] for name in ("replication.factor", "partitions"))
    for alias in _aliases(config):
        group = f"Topic Creation: {alias}"
        definition.embed(f"{_PREFIX}{alias}.", group, 0, _named_group(group, replicas, partitions))
    return definition


def topic_creation_groups(config: Mapping[str, str]) -> tuple[TopicCreationGroup, ...]:
    """Return the groups in the order they are tried; if empty, the broker decides."""
    values = topic_creation_definition(config).parse(_without_default_patterns(config))
    if not values:
        return ()
    return tuple(_group(alias, config, values) for alias in (*_aliases(config), _DEFAULT))


def group_of_topic(groups: tuple[TopicCreationGroup, ...], topic: str) -> TopicCreationGroup | None:
    """Return the first group that matches a topic. Connect: ``findFirstGroup``."""
    return next((group for group in groups if group.is_for(topic)), None)


def _group(alias: str, config: Mapping[str, str], values: Mapping[str, Any]) -> TopicCreationGroup:
    prefix = f"{_PREFIX}{alias}."
    own = {f"{prefix}{name}" for name in _OWN}
    settings = {
        key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix) and key not in own
    }
    include, exclude, replicas, partitions = (values[prefix + name] for name in _OWN)
    return TopicCreationGroup(alias, tuple(include), tuple(exclude), replicas, partitions, settings)


def _aliases(config: Mapping[str, str]) -> list[str]:
    listed = parse_type(_GROUPS, config.get(_GROUPS), ConfigType.LIST) or []
    return [alias for alias in dict.fromkeys(listed) if alias != _DEFAULT]


def _without_default_patterns(config: Mapping[str, str]) -> dict[str, str]:
    """Drop patterns of the default group: it matches every topic the others do not."""
    ignored = (f"{_PREFIX}{_DEFAULT}.include", f"{_PREFIX}{_DEFAULT}.exclude")
    return {key: value for key, value in config.items() if key not in ignored}


def _any_matches(patterns: tuple[str, ...], topic: str) -> bool:
    return any(compile_pattern(pattern).fullmatch(topic) for pattern in patterns)


def _check_patterns(name: str, value: Any) -> None:
    for pattern in value or ():
        try:
            compile_pattern(pattern)
        except ConfigError as error:
            text = f"[{', '.join(value)}]"
            raise ConfigError(name, text, f"Syntax error in regular expression: {error}") from error


def _check_replicas(name: str, value: Any) -> None:
    if value is not None and value != -1 and value < 1:
        rule = "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster"
        raise ConfigError(name, value, f"{rule}, or -1 to use the broker's default")


def _check_partitions(name: str, value: Any) -> None:
    if value is not None and value != -1 and value < 1:
        rule = "Number of partitions must be positive, or -1 to use the broker's default"
        raise ConfigError(name, value, rule)


_BROKERS_DEFAULT = "or -1 to use the broker's default"
_REPLICAS = LambdaValidator(
    _check_replicas, lambda: f"Positive number not larger than the number of brokers, {_BROKERS_DEFAULT}"
)
_PARTITIONS = LambdaValidator(_check_partitions, lambda: f"Positive number, {_BROKERS_DEFAULT}")
_PATTERNS = LambdaValidator(_check_patterns, lambda: "list of regular expressions")


def _default_group() -> ConfigDef:
    definition = ConfigDef()
    _patterns(definition, _DEFAULT, NonNullValidator(), ".*")
    _numbers(definition, _DEFAULT)
    return definition


def _named_group(group: str, replicas: int, partitions: int) -> ConfigDef:
    definition = ConfigDef()
    _patterns(definition, group, _PATTERNS, [])
    _numbers(definition, group, replicas, partitions)
    return definition


def _patterns(definition: ConfigDef, group: str, validator: Validator, include: Any) -> None:
    rows: tuple[tuple[str, str, Any], ...] = (("include", "Inclusion", include), ("exclude", "Exclusion", []))
    for order, (name, title, default) in enumerate(rows, 1):
        definition.define(
            name,
            ConfigType.LIST,
            default,
            validator=validator,
            importance=Importance.LOW,
            doc=f"Patterns of topic names for {title.lower()}; exclusions take precedence over inclusions.",
            group=group,
            order=order,
            width=Width.LONG,
            display_name=f"{title} Topic Pattern for {group}",
        )


def _numbers(definition: ConfigDef, group: str, *defaults: int) -> None:
    rows: tuple[tuple[str, ConfigType, Validator, str], ...] = (
        ("replication.factor", ConfigType.SHORT, _REPLICAS, "Replication Factor for Topics in"),
        ("partitions", ConfigType.INT, _PARTITIONS, "Partition Count for Topics in"),
    )
    for at, (name, kind, validator, title) in enumerate(rows):
        definition.define(
            name,
            kind,
            *defaults[at : at + 1],
            validator=validator,
            importance=Importance.LOW,
            doc=f"{title} this group, or -1 for the broker's default; required of the default group.",
            group=group,
            order=3 + at,
            width=Width.LONG,
            display_name=f"{title} {group}",
        )
