"""TopicNameMatches: whether a record's topic matches a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import CompositeValidator, ConfigDef, ConfigType, Importance, NonEmptyString
from connect_core.api.records import ConnectRecord
from connect_core.api.transform import Predicate
from connect_core.java.regex.pattern import compile_java
from connect_core.transforms.support.regex_setting import RegexValidator
from connect_core.transforms.support.topics import mapped, remembered

__all__ = ["TopicNameMatches"]

PATTERN = "pattern"

CONFIG = ConfigDef().define(
    PATTERN,
    ConfigType.STRING,
    validator=CompositeValidator.of(NonEmptyString(), RegexValidator()),
    importance=Importance.MEDIUM,
    doc="Regular expression, in Java's syntax, that must match the whole topic.",
)


class TopicNameMatches(Predicate):
    """True for records whose topic matches. Connect: ``TopicNameMatches``."""

    def config(self) -> ConfigDef:
        """Return the settings of this predicate."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings. Raise ConfigError for a bad expression."""
        self._matches = remembered(compile_java(CONFIG.parse(configs)[PATTERN]).fullmatch)

    def test(self, record: ConnectRecord) -> bool:
        """Return whether one record's topic matches."""
        return record.topic is not None and self._matches(record.topic) is not None

    def test_batch(self, batch: Batch) -> pa.BooleanArray:
        """Return a mask of the rows whose topics match."""
        return mapped(batch.topic, lambda topic: self._matches(topic) is not None, pa.bool_()).fill_null(False)
