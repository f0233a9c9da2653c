"""Strategies for the subject under which a schema is registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from connect_core.errors import DataError

__all__ = [
    "STRATEGIES",
    "RecordNameStrategy",
    "SubjectNameStrategy",
    "TopicNameStrategy",
    "TopicRecordNameStrategy",
]


class SubjectNameStrategy(Protocol):
    """Names subjects.

    A wheel adds one by an entry point of the group ``connect_core.schema_registry.subject_name_strategies``.
    It may have a method ``configure(configs)``, called once with the converter's settings.
    """

    def subject_name(self, topic: str, is_key: bool, record_name: str | None) -> str:
        """Return the subject of a schema; ``record_name``: the full name if it is a record, else None."""


class TopicNameStrategy:
    """``<topic>-key`` or ``<topic>-value``."""

    def subject_name(self, topic: str, is_key: bool, record_name: str | None) -> str:
        """Return the subject of a schema."""
        return f"{topic}-{'key' if is_key else 'value'}"


class RecordNameStrategy:
    """The full name of the record."""

    def subject_name(self, topic: str, is_key: bool, record_name: str | None) -> str:
        """Return the subject of a schema. Raise DataError if it is not a record's."""
        if not record_name:
            part = "key" if is_key else "value"
            setting = f"{part}.subject.name.strategy = {type(self).__name__}"
            raise DataError(f"In configuration {setting}, the message {part} must only be a record schema")
        return record_name


class TopicRecordNameStrategy(RecordNameStrategy):
    """``<topic>-<full name of the record>``."""

    def subject_name(self, topic: str, is_key: bool, record_name: str | None) -> str:
        """Return the subject of a schema. Raise DataError if it is not a record's."""
        return f"{topic}-{super().subject_name(topic, is_key, record_name)}"


_PACKAGE = "io.confluent.kafka.serializers.subject."
STRATEGIES: Mapping[str, type[SubjectNameStrategy]] = {
    f"{_PACKAGE}{strategy.__name__}": strategy
    for strategy in (TopicNameStrategy, RecordNameStrategy, TopicRecordNameStrategy)
}
"""Confluent's class name → ours."""
