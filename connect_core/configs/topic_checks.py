"""Checks for internal topics in a connector's configuration: they must not hold its records."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from connect_core.api.config import ConfigType, ConfigValue, parse_type
from connect_core.errors import ConfigError
from connect_core.settings import WorkerSettings
from connect_core.settings.topics import is_internal

__all__ = ["check_topics"]

_DEAD_LETTERS = "errors.deadletterqueue.topic.name"
_OFFSETS = "offsets.storage.topic"
_REASON = "is internal: Kafka or the worker keeps its own offsets, status or other records in it. Use another topic"


def check_topics(
    config: Mapping[str, str | None], values: dict[str, ConfigValue], worker: WorkerSettings, in_use: Collection[str]
) -> None:
    """Add an error if records would be read from, or written to, an internal topic.

    Whoever may write there can forge the offsets and epochs of any connector.
    ``in_use``: offsets topics of other connectors. Topics named only by records
    are rejected when they are written.
    """
    own = (config.get(_OFFSETS) or "").strip()
    closed = {*worker.internal_topics, *in_use, own} - {""}
    named = [("topics", topic) for topic in _listed(config.get("topics"))]
    named.append((_DEAD_LETTERS, (config.get(_DEAD_LETTERS) or "").strip()))
    found = [(key, topic) for key, topic in named if topic and is_internal(topic, closed)]
    # The worker's own offsets topic may be named: it is the default of the setting.
    if own and own != _offsets_topic(worker) and is_internal(own, worker.own_topics):
        found.append((_OFFSETS, own))
    for key, topic in found:
        values.setdefault(key, ConfigValue(key, config[key])).error_messages.append(f"Topic {topic} {_REASON}.")


def _offsets_topic(worker: WorkerSettings) -> str:
    try:
        return worker.offsets_topic.name
    except ConfigError:
        return ""


def _listed(topics: str | None) -> list[str]:
    try:
        return [topic for topic in parse_type("topics", topics, ConfigType.LIST) or [] if topic]
    except ConfigError:
        # That error is already reported at the setting itself.
        return []
