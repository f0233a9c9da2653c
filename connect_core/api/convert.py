"""Converters between Connect data and the bytes in Kafka."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.connector import WorkerLimits
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.errors import ConnectError

__all__ = ["BatchRowError", "Converter", "FrameHeader", "HeaderConverter", "TopicSchema"]


class BatchRowError(ConnectError):
    """Raised with the failed row of a batch and its error: ``row`` and ``__cause__``.

    Raised by batch methods; the engine then processes that batch in the record
    lane, where ``errors.tolerance`` decides record by record.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} of the batch failed")
        self.row = row


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """The header of a record that may hold a message's frame: the bytes before its body, which identify its schema.

    A frame that was read is put back before the message, so that a converter handles one form only. ``frame_size``
    returns the length of a written message's frame, which moves into the header; ``None``: it stays in the message.
    Confluent: ``HeaderSchemaIdSerializer``, ``DualSchemaIdDeserializer``.
    """

    name: str
    frame_size: Callable[[bytes], int] | None = None


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """The newest schema that a registry has for a topic's keys or values.

    ``part``: key or value. ``registry``: its address, without credentials. ``id``: ``None`` where there is no schema,
    with the reason in ``error``; ``language``: AVRO, JSON or PROTOBUF.
    """

    topic: str
    part: str
    subject: str
    registry: str
    id: int | None = None
    version: int | None = None
    language: str | None = None
    error: str | None = None


class Converter(ABC):
    """Converts keys or values between Connect data and bytes.

    ``configure`` is called once, before anything else. The record methods define
    the result; the batch methods return equal results for many rows at once.
    Connect: ``Converter``.
    """

    limits: WorkerLimits = WorkerLimits()
    """The worker's limits for connectors; set before ``configure``. Beyond Connect."""
    checks_written_schemas: bool = False
    """Whether ``validate_live`` checks the schemas that a source will write. Beyond Connect."""
    frame_header: FrameHeader | None = None
    """The header that may hold frames instead of the messages; set after ``configure``. Beyond Connect."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Apply the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes to produce; ``None`` is a Kafka null. Raise DataError."""

    @abstractmethod
    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the data in the bytes. Raise DataError if they are not valid."""

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return ConfigDef()

    def validate_live(
        self, configs: Mapping[str, Any], is_key: bool, written: Mapping[str, Schema]
    ) -> Mapping[str, Sequence[str]]:
        """Check the systems that valid settings name; setting (prefix removed) → errors with remedy.

        ``written``: the topics that a source will write, with their schemas, as far as they are known.
        Beyond Connect; must return within 3 s. Only ``limits`` is set before.
        """
        return {}

    def topic_schemas(self, configs: Mapping[str, Any], is_key: bool, topics: Sequence[str]) -> Sequence[TopicSchema]:
        """Return the newest schemas of topics, for display. Raise ConfigError.

        Beyond Connect; must return within 3 s. Only ``limits`` is set before.
        """
        return ()

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the bytes of all rows as a binary column, or ``None`` if only the record methods can.

        A null is a Kafka null. ``topic`` is a string or dictionary column of the same length.
        Errors are reported in the record lane: return ``None`` or raise BatchRowError.
        """
        return None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows, or ``None`` if only the record methods can.

        values: binary, null = Kafka null; ``topic`` as in ``from_connect_batch``.
        """
        return None

    def close(self) -> None:
        """Release the converter's resources; called once."""


class HeaderConverter(ABC):
    """Converts header values between Connect data and bytes.

    Connect: ``HeaderConverter``.
    """

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the data in a header's bytes."""

    @abstractmethod
    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the bytes of a header's value."""

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return ConfigDef()

    def close(self) -> None:
        """Release the converter's resources; called once."""
