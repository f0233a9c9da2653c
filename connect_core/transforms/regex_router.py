"""RegexRouter: rename topics by a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConnectError, NullValueError
from connect_core.java.regex.pattern import compile_java, replace_first
from connect_core.transforms.support.regex_setting import RegexValidator
from connect_core.transforms.support.topics import encoded, mapped, remembered

__all__ = ["RegexRouter"]

REGEX = "regex"
REPLACEMENT = "replacement"

CONFIG = (
    ConfigDef()
    .define(
        REGEX,
        ConfigType.STRING,
        validator=RegexValidator(),
        importance=Importance.HIGH,
        doc="Regular expression, in Java's syntax, that must match the whole topic for it to be renamed.",
    )
    .define(
        REPLACEMENT,
        ConfigType.STRING,
        importance=Importance.HIGH,
        doc="The replacement for the first match in the topic; $1 or ${name} refer to what a group matched.",
    )
)


class RegexRouter(Transformation):
    """Renames the topics that match; others are unchanged. Connect: ``RegexRouter``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for a bad expression."""
        config = CONFIG.parse(configs)
        self._regex = compile_java(config[REGEX])
        self._replacement: str | None = config[REPLACEMENT]
        self._routed = remembered(self._computed)

    def apply(self, record: Record) -> Record:
        """Route one record. Raise IllegalArgumentError or IndexOutOfBoundsError for a bad replacement."""
        topic = self._route(record.topic)
        return record if topic is None else replace(record, topic=topic, headers=record.headers.duplicate())

    def _route(self, topic: str | None) -> str | None:
        if topic is None:
            raise NullValueError("a record without topic cannot be routed")
        return self._routed(topic)

    def _computed(self, topic: str) -> str | None:
        if self._regex.fullmatch(topic) is None:
            return None
        if self._replacement is None:
            raise NullValueError(f"{REPLACEMENT} is null")
        return replace_first(self._regex, topic, self._replacement)

    def _target(self, topic: str) -> str:
        routed = self._route(topic)
        return topic if routed is None else routed

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Route all rows."""
        topics = encoded(batch.topic)
        if topics.null_count:
            return None
        try:
            routed = mapped(topics, self._target, pa.string())
        except ConnectError:
            return None
        return batch.with_topic(routed)
