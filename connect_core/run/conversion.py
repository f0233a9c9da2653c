"""Between bytes in Kafka and Connect data: whole batches, or records one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch, Data, Objects
from connect_core.api.convert import BatchRowError, Converter, HeaderConverter
from connect_core.api.data import Schema, SchemaAndValue
from connect_core.api.headers import Headers
from connect_core.errors import DataError
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.run.tolerance import Place, Stage, Tolerance

__all__ = ["Converters", "Produced"]


@dataclass(frozen=True, slots=True)
class Produced:
    """A batch as bytes, ready to produce; rows that were skipped are absent from ``batch``."""

    batch: Batch
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: list[RawHeaders] | None


@dataclass(slots=True)
class Converters:
    """The key, value and header converter of a task."""

    key: Converter
    value: Converter
    header: HeaderConverter
    tolerance: Tolerance
    fallbacks: int = 0

    def to_connect(self, raw: RawBatch) -> Batch:
        """Return what a raw batch means; rows that cannot be read are absent."""
        topic = _constant(raw.topic, len(raw.value))
        key = _read(self.key, topic, raw.key)
        value = _read(self.value, topic, raw.value)
        if key is None or value is None:
            self.fallbacks += 1
            return self._records_to_connect(raw, topic)
        batch = _batch(raw, topic, (key, value))
        if raw.headers is None:
            return batch
        return replace(batch, headers=tuple(self._read_headers(raw.topic, one or ()) for one in raw.headers))

    def from_connect(self, batch: Batch) -> Produced:
        """Return the bytes of a batch; rows that cannot be written are absent."""
        keys = _write(self.key, batch.topic, batch.key)
        values = _write(self.value, batch.topic, batch.value)
        if keys is None or values is None:
            self.fallbacks += 1
            return self._records_from_connect(batch)
        headers = batch.headers and [
            self._write_headers(topic, one) for topic, one in zip(batch.topic.to_pylist(), batch.headers, strict=True)
        ]
        return Produced(batch, keys, values, headers or None)

    def close(self) -> None:
        """Close all three."""
        self.key.close()
        self.value.close()
        self.header.close()

    def _records_to_connect(self, raw: RawBatch, topic: pa.Array) -> Batch:
        partitions, offsets = raw.partition.to_pylist(), raw.offset.to_pylist()
        kept: list[int] = []
        keys: list[SchemaAndValue] = []
        values: list[SchemaAndValue] = []
        headers: list[Headers] = []
        for row in range(len(raw.value)):
            done = self._read_row(raw, row, Place(raw.topic, partitions[row], offsets[row], row))
            if done is not None:
                kept.append(row)
                keys.append(done[0])
                values.append(done[1])
                headers.append(done[2])
        batch = _batch(raw, topic, (_objects(keys), _objects(values)), kept)
        return batch if raw.headers is None else replace(batch, headers=tuple(headers))

    def _read_row(self, raw: RawBatch, row: int, place: Place) -> tuple[SchemaAndValue, SchemaAndValue, Headers] | None:
        attempt = self.tolerance.attempt
        read = (
            (Stage.KEY_CONVERTER, self.key, lambda: self.key.to_connect_data(raw.topic, raw.key[row])),
            (Stage.VALUE_CONVERTER, self.value, lambda: self.value.to_connect_data(raw.topic, raw.value[row])),
            (
                Stage.HEADER_CONVERTER,
                self.header,
                lambda: self._read_headers(raw.topic, (raw.headers[row] if raw.headers else None) or ()),
            ),
        )
        parts: list[Any] = []
        for stage, converter, operation in read:
            done, part = attempt(operation, stage, converter, place)
            if not done:
                return None
            parts.append(part)
        return parts[0], parts[1], parts[2]

    def _records_from_connect(self, batch: Batch) -> Produced:
        kept: list[int] = []
        keys: list[bytes | None] = []
        values: list[bytes | None] = []
        headers: list[RawHeaders] = []
        attempt = self.tolerance.attempt
        for row, record in enumerate(batch.to_records()):
            place = Place(record.topic, record.kafka_partition, None, row)
            key_done, key = attempt(
                lambda r=record: self.key.from_connect_data(r.topic, r.key_schema, r.key),  # type: ignore[misc]
                Stage.KEY_CONVERTER,
                self.key,
                place,
            )
            value_done, value = attempt(
                lambda r=record: self.value.from_connect_data(r.topic, r.value_schema, r.value),  # type: ignore[misc]
                Stage.VALUE_CONVERTER,
                self.value,
                place,
            )
            if key_done and value_done:
                kept.append(row)
                keys.append(key)
                values.append(value)
                headers.append(self._write_headers(record.topic, record.headers))
        rows = batch if len(kept) == len(batch) else batch.take(pa.array(kept, pa.int64()))
        return Produced(rows, keys, values, headers if any(headers) else None)

    def _read_headers(self, topic: str, raw: RawHeaders) -> Headers:
        headers = Headers()
        for key, value in raw:
            headers.add_schema_and_value(key, self.header.to_connect_header(topic, key, value))
        return headers

    def _write_headers(self, topic: str | None, headers: Headers) -> RawHeaders:
        return [(one.key, self.header.from_connect_header(topic, one.key, one.schema, one.value)) for one in headers]


def _constant(topic: str, length: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), length), pa.array([topic]))


def _read(converter: Converter, topic: pa.Array, values: Sequence[bytes | None]) -> Data | None:
    try:
        return converter.to_connect_batch(topic, values)
    except (BatchRowError, DataError, pa.ArrowException):
        return None


def _write(converter: Converter, topic: pa.Array, data: Data) -> list[bytes | None] | None:
    try:
        return converter.from_connect_batch(topic, data)
    except (BatchRowError, DataError, pa.ArrowException):
        return None


def _objects(data: list[SchemaAndValue]) -> Data:
    schemas: list[Schema | None] = [one.schema for one in data]
    objects = Objects(schemas, [one.value for one in data])
    return objects.to_columns() or objects


def _batch(raw: RawBatch, topic: pa.Array, data: tuple[Data, Data], rows: list[int] | None = None) -> Batch:
    """Return the batch of key and value ``data``, of all raw rows or of the given ones."""
    chosen = pa.array(range(len(topic)) if rows is None else rows, pa.int64())
    some = topic, raw.partition, raw.offset, raw.timestamp
    topic, partition, offset, timestamp = some if rows is None else [column.take(chosen) for column in some]
    return Batch(topic, partition, offset, timestamp, chosen, *data, timestamp_type=raw.timestamp_type)
