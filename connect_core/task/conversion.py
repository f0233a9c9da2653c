"""Conversion between bytes in Kafka and Connect data: whole batches, or records one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Data, Objects
from connect_core.api.convert import Converter, HeaderConverter
from connect_core.api.data import OPTIONAL_BYTES_SCHEMA, Schema, SchemaAndValue
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord
from connect_core.errors import ConnectError
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.task.frame_headers import moved, moved_batch, restored
from connect_core.task.pipeline import place_of
from connect_core.task.tolerance import Place, Stage, Step, Tolerance, class_name

__all__ = ["Converters", "Produced"]


_Content = tuple[bytes | None, bytes | None]
_Read = tuple[SchemaAndValue, SchemaAndValue, Headers]
_Written = tuple[bytes | None, bytes | None, RawHeaders]


@dataclass(frozen=True, slots=True)
class Produced:
    """A batch as bytes, ready to produce; skipped rows are absent from ``batch``.

    keys, values: binary or large_binary, null = Kafka null.
    """

    batch: Batch
    keys: pa.Array
    values: pa.Array
    headers: Sequence[RawHeaders] | None


@dataclass(slots=True)
class Converters:
    """The key, value and header converter of a task."""

    key: Converter
    value: Converter
    header: HeaderConverter
    tolerance: Tolerance
    fallbacks: int = 0

    def to_connect(self, raw: RawBatch) -> Batch:
        """Return the Connect data of a raw batch; rows that cannot be read are absent."""
        raw = restored(raw, self.key, self.value)
        topic = _constant(raw.topic, len(raw.value))
        key = _read(self.key, topic, raw.key)
        value = _read(self.value, topic, raw.value)
        if key is None or value is None:
            self.fallbacks += 1
            return self._records_to_connect(raw, topic)
        batch = _batch(raw, topic, (key, value))
        if raw.headers is None:
            return batch
        try:
            return replace(batch, headers=tuple(self._read_headers(raw.topic, one or ()) for one in raw.headers))
        except Exception:
            return self._records_to_connect(raw, topic)

    def from_connect(self, batch: Batch) -> Produced:
        """Return the bytes of a batch; rows that cannot be written are absent."""
        written = self._written(batch)
        keys, headers = moved_batch(self.key, written.keys, written.headers)
        values, headers = moved_batch(self.value, written.values, headers)
        return Produced(written.batch, keys, values, headers)

    def write(self, record: ConnectRecord) -> tuple[bytes | None, bytes | None, RawHeaders]:
        """Return key, value and headers of one record as bytes. Raises what a converter raises."""
        topic = record.topic
        headers = self.write_headers(topic, record.headers)
        key = self.key.from_connect_data(topic, record.key_schema, record.key)
        value = self.value.from_connect_data(topic, record.value_schema, record.value)
        key, headers = moved(self.key.frame_header, key, headers)
        value, headers = moved(self.value.frame_header, value, headers)
        return key, value, headers

    def _written(self, batch: Batch) -> Produced:
        keys = _write(self.key, batch.topic, batch.key)
        values = _write(self.value, batch.topic, batch.value)
        if keys is None or values is None:
            self.fallbacks += 1
            return self._records_from_connect(batch)
        if batch.headers is None:
            return Produced(batch, keys, values, None)
        try:
            headers = list(self._header_rows(batch.topic.to_pylist(), batch.headers))
        except Exception:
            return self._records_from_connect(batch)
        return Produced(batch, keys, values, headers)

    def close(self) -> None:
        """Close all three."""
        self.key.close()
        self.value.close()
        self.header.close()

    def _records_to_connect(self, raw: RawBatch, topic: pa.Array) -> Batch:
        kept: list[int] = []
        rows: list[_Read] = []
        contents = zip(raw.key.to_pylist(), raw.value.to_pylist(), strict=True)
        for row, content in enumerate(contents):
            read = self._read_row(raw, row, content)
            if read is not None:
                kept.append(row)
                rows.append(read)
        data = _objects([row[0] for row in rows]), _objects([row[1] for row in rows])
        batch = _batch(raw, topic, data, kept)
        return batch if raw.headers is None else replace(batch, headers=tuple(row[2] for row in rows))

    def _read_row(self, raw: RawBatch, row: int, content: _Content) -> _Read | None:
        key, value = content
        headers = (raw.headers[row] if raw.headers else None) or ()
        try:
            return (
                self.key.to_connect_data(raw.topic, key),
                self.value.to_connect_data(raw.topic, value),
                self._read_headers(raw.topic, headers),
            )
        except Exception:
            return self._read_guarded(raw, row, content)

    def _read_guarded(self, raw: RawBatch, row: int, content: _Content) -> _Read | None:
        """Read a row again, part by part, to find the part that fails."""
        key, value = content
        headers = (raw.headers[row] if raw.headers else None) or ()
        place = Place(raw.topic, raw.partition[row].as_py(), raw.offset[row].as_py(), row)
        parts: _Read | None = self._parts(
            place,
            None,
            partial(self.key.to_connect_data, raw.topic, key),
            partial(self.value.to_connect_data, raw.topic, value),
            partial(self._read_headers, raw.topic, headers),
        )
        return parts

    def _records_from_connect(self, batch: Batch) -> Produced:
        kept: list[int] = []
        written: list[_Written] = []
        for row, record in enumerate(batch.to_records()):
            done = self._write_row(record, batch, row)
            if done is not None:
                kept.append(row)
                written.append(done)
        rows = batch if len(kept) == len(batch) else batch.take(pa.array(kept, pa.int64()))
        # large_binary: Arrow would split an array of the other type into chunks if it does not fit.
        keys, values = (pa.array([one[place] for one in written], pa.large_binary()) for place in (0, 1))
        headers = [one[2] for one in written]
        return Produced(rows, keys, values, headers if any(headers) else None)

    def _write_row(self, record: ConnectRecord, batch: Batch, row: int) -> _Written | None:
        topic = record.topic
        try:
            return (
                self.key.from_connect_data(topic, record.key_schema, record.key),
                self.value.from_connect_data(topic, record.value_schema, record.value),
                self.write_headers(topic, record.headers),
            )
        except Exception:
            parts: _Written | None = self._parts(
                place_of(record, batch.origin[row].as_py()),
                record,
                partial(self.key.from_connect_data, topic, record.key_schema, record.key),
                partial(self.value.from_connect_data, topic, record.value_schema, record.value),
                partial(self.write_headers, topic, record.headers),
            )
            return parts

    def _parts(self, place: Place, record: ConnectRecord | None, *operations: Callable[[], Any]) -> Any:
        """Return what the operations on key, value and headers give; ``None`` if the record is skipped."""
        parts: list[Any] = []
        for (stage, converter), operation in zip(self._stages(), operations, strict=True):
            found = self.tolerance.attempt(Step(stage, converter, place, record), operation)
            if not found.is_done:
                return None
            parts.append(found.result)
        return tuple(parts)

    def _stages(self) -> tuple[tuple[Stage, object], ...]:
        return (
            (Stage.KEY_CONVERTER, self.key),
            (Stage.VALUE_CONVERTER, self.value),
            (Stage.HEADER_CONVERTER, self.header),
        )

    def _read_headers(self, topic: str, raw: RawHeaders) -> Headers:
        headers = Headers()
        frames = {one.frame_header.name for one in (self.key, self.value) if one.frame_header}
        for key, value in raw:
            if key in frames:
                # Its value is not text, which the header converter would expect.
                headers.add_schema_and_value(key, SchemaAndValue(OPTIONAL_BYTES_SCHEMA, value))
                continue
            headers.add_schema_and_value(key, self.header.to_connect_header(topic, key, value))
        return headers

    def _header_rows(self, topics: Sequence[str | None], headers: Sequence[Headers]) -> Iterator[RawHeaders]:
        """Yield the bytes of each row's headers; neighbours that share theirs are written once."""
        before: tuple[str | None, Headers] | None = None
        written: RawHeaders = ()
        for topic, one in zip(topics, headers, strict=True):
            if before is None or one is not before[1] or topic != before[0]:
                written, before = self.write_headers(topic, one), (topic, one)
            yield written

    def write_headers(self, topic: str | None, headers: Headers) -> RawHeaders:
        """Return the bytes of a record's headers. Raises what the converter raises."""
        return [(one.key, self.header.from_connect_header(topic, one.key, one.schema, one.value)) for one in headers]


def _constant(topic: str, length: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), length), pa.array([topic]))


def _read(converter: Converter, topic: pa.Array, values: pa.BinaryArray) -> Data | None:
    try:
        return converter.to_connect_batch(topic, values)
    except Exception:
        # Whatever the error, the record lane meets it again and reports the record.
        return None


def _write(converter: Converter, topic: pa.Array, data: Data) -> pa.Array | None:
    try:
        found = converter.from_connect_batch(topic, data)
        column = None if found is None else _as_bytes(found)
    except Exception:
        # Whatever the error, the record lane meets it again and reports the record.
        return None
    if column is not None and len(column) != len(topic):
        raise ConnectError(
            f"{class_name(converter)}.from_connect_batch returned {len(column)} rows for {len(topic)}; one each is "
            "needed"
        )
    return column


def _as_bytes(column: pa.Array) -> pa.Array | None:
    """Return a column of bytes or text as the writer takes it, ``None`` for any other type."""
    if column.type in (pa.binary(), pa.large_binary()):
        return column
    is_text = column.type in (pa.string(), pa.large_string())
    return column.cast(pa.binary()) if is_text or pa.types.is_fixed_size_binary(column.type) else None


def _objects(data: list[SchemaAndValue]) -> Data:
    schemas: list[Schema | None] = [one.schema for one in data]
    objects = Objects(schemas, [one.value for one in data])
    return objects.to_columns() or objects


def _batch(raw: RawBatch, topic: pa.Array, data: tuple[Data, Data], rows: list[int] | None = None) -> Batch:
    """Return the batch of key and value ``data``, of all raw rows or of the given rows."""
    chosen = pa.array(np.arange(len(topic)) if rows is None else rows, pa.int64())
    some = topic, raw.partition, raw.offset, raw.timestamp
    topic, partition, offset, timestamp = some if rows is None else [column.take(chosen) for column in some]
    return Batch(topic, partition, offset, timestamp, chosen, *data, timestamp_type=raw.timestamp_type)
