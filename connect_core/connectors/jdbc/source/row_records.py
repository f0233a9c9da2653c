"""Converts rows to records with their offsets, value by value."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connect_core.api.data import Schema, SchemaType, Struct
from connect_core.api.records import SourceRecord
from connect_core.connectors.jdbc.source.columns import key_schema, value_schema
from connect_core.connectors.jdbc.source.driver_values import ValueReader, value_reader
from connect_core.connectors.jdbc.source.positions import Position, plain_key
from connect_core.connectors.jdbc.source.segments import Segment
from connect_core.connectors.jdbc.source.stream import Stream
from connect_core.errors import DataError

__all__ = ["Row", "RowConverter", "row_converter", "schema_version"]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RowConverter:
    """Turns rows of a stream into records; its schemas are also used for columns."""

    stream: Stream
    partition: Mapping[str, Any]
    value_schema: Schema
    key_schema: Schema | None
    readers: tuple[ValueReader, ...]
    key_places: tuple[int, ...]
    order_places: tuple[tuple[int, ...], ...]

    def records(self, rows: Sequence[Row], offsets: Sequence[Mapping[str, Any]]) -> list[SourceRecord]:
        """Return rows as records. Raises DataError that names table, column, key and offset."""
        return [self._record(row, offset) for row, offset in zip(rows, offsets, strict=True)]

    def offsets(self, segment: Segment, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return the source offset after each row."""
        order = self.stream.order
        return [segment.offset(order, self.position(row)) for row in rows]

    def position(self, row: Row) -> Position:
        """Return a row's position in the stream's order."""
        return tuple(
            next((row[place] for place in places if row[place] is not None), None) for places in self.order_places
        )

    def _record(self, row: Row, offset: Mapping[str, Any]) -> SourceRecord:
        try:
            values = [read(value) for read, value in zip(self.readers, row, strict=True)]
        except DataError as error:
            raise DataError(f"In {self.stream.name}, {self._named(row)}at offset {dict(offset)}: {error}") from error
        key = None
        if self.key_schema is not None:
            key = Struct.of_values(self.key_schema, [values[place] for place in self.key_places])
        return SourceRecord(
            self.stream.topic,
            None,
            self.key_schema,
            key,
            self.value_schema,
            Struct.of_values(self.value_schema, values),
            source_partition=self.partition,
            source_offset=offset,
        )

    def _named(self, row: Row) -> str:
        if not self.key_places:
            return ""
        key = {self.stream.columns[place].name: plain_key(row[place]) for place in self.key_places}
        return f"key {key}, "


def row_converter(stream: Stream, version: int) -> RowConverter:
    """Return the converter of a stream whose schema has this version."""
    return RowConverter(
        stream,
        stream.name.partition(),
        value_schema(stream.title, stream.columns, version),
        key_schema(stream.title, stream.key) if stream.key else None,
        tuple(value_reader(column, stream.order.zone) for column in stream.columns),
        tuple(stream.index(column) for column in stream.key),
        tuple(tuple(stream.index(column) for column in part.columns) for part in stream.order.parts),
    )


def schema_version(stream: Stream, state: Mapping[str, str]) -> tuple[int, str]:
    """Return the version of the stream's schema, one more than the last if it has changed, and its fingerprint."""
    shape = [(column.name, _shape(column.schema)) for column in stream.columns]
    keys = [column.name for column in stream.key]
    fingerprint = hashlib.sha256(repr((shape, keys)).encode()).hexdigest()[:16]
    last = int(state.get("version") or 0)
    return (last if state.get("schema") == fingerprint and last else last + 1), fingerprint


def _shape(schema: Schema) -> tuple[Any, ...]:
    element = schema.value_schema if schema.type is SchemaType.ARRAY else None
    parameters = sorted((schema.parameters or {}).items())
    return schema.type.name, schema.name, schema.optional, parameters, element and _shape(element)
