"""Converters: between Connect data and the bytes in Kafka."""

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
    """Say which row of a batch failed, and why: ``row`` and ``__cause__``.

    Raised by batch methods; the engine then takes that batch through the record
    lane, where ``errors.tolerance`` decides record by record.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} of the batch failed")
        self.row = row


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """The header of a record that may hold a message's frame: the bytes before its body, which name its schema.

    A frame that was read is put back before the message, so that a converter knows one form only. ``frame_size``
    returns the length of a written message's frame, which moves into the header; ``None``: it stays where it is.
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
    """Translate keys or values between Connect data and bytes.

    ``configure`` is called once, before anything else. The record methods are
    the meaning; the batch methods give equal results on many rows at once.
    Connect: ``Converter``.
    """

    limits: WorkerLimits = WorkerLimits()
    """What the worker lets connectors touch; set before ``configure``. Beyond Connect."""
    frame_header: FrameHeader | None = None
    """Where else than before the messages their frames may be; known after ``configure``. Beyond Connect."""

    @abstractmethod
    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Take the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes to produce; ``None`` is a Kafka null. Raise DataError."""

    @abstractmethod
    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return what the bytes mean. Raise DataError when they mean nothing."""

    def config(self) -> ConfigDef:
        """Return the settings this converter knows."""
        return ConfigDef()

    def validate_live(self, configs: Mapping[str, Any], is_key: bool) -> Mapping[str, Sequence[str]]:
        """Try the systems that valid settings name; setting (prefix removed) → errors with remedy.

        Beyond Connect; must answer within 2 s. Only ``limits`` is set before.
        """
        return {}

    def topic_schemas(self, configs: Mapping[str, Any], is_key: bool, topics: Sequence[str]) -> Sequence[TopicSchema]:
        """Return the newest schemas of topics, for people to see. Raise ConfigError.

        Beyond Connect; must answer within 3 s. Only ``limits`` is set before.
        """
        return ()

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the bytes of all rows as a binary column, or ``None`` if only records can say it.

        A null is a Kafka null. ``topic`` is a string or dictionary column of the same length.
        Errors surface in the record lane: return ``None`` or raise BatchRowError.
        """
        return None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows, or ``None`` if only records can say it.

        values: binary, null = Kafka null; ``topic`` as in ``from_connect_batch``.
        """
        return None

    def close(self) -> None:
        """Free what the converter holds; called once."""


class HeaderConverter(ABC):
    """Translate header values between Connect data and bytes.

    Connect: ``HeaderConverter``.
    """

    @abstractmethod
    def configure(self, configs: Mapping[str, Any]) -> None:
        """Take the settings (prefix removed). Raise ConfigError on a bad one."""

    @abstractmethod
    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return what a header's bytes mean."""

    @abstractmethod
    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the bytes of a header's value."""

    def config(self) -> ConfigDef:
        """Return the settings this converter knows."""
        return ConfigDef()

    def close(self) -> None:
        """Free what the converter holds; called once."""
