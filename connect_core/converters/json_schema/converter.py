"""JsonSchemaConverter: JSON whose schema is identified by an id of a registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Columns, Data, Objects
from connect_core.api.config import ConfigDef
from connect_core.api.convert import Converter, TopicSchema
from connect_core.api.data import Schema, SchemaAndValue, SchemaType
from connect_core.converters.bounded_cache import BoundedCache
from connect_core.converters.columns import columns_of
from connect_core.converters.framed import bodies_of, framed, only_id, unreadable
from connect_core.converters.json.read.documents import parse, parse_exactly
from connect_core.converters.json.read.numbers import InexactError
from connect_core.converters.json.read.values import Read
from connect_core.converters.json_schema.checking import checker
from connect_core.converters.json_schema.columns import RegisteredColumnWriter, read_columns
from connect_core.converters.json_schema.config import CONFIG, JsonSchemaSettings
from connect_core.converters.json_schema.read import reader
from connect_core.converters.json_schema.schemas.documents import load_document
from connect_core.converters.json_schema.schemas.from_connect import from_connect_schema
from connect_core.converters.json_schema.schemas.to_connect import to_connect_schema
from connect_core.converters.json_schema.write import NO_TEXT, RegisteredJsonWriter
from connect_core.converters.kind import with_kind
from connect_core.errors import ConnectError, DataError, MissingLibraryError
from connect_core.schema_registry.header_frames import frame_header
from connect_core.schema_registry.keys import define_registry
from connect_core.schema_registry.live import newest_schemas, try_registry
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText
from connect_core.schema_registry.serde import MessageSchemas, open_schemas

__all__ = ["JsonSchemaConverter"]

Check = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How to read messages of one registered schema."""

    schema: Schema
    read: Read
    check: Check | None

    def value(self, body: bytes) -> Any:
        """Return the value of a body. Raise DataError."""
        if self.check is not None:
            self.check(body)
        try:
            try:
                return self.read(parse(body))
            except InexactError:
                return self.read(parse_exactly(body))
        except RecursionError as error:
            raise DataError("A JSON message is nested too deeply") from error


class JsonSchemaConverter(Converter):
    """JSON with a registry's JSON Schema. Confluent: ``JsonSchemaConverter``.

    schemas: the messages' schemas, instead of those of the registry in the settings.
    """

    checks_written_schemas = True

    def __init__(self, schemas: MessageSchemas | None = None) -> None:
        self._given = schemas

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        """Apply the settings. Raise ConfigError on a bad one."""
        settings = self._settings = JsonSchemaSettings.of(with_kind(configs, is_key))
        self._writer = RegisteredJsonWriter(settings.numeric_decimals, settings.ignore_defaults, settings.cache_size)
        self._columns = RegisteredColumnWriter(self._writer, not settings.ignore_defaults, settings.numeric_decimals)
        self._texts: BoundedCache[Schema, SchemaText] = BoundedCache(settings.cache_size)
        self._readings: BoundedCache[tuple[Any, ...], _Reading] = BoundedCache(settings.cache_size)
        self._checks: BoundedCache[tuple[Any, ...], Check] = BoundedCache(settings.cache_size)
        self._schemas = self._given if self._given is not None else open_schemas(configs, is_key, "JSON", self.limits)
        if self._given is None:
            self.frame_header = frame_header(configs, is_key)

    def validate_live(
        self, configs: Mapping[str, Any], is_key: bool, written: Mapping[str, Schema]
    ) -> Mapping[str, Sequence[str]]:
        """Check that the registry responds, and accepts the login and the schemas."""
        settings = JsonSchemaSettings.of(with_kind(configs, is_key))
        writer = RegisteredJsonWriter(settings.numeric_decimals, settings.ignore_defaults, settings.cache_size)

        def described(schema: Schema) -> tuple[SchemaText, str | None]:
            return SchemaText(SchemaKind.JSON, from_connect_schema(schema, settings, writer)), _record_name(schema)

        return try_registry(configs, is_key, self.limits, written, described)

    def topic_schemas(self, configs: Mapping[str, Any], is_key: bool, topics: Sequence[str]) -> Sequence[TopicSchema]:
        """Request the newest schemas of topics from the registry."""
        return newest_schemas(configs, is_key, self.limits, topics)

    def config(self) -> ConfigDef:
        """Return the settings of this converter."""
        return define_registry(ConfigDef(CONFIG))

    def from_connect_data(self, topic: str | None, schema: Schema | None, value: Any) -> bytes | None:
        """Return a framed JSON text; a null that the schema cannot represent becomes a Kafka null."""
        if schema is None:
            if value is None:
                return None
            raise DataError("JsonSchemaConverter can only write data with a schema, which it registers")
        try:
            payload = self._writer.payload(schema, value)
        except RecursionError as error:
            raise DataError("A value is nested too deeply for JSON") from error
        if payload == NO_TEXT:
            return None
        frame, registered = self._frame(topic, schema)
        body = payload.encode()
        if self._settings.validate:
            self._check(registered)(body)
        return frame + body

    def to_connect_data(self, topic: str | None, value: bytes | None) -> SchemaAndValue:
        """Return the data of a framed JSON text; a Kafka null is a null without schema."""
        if value is None:
            return SchemaAndValue(None, None)
        with unreadable(topic, "JSON"):
            registered, body = self._schemas.split(value)
        with unreadable(topic, "JSON", registered):
            reading = self._reading(registered)
            return SchemaAndValue(reading.schema, reading.value(bytes(body)))

    def from_connect_batch(self, topic: pa.Array, data: Data) -> pa.Array | None:
        """Return the messages of all rows."""
        columns = columns_of(data)
        if columns is None or self._settings.validate:
            return None
        schema = columns.schema
        if schema is None:
            return pa.nulls(len(data), pa.binary()) if columns.array.null_count == len(data) else None
        try:
            texts = self._columns.write(columns, envelope=False)
            if texts is None:
                return None
            return framed(topic, texts.cast(pa.binary()), lambda name: self._frame(name, schema)[0])
        except (DataError, RecursionError):
            return None

    def to_connect_batch(self, topic: pa.Array, values: pa.BinaryArray) -> Columns | Objects | None:
        """Return the data of all rows' messages."""
        try:
            frames = self._schemas.split_batch(values)
            bodies, id = bodies_of(frames), only_id(frames)
            if id is not None and not self._settings.validate:
                schema = self._reading(self._schemas.schema_of(id)).schema
                column = read_columns(bodies, schema)
                if column is not None:
                    return Columns(schema, column)
            return self._objects(frames.ids.tolist(), bodies.to_pylist())
        except (DataError, pa.ArrowException):
            return None

    def close(self) -> None:
        """Release the registry's connections."""
        self._schemas.close()

    def _objects(self, ids: list[int], bodies: list[bytes]) -> Objects:
        readings = {id: self._reading(self._schemas.schema_of(id)) for id in dict.fromkeys(ids) if id >= 0}
        rows = list(zip(ids, bodies, strict=True))
        schemas = [readings[id].schema if id >= 0 else None for id in ids]
        return Objects(schemas, [readings[id].value(body) if id >= 0 else None for id, body in rows])

    def _frame(self, topic: str | None, schema: Schema) -> tuple[bytes, RegisteredSchema]:
        text = self._texts.get(schema)
        if text is None:
            written = from_connect_schema(schema, self._settings, self._writer)
            text = self._texts.put(schema, SchemaText(SchemaKind.JSON, written))
        return self._schemas.to_write(topic or "", text, _record_name(schema))

    def _reading(self, registered: RegisteredSchema) -> _Reading:
        key = _key(registered)
        known = self._readings.get(key)
        if known is not None:
            return known
        try:
            reading = self._read_with(registered)
        except MissingLibraryError:
            raise
        except ConnectError as error:
            raise DataError(f"JSON Schema {registered.id} cannot be read as Connect's: {error}") from error
        return self._readings.put(key, reading)

    def _read_with(self, registered: RegisteredSchema) -> _Reading:
        if registered.schema.kind is not SchemaKind.JSON:
            raise DataError(f"it is of type {registered.schema.kind.value}")
        document = load_document(registered.schema, registered.resolved, self._settings.ignore_modern_dialects)
        schema = to_connect_schema(document, registered.version, self._settings)
        check = self._check(registered) if self._settings.validate else None
        return _Reading(schema, reader(schema), check)

    def _check(self, registered: RegisteredSchema) -> Check:
        key = _key(registered)
        known = self._checks.get(key)
        return known or self._checks.put(key, checker(registered.schema, registered.resolved))


def _key(registered: RegisteredSchema) -> tuple[Any, ...]:
    return registered.id, registered.guid, registered.subject, registered.version


def _record_name(schema: Schema) -> str | None:
    return None if schema.optional and schema.type is SchemaType.STRUCT else schema.name
