"""Settings of sinks only, and the checks across them. Connect: ``SinkConnectorConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.config import (
    ClassResolver,
    ConfigDef,
    ConfigType,
    ConfigValue,
    Importance,
    ValidList,
    Width,
    parse_type,
)
from connect_core.configs.definitions import COMMON_GROUP, ERROR_GROUP, Defaults, common_definition
from connect_core.configs.regex import RegexValidator, compile_pattern
from connect_core.errors import ConfigError, IllegalArgumentError

__all__ = ["check_sink", "consumer_group", "define_dead_letters", "sink_definition"]

_DEAD_LETTERS = "errors.deadletterqueue.topic.name"


def sink_definition(defaults: Defaults, resolve: ClassResolver) -> ConfigDef:
    """Return the settings of sinks. Connect: ``SinkConnectorConfig``."""
    config = common_definition(defaults, resolve)
    config.define(
        "topics",
        ConfigType.LIST,
        "",
        validator=ValidList.any_non_duplicate_values(True, False),
        doc="Topics to read, separated by commas.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics",
    )
    config.define(
        "topics.regex",
        ConfigType.STRING,
        "",
        validator=RegexValidator(),
        doc="Regular expression for the names of the topics to read, matched against the whole name; an alternative to "
        "topics.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics regex",
    )
    define_dead_letters(config)
    return config


def consumer_group(config: Mapping[str, str | None]) -> str:
    """Return the group that shows a sink's positions, by default ``connect-<name>``."""
    return config.get("consumer.override.group.id") or f"connect-{config.get('name')}"


def check_sink(config: Mapping[str, str | None], values: dict[str, ConfigValue], deployment: str) -> None:
    """Add the errors that concern several settings of a sink. Connect: ``validate``."""
    _check_topics(config, values)
    _check_dead_letters(config, values)
    _check_group(config, values, deployment)
    _check_bound(config, values)


def _check_topics(config: Mapping[str, str | None], values: dict[str, ConfigValue]) -> None:
    has_topics, has_regex = _is_given(config, "topics"), _is_given(config, "topics.regex")
    if has_topics == has_regex:
        both = "topics and topics.regex are mutually exclusive options, but both are set."
        error = both if has_topics else "Must configure one of topics or topics.regex"
        for name in ("topics", "topics.regex"):
            _add(values, name, config.get(name), error)


def _check_dead_letters(config: Mapping[str, str | None], values: dict[str, ConfigValue]) -> None:
    topic = (config.get(_DEAD_LETTERS) or "").strip()
    if not topic:
        return
    topics = parse_type("topics", config.get("topics"), ConfigType.LIST) or []
    consumed = f"('topics=[{', '.join(dict.fromkeys(filter(None, topics)))}]') consumed by the connector"
    if topic in topics:
        error = f"The DLQ topic '{topic}' may not be included in the list of topics {consumed}"
        _add(values, "topics", config.get("topics"), error)
    pattern = config.get("topics.regex")
    if pattern and pattern.strip() and (why := _matched(pattern, topic)):
        _add(values, "topics.regex", pattern, why)


def _check_group(config: Mapping[str, str | None], values: dict[str, ConfigValue], deployment: str) -> None:
    if not config.get("name") or consumer_group(config) != deployment:
        return
    if "consumer.override.group.id" in config:
        name, who = "consumer.override.group.id", f"Consumer group {deployment}"
    else:
        name, who = "name", f"Consumer group for sink connector named {config['name']}"
    _add(values, name, config[name], f"{who} conflicts with Connect worker group {deployment}")


def _check_bound(config: Mapping[str, str | None], values: dict[str, ConfigValue]) -> None:
    if config.get("interval.bound") == "data_interval_end" and config.get("schedule", "@continuous") == "@continuous":
        error = (
            "A connector with schedule=@continuous has no data interval; use a cron expression, a duration or assets."
        )
        _add(values, "interval.bound", "data_interval_end", error)


def _is_given(config: Mapping[str, str | None], name: str) -> bool:
    return bool((config.get(name) or "").strip())


def _matched(pattern: str, topic: str) -> str:
    """Return the error of a pattern that matches the dead letter topic; empty if it does not."""
    try:
        if compile_pattern(pattern).fullmatch(topic) is None:
            return ""
    except ConfigError:
        # That error is already reported at the setting itself.
        return ""
    except IllegalArgumentError as error:
        return str(error)
    by = f"('topics.regex={pattern}') consumed by the connector"
    return f"The DLQ topic '{topic}' may not be matched by the regex for the topics {by}"


def _add(values: dict[str, ConfigValue], name: str, value: str | None, error: str) -> None:
    values.setdefault(name, ConfigValue(name, value)).error_messages.append(error)


def define_dead_letters(config: ConfigDef) -> None:
    """Add the settings of dead letters; Connect has them for sinks only."""
    prefix, title = "errors.deadletterqueue.", "Dead Letter Queue Topic"
    rows: tuple[tuple[str, ConfigType, Any, str, str], ...] = (
        ("topic.name", ConfigType.STRING, "", f"{title} Name", "Topic that bad records are sent to; empty: none."),
        (
            "topic.replication.factor",
            ConfigType.SHORT,
            3,
            f"{title} Replication Factor",
            "Number of replicas if that topic has to be created.",
        ),
        (
            "context.headers.enable",
            ConfigType.BOOLEAN,
            False,
            "Enable Error Context Headers",
            "Whether headers that begin with __connect.errors. describe where and why the record failed.",
        ),
    )
    for order, (name, kind, default, display, doc) in enumerate(rows, 6):
        config.define(
            prefix + name,
            kind,
            default,
            importance=Importance.MEDIUM,
            doc=doc,
            group=ERROR_GROUP,
            order=order,
            width=Width.MEDIUM,
            display_name=display,
        )
