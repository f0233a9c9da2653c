"""Records as connectors, converters and transforms see them, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from connect_core.api.data import Schema
from connect_core.api.headers import Headers

__all__ = ["ConnectRecord", "Record", "SinkRecord", "SourceRecord", "TimestampType", "TopicPartition"]


class TopicPartition(NamedTuple):
    """A partition of a Kafka topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class TimestampType(Enum):
    """The meaning of a record's timestamp; Kafka's names."""

    NO_TIMESTAMP_TYPE = "NoTimestampType"
    CREATE_TIME = "CreateTime"
    LOG_APPEND_TIME = "LogAppendTime"


@dataclass(slots=True)
class ConnectRecord:
    """The fields that source and sink records share. Treat as immutable: use ``replace``.

    ``timestamp`` is in milliseconds since the epoch; a schema of ``None``
    means schemaless data. Connect: ``ConnectRecord``.
    """

    topic: str | None
    kafka_partition: int | None = None
    key_schema: Schema | None = None
    key: Any = None
    value_schema: Schema | None = None
    value: Any = None
    timestamp: int | None = None
    headers: Headers = field(default_factory=Headers)


@dataclass(slots=True)
class SourceRecord(ConnectRecord):
    """A record to be written to Kafka, with the source position after it.

    ``source_partition`` identifies the stream in the source system and
    ``source_offset`` the position *after* this record: both are maps of strings
    to JSON scalars. Connect: ``SourceRecord``.
    """

    source_partition: Mapping[str, Any] | None = None
    source_offset: Mapping[str, Any] | None = None


@dataclass(slots=True)
class SinkRecord(ConnectRecord):
    """A record read from Kafka.

    ``topic`` and ``kafka_partition`` may have been changed by transforms; the
    ``original_*`` values (KIP-793) are those it was read from, to which
    offsets refer. Connect: ``SinkRecord``.
    """

    kafka_offset: int = -1
    timestamp_type: TimestampType = TimestampType.NO_TIMESTAMP_TYPE
    original_topic: str | None = None
    original_kafka_partition: int | None = None

    def __post_init__(self) -> None:
        if self.original_topic is None:
            self.original_topic = self.topic
            self.original_kafka_partition = self.kafka_partition


Record = TypeVar("Record", bound=ConnectRecord)
"""A source or a sink record: transforms return the kind they get."""
