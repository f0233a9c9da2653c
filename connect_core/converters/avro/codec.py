"""Cached translations of schemas: the readers and writers of the messages of one schema."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from connect_core.api.data import Schema, SchemaType
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.read.bodies import Unreadable
from connect_core.converters.avro.read.columns import ColumnReader, column_reader
from connect_core.converters.avro.read.values import body_reader
from connect_core.converters.avro.schemas.from_connect import avro_schema
from connect_core.converters.avro.schemas.model import AvroKind, AvroType
from connect_core.converters.avro.schemas.parsing import parse_registered
from connect_core.converters.avro.schemas.rendering import render_avro
from connect_core.converters.avro.schemas.to_connect import connect_schema
from connect_core.converters.avro.write.columns import column_writer
from connect_core.converters.avro.write.leaves import PieceWriter
from connect_core.converters.avro.write.pieces import Unwritable
from connect_core.converters.avro.write.values import body_writer
from connect_core.converters.bounded_cache import BoundedCache
from connect_core.errors import DataError
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaText

__all__ = ["Codec", "Readable", "Writable", "Written"]

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")
"""The result of translating a schema."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A registered schema, for reading messages."""

    avro: AvroType
    schema: Schema | None
    read: Callable[[bytes], Any]
    columns: ColumnReader | None
    """``None`` if columns cannot hold the values."""


@dataclass(frozen=True, slots=True)
class Writable:
    """A Connect schema, to be registered."""

    avro: AvroType
    text: SchemaText
    record_name: str | None


@dataclass(frozen=True, slots=True)
class Written:
    """A Connect schema and the registered schema with which its values are written."""

    avro: AvroType
    write: Callable[[Any], bytes]
    columns: PieceWriter | None
    """Writes the rows that are not Kafka nulls; ``None`` if they are written record by record."""


class Codec:
    """Translates schemas; the cache size of each kind of translation is a setting.

    Errors are cached, too: a million messages may have the same bad schema.
    """

    def __init__(self, settings: AvroSettings) -> None:
        self.settings = settings
        size = settings.cache_size
        self._readable: BoundedCache[tuple[SchemaText, int | None], Readable | DataError] = BoundedCache(size)
        self._writable: BoundedCache[Schema | None, Writable | DataError] = BoundedCache(size)
        self._written: BoundedCache[tuple[Schema | None, SchemaText], Written | DataError] = BoundedCache(size)

    def readable(self, registered: RegisteredSchema) -> Readable:
        """Return the reader of a registered schema's messages. Raise DataError for a schema that cannot be read."""
        key = registered.schema, registered.version
        return _remembered(self._readable, key, lambda: self._make_readable(registered))

    def _make_readable(self, registered: RegisteredSchema) -> Readable:
        avro = parse_registered(registered)
        schema = connect_schema(avro, self.settings, registered.version)
        return Readable(avro, schema, body_reader(avro, schema, self.settings), self._columns(avro, schema))

    def _columns(self, avro: AvroType, schema: Schema | None) -> ColumnReader | None:
        try:
            return column_reader(avro, schema, self.settings)
        except Unreadable:
            return None

    def _pieces(self, schema: Schema | None, avro: AvroType) -> PieceWriter | None:
        try:
            return column_writer(schema, avro, self.settings)
        except Unwritable:
            return None

    def writable(self, schema: Schema | None) -> Writable:
        """Return the Avro schema of a Connect schema. Raise DataError for one that Avro cannot express."""
        return _remembered(self._writable, schema, lambda: self._make_writable(schema))

    def _make_writable(self, schema: Schema | None) -> Writable:
        avro = avro_schema(schema, self.settings)
        return Writable(avro, SchemaText(SchemaKind.AVRO, render_avro(avro)), _record_name(avro, schema))

    def written(self, schema: Schema | None, own: Writable, registered: RegisteredSchema) -> Written:
        """Return the writer of values with a registered schema. Raise DataError if it can write none of them."""
        key = schema, registered.schema
        return _remembered(self._written, key, lambda: self._make_written(schema, own, registered))

    def _make_written(self, schema: Schema | None, own: Writable, registered: RegisteredSchema) -> Written:
        avro = own.avro if registered.schema == own.text else parse_registered(registered)
        return Written(avro, body_writer(schema, avro, self.settings), self._pieces(schema, avro))


def _remembered(cache: BoundedCache[Key, Made | DataError], key: Key, make: Callable[[], Made]) -> Made:
    found = cache.get(key)
    if found is None:
        found = cache.put(key, _made(make))
    if isinstance(found, DataError):
        raise DataError(str(found)) from found
    return found


def _made(make: Callable[[], Made]) -> Made | DataError:
    try:
        return make()
    except DataError as error:
        return error


def _record_name(avro: AvroType, schema: Schema | None) -> str | None:
    if schema is None:
        return "io.confluent.connect.avro.Anything"
    is_record = avro.kind is AvroKind.RECORD and schema.type is SchemaType.STRUCT
    return avro.name if is_record else None
