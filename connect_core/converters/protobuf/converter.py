"""ProtobufConverter: messages whose schema is identified by an id of a registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, TopicSchema
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.converters.bounded_cache import BoundedCache
from connect_core.converters.framed import bodies_of, framed, only_id, unreadable
from connect_core.converters.kind import with_kind
from connect_core.converters.protobuf.config import CONFIG, ProtobufSettings
from connect_core.converters.protobuf.indexes import read_indexes, write_indexes
from connect_core.converters.protobuf.read.columns import Columnar, ColumnReader
from connect_core.converters.protobuf.read.values import Read, Reader
from connect_core.converters.protobuf.schemas.compiler import compiled
from connect_core.converters.protobuf.schemas.messages import MessageSchema
from connect_core.converters.protobuf.schemas.to_connect import to_connect_schema
from connect_core.converters.protobuf.wire import Rows, UnlikeError
from connect_core.converters.protobuf.write.message_writer import MessageWriter, writer_of
from connect_core.errors import ConnectError, DataError
from connect_core.schema_registry.frames import Frames
from connect_core.schema_registry.header_frames import frame_header
from connect_core.schema_registry.keys import define_registry
from connect_core.schema_registry.live import newest_schemas, try_registry
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText
from connect_core.schema_registry.serde import MessageSchemas, open_schemas

__all__ = ["ProtobufConverter"]

Indexes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How to read one message type of a registered schema."""

    schema: Schema
    parse: Any
    read: Read
    columns: Columnar

    def value(self, body: bytes, start: int) -> Any:
        """Return the value of a body, which begins at ``start``. Raise DataError."""
        try:
            return self.read(self.parse(body[start:]))
        except DecodeError as error:
            raise DataError(f"A Protobuf message cannot be read: {str(error)[:200]}") from error


class ProtobufConverter(Converter):
    """Protobuf with a registry's schema. Confluent: ``ProtobufConverter``.

    schemas: the messages' schemas, instead of those of the registry in the settings.
    """

    checks_written_schemas = True

    def __init__(self, schemas: MessageSchemas | None = None) -> None:
        self._given = schemas

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Apply the settings. Raise ConfigError on a bad one."""
        settings = self._settings = ProtobufSettings.of(with_kind(configs, is_key))
        size = settings.cache_size
        self._writers: BoundedCache[Schema, MessageWriter] = BoundedCache(size)
        self._compiled: BoundedCache[tuple[Any, ...], MessageSchema] = BoundedCache(size)
        self._readings: BoundedCache[tuple[Any, ...], _Reading] = BoundedCache(size)
        self._schemas = (
            self._given if self._given is not None else open_schemas(configs, is_key, "PROTOBUF", self.limits)
        )
        if self._given is None:
            self.frame_header = frame_header(configs, is_key, lambda rest: read_indexes(rest)[1])

    def validate_live(
        self, configs: Mapping[str, Any], is_key: bool, written: Mapping[str, Schema]
    ) -> Mapping[str, Sequence[str]]:
        """Check that the registry responds, and accepts the login and the schemas."""
        settings = ProtobufSettings.of(with_kind(configs, is_key))

        def described(schema: Schema) -> tuple[SchemaText, str | None]:
            writer = writer_of(schema, settings)
            return writer.text, writer.name

        return try_registry(configs, is_key, self.limits, written, described)

    def topic_schemas(self, configs: Mapping[str, Any], is_key: bool, topics: Sequence[str]) -> Sequence[TopicSchema]:
        """Request the newest schemas of topics from the registry."""
        return newest_schemas(configs, is_key, self.limits, topics)

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return define_registry(ConfigDef(CONFIG))

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return a framed message; a null is a Kafka null."""
        if value is None:
            return None
        if schema is None:
            raise DataError("ProtobufConverter can only write data with a schema, which it registers")
        writer = self._writer(schema)
        body = writer.body(value)
        return self._frame(topic, writer) + body

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the data of a framed message; a Kafka null is a null without schema."""
        if value is None:
            return SchemaAndValue(None, None)
        with unreadable(topic, "Protobuf"):
            registered, view = self._schemas.split(value)
        with unreadable(topic, "Protobuf", registered):
            body = bytes(view)
            indexes, start = read_indexes(body)
            reading = self._reading(registered, indexes)
            return SchemaAndValue(reading.schema, reading.value(body, start))

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the messages of all rows."""
        try:
            columns = data.to_columns()
            bodies = None if columns is None else self._column_bodies(columns)
            if bodies is None:
                bodies = self._row_bodies(data.to_objects())
            return None if bodies is None else self._framed(topic, *bodies)
        except DataError:
            return None

    def _framed(self, topic: pa.Array, writer: MessageWriter | None, column: pa.Array) -> pa.Array:
        if writer is None or column.null_count == len(column):
            return pa.nulls(len(column), pa.binary())
        return framed(topic, column, lambda name: self._frame(name, writer))

    def _column_bodies(self, columns: Columns) -> tuple[MessageWriter | None, pa.Array] | None:
        """Return bodies and their writer, ``None`` if rows must be written one by one."""
        schema, array = columns.schema, columns.array
        if schema is None:
            return (None, array) if array.null_count == len(array) else None
        writer = self._writer(schema)
        if writer.columns is None:
            return None
        try:
            bodies = writer.columns(array)
        except (UnlikeError, pa.ArrowException):
            return None
        return writer, pc.if_else(
            array.is_valid(), bodies, pa.scalar(None, pa.binary())
        ) if array.null_count else bodies

    def _row_bodies(self, objects: Objects) -> tuple[MessageWriter | None, pa.Array] | None:
        """Return bodies and their writer, ``None`` for data without schema or with several."""
        schema = objects.schemas[0] if len(objects) else None
        if schema is None or any(other is not schema and other != schema for other in objects.schemas):
            return None
        writer = self._writer(schema)
        bodies = [None if value is None else writer.body(value) for value in objects.values]
        return writer, pa.array(bodies, pa.binary())

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows' messages."""
        try:
            frames = self._schemas.split_batch(values)
            id = only_id(frames)
            columns = None if id is None else self._column(id, frames)
            return columns or self._objects(frames.ids.tolist(), bodies_of(frames).to_pylist())
        except DataError:
            return None

    def close(self) -> None:
        """Release the registry's connections."""
        self._schemas.close()

    def _column(self, id: int, frames: Frames) -> Columns | None:
        head = frames.data[frames.starts[0] : frames.ends[0]][:600].tobytes()
        indexes, skip = read_indexes(head)
        if bool(np.any(frames.starts[1:] < frames.ends[:-1])):
            return None
        rows = Rows.of(frames.data, frames.starts, frames.ends)
        if len(rows.having(head[:skip])) < len(rows):
            return None
        reading = self._reading(self._schemas.schema_of(id), indexes)
        try:
            return Columns(reading.schema, reading.columns(rows.part(frames.starts + skip, frames.ends)))
        except (UnlikeError, pa.ArrowException):
            return None

    def _objects(self, ids: list[int], bodies: list[bytes]) -> Objects:
        schemas: list[Schema | None] = []
        values: list[Any] = []
        for id, body in zip(ids, bodies, strict=True):
            if id < 0:
                schemas.append(None)
                values.append(None)
                continue
            indexes, start = read_indexes(body)
            reading = self._reading(self._schemas.schema_of(id), indexes)
            schemas.append(reading.schema)
            values.append(reading.value(body, start))
        return Objects(schemas, values)

    def _writer(self, schema: Schema) -> MessageWriter:
        known = self._writers.get(schema)
        return known or self._writers.put(schema, writer_of(schema, self._settings))

    def _frame(self, topic: str | None, writer: MessageWriter) -> bytes:
        frame, registered = self._schemas.to_write(topic or "", writer.text, writer.name)
        indexes = writer.indexes
        if registered.schema.text != writer.text.text:
            # Readers use the registered schema, in which the same message may have other indexes.
            indexes = self._messages(registered).indexes_of(writer.name)
        return frame + write_indexes(indexes)

    def _messages(self, registered: RegisteredSchema) -> MessageSchema:
        key = _key(registered)
        known = self._compiled.get(key)
        if known is not None:
            return known
        if registered.schema.kind is not SchemaKind.PROTOBUF:
            raise DataError(f"Schema {registered.id} is of type {registered.schema.kind.value}, not PROTOBUF")
        try:
            content = compiled(registered.schema.text, [(name, text.text) for name, text in registered.resolved])
            messages = MessageSchema(descriptor_pb2.FileDescriptorSet.FromString(content))
        except DataError as error:
            raise DataError(f"Protobuf schema {registered.id} cannot be used: {error}") from error
        return self._compiled.put(key, messages)

    def _reading(self, registered: RegisteredSchema, indexes: Indexes) -> _Reading:
        key = (*_key(registered), indexes)
        known = self._readings.get(key)
        if known is not None:
            return known
        messages = self._messages(registered)
        try:
            descriptor = messages.at(indexes)
            schema = to_connect_schema(messages, descriptor, registered.version, self._settings)
        except ConnectError as error:
            raise DataError(f"Protobuf schema {registered.id} cannot be read as Connect's: {error}") from error
        reader = Reader(messages, self._settings)
        columns = ColumnReader(reader).root(descriptor, schema)
        parse = messages.parser(descriptor)
        return self._readings.put(key, _Reading(schema, parse, reader.root(descriptor, schema), columns))


def _key(registered: RegisteredSchema) -> tuple[Any, ...]:
    return registered.id, registered.guid, registered.subject, registered.version
