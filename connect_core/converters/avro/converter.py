"""AvroConverter: keys and values as Avro, with their schemas in a registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, TopicSchema
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.converters.avro.codec import Codec
from connect_core.converters.avro.config import CONFIG, AvroSettings
from connect_core.converters.avro.read.batches import read_batch
from connect_core.converters.avro.write.batches import write_batch
from connect_core.converters.framed import unreadable
from connect_core.errors import DataError
from connect_core.schema_registry.header_frames import frame_header
from connect_core.schema_registry.keys import define_registry
from connect_core.schema_registry.live import newest_schemas, try_registry
from connect_core.schema_registry.model import SchemaText
from connect_core.schema_registry.serde import MessageSchemas, open_schemas

__all__ = ["AvroConverter"]


class AvroConverter(Converter):
    """Avro with a schema registry. Confluent: ``io.confluent.connect.avro.AvroConverter``.

    schemas: the messages' schemas, by default those of the registry in the settings.
    """

    checks_written_schemas = True

    def __init__(self, schemas: MessageSchemas | None = None) -> None:
        self._given = schemas
        self._opened: MessageSchemas | None = None

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Apply the settings. Raise ConfigError."""
        self._codec = Codec(AvroSettings.of(configs))
        if self._given is None:
            self._opened = open_schemas(configs, is_key, "AVRO", self.limits)
            self.frame_header = frame_header(configs, is_key)

    @property
    def _schemas(self) -> MessageSchemas:
        schemas = self._given or self._opened
        assert schemas is not None, "call configure() first"
        return schemas

    def validate_live(
        self, configs: Mapping[str, Any], is_key: bool, written: Mapping[str, Schema]
    ) -> Mapping[str, Sequence[str]]:
        """Check that the registry responds, and accepts the login and the schemas."""
        codec = Codec(AvroSettings.of(configs))

        def described(schema: Schema) -> tuple[SchemaText, str | None]:
            found = codec.writable(schema)
            return found.text, found.record_name

        return try_registry(configs, is_key, self.limits, written, described)

    def topic_schemas(self, configs: Mapping[str, Any], is_key: bool, topics: Sequence[str]) -> Sequence[TopicSchema]:
        """Request the newest schemas of topics from the registry."""
        return newest_schemas(configs, is_key, self.limits, topics)

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return define_registry(ConfigDef(CONFIG))

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return the message of a value; its schema may be registered. Raise DataError."""
        if value is None:
            if schema is not None and not schema.optional:
                raise DataError("Found null value for non-optional schema")
            return None
        try:
            own = self._codec.writable(schema)
            frame, registered = self._schemas.to_write(topic or "", own.text, own.record_name)
            return frame + self._codec.written(schema, own, registered).write(value)
        except (DataError, RecursionError) as error:
            raise DataError(f"Failed to serialize Avro data from topic {topic}: {error}") from error

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the data of a message; a Kafka null is a null without schema. Raise DataError."""
        if value is None:
            return SchemaAndValue(None, None)
        with unreadable(topic, "Avro"):
            registered, body = self._schemas.split(value)
        with unreadable(topic, "Avro", registered):
            found = self._codec.readable(registered)
            return SchemaAndValue(found.schema, found.read(bytes(body)))

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the messages of all rows."""
        try:
            return write_batch(topic, data, self._schemas, self._codec)
        except (DataError, RecursionError, pa.ArrowException):
            return None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows' messages."""
        try:
            return read_batch(values, self._schemas, self._codec)
        except (DataError, RecursionError, pa.ArrowException):
            return None

    def close(self) -> None:
        """Release the connections to the registry."""
        if self._opened is not None:
            self._opened.close()
