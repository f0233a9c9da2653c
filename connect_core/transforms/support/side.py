"""The side of a record, key or value, that a transform works on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from connect_core.api.arrow.scalars import scalar_column
from connect_core.api.batch import Batch, Columns, Data, Objects
from connect_core.api.data import Schema
from connect_core.api.records import Record, SinkRecord, SourceRecord

__all__ = ["KEY", "VALUE", "Side"]


class Side(Protocol):
    """Reads and replaces one side of records and batches."""

    def schema(self, record: Record) -> Schema | None:
        """Return the schema of this side."""

    def value(self, record: Record) -> Any:
        """Return the data of this side."""

    def changed(self, record: Record, schema: Schema | None, value: Any) -> Record:
        """Return the record with other data on this side."""

    def columns(self, batch: Batch) -> Columns | None:
        """Return this side as columns, or ``None`` if that is impossible."""

    def with_data(self, batch: Batch, data: Data) -> Batch:
        """Return the batch with other data on this side."""


class _Key:
    def schema(self, record: Record) -> Schema | None:
        return record.key_schema

    def value(self, record: Record) -> Any:
        return record.key

    def changed(self, record: Record, schema: Schema | None, value: Any) -> Record:
        copy: Record = _copy(record, schema, value, record.value_schema, record.value)
        return copy

    def columns(self, batch: Batch) -> Columns | None:
        return _columns(batch.key)

    def with_data(self, batch: Batch, data: Data) -> Batch:
        return replace(batch, key=data)


class _Value:
    def schema(self, record: Record) -> Schema | None:
        return record.value_schema

    def value(self, record: Record) -> Any:
        return record.value

    def changed(self, record: Record, schema: Schema | None, value: Any) -> Record:
        copy: Record = _copy(record, record.key_schema, record.key, schema, value)
        return copy

    def columns(self, batch: Batch) -> Columns | None:
        return _columns(batch.value)

    def with_data(self, batch: Batch, data: Data) -> Batch:
        return replace(batch, value=data)


def _columns(data: Data) -> Columns | None:
    columns = data.to_columns()
    if columns is not None or not isinstance(data, Objects) or any(schema is not None for schema in data.schemas):
        return columns
    column = scalar_column(data.values)
    return None if column is None else Columns(None, column)


KEY: Side = _Key()
VALUE: Side = _Value()


def _copy(record: Any, key_schema: Schema | None, key: Any, value_schema: Schema | None, value: Any) -> Any:
    # A constructor call takes a third of the time of dataclasses.replace, and this runs once per record.
    kind = type(record)
    topic, partition, time, headers = record.topic, record.kafka_partition, record.timestamp, record.headers.duplicate()
    if kind is SinkRecord:
        read = (record.kafka_offset, record.timestamp_type, record.original_topic, record.original_kafka_partition)
        return SinkRecord(topic, partition, key_schema, key, value_schema, value, time, headers, *read)
    if kind is SourceRecord:
        came = (record.source_partition, record.source_offset)
        return SourceRecord(topic, partition, key_schema, key, value_schema, value, time, headers, *came)
    return replace(record, key_schema=key_schema, key=key, value_schema=value_schema, value=value, headers=headers)
