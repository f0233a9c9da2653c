"""Batches in the form that crosses to and from a host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from connect_core.api.batch import Batch, Columns, Data, LazyOffsets, SourcePositions
from connect_core.api.data import OPTIONAL_BYTES_SCHEMA
from connect_core.api.flow import RowFailure
from connect_core.api.headers import Headers
from connect_core.java_host.columns import (
    binary_buffers,
    numbers_buffers,
    read_array,
    read_binary,
    read_data,
    read_headers,
    topic_numbers,
    write_data,
    write_headers,
)
from connect_core.java_host.errors import java_error
from connect_core.java_host.frames import Frame
from connect_core.java_host.schemas import SchemaNumbers

__all__ = ["PolledFrame", "failures_of", "read_changed", "write_batch", "write_raw", "write_values"]

Json = Any


def failures_of(told: Sequence[Json] | None) -> list[RowFailure]:
    """Return the rows that failed in a host; a stage's number is relative to the part that was taken over."""
    return [
        RowFailure(
            one["row"],
            int(one["stage"]) if one["stage"].isdigit() else one["stage"],
            java_error(one["error"]),
            one["attempts"],
        )
        for one in told or ()
    ]


@dataclass(frozen=True, slots=True)
class PolledFrame:
    """A host's response to a poll: the polled rows, and the rows left after the Java stages."""

    frame: Frame
    schemas: SchemaNumbers
    is_converted: bool

    def batches(self) -> tuple[Batch, Batch]:
        """Return the polled rows, with only their positions in the source, and the rows that are left."""
        header, buffers = self.frame.header, self.frame.iterate()
        self.schemas.receive(header)
        positions = self._positions(header, buffers)
        count = header["polled"]
        nothing = Columns(None, pa.nulls(count))
        polled = Batch(
            topic=pa.nulls(count, pa.string()),
            partition=pa.nulls(count, pa.int32()),
            offset=pa.nulls(count, pa.int64()),
            timestamp=pa.nulls(count, pa.int64()),
            origin=_range(count),
            key=nothing,
            value=nothing,
            positions=positions,
        )
        return polled, self._left(polled, buffers)

    def _positions(self, header: Json, buffers: Iterator[pa.Buffer]) -> SourcePositions:
        count, known = header["polled"], dict(header["offsets"])
        numbers = (
            read_array(pa.int32(), count, iter([pa.py_buffer(b""), next(buffers)]))
            if header.get("hasPartitions")
            else pa.array(np.zeros(count, np.int32))
        )
        rows = pa.table({"row": _range(count)})
        lazy = LazyOffsets(rows, lambda some: [known.get(row) for row in some.column(0).to_pylist()])
        return SourcePositions(tuple(header["partitions"]), numbers, lazy)

    def _left(self, polled: Batch, buffers: Iterator[pa.Buffer]) -> Batch:
        header = self.frame.header
        count = header["rows"]
        topic = _topics(header["topics"], next(buffers), count)
        origin = _ints(next(buffers), count).cast(pa.int64()) if header.get("hasOrigin") else _range(count)
        partition = pa.nulls(count, pa.int32())
        if header.get("hasKafkaPartitions"):
            numbers = np.frombuffer(next(buffers), np.int32, count)
            partition = pa.array(numbers, mask=numbers < 0)
        timestamp = pa.nulls(count, pa.int64())
        if header.get("hasTimestamps"):
            timestamp = read_array(pa.int64(), count, buffers)
        key, value = (self._data(part, count, buffers) for part in ("key", "value"))
        assert polled.positions is not None
        return Batch(
            topic=topic,
            partition=partition,
            offset=pa.nulls(count, pa.int64()),
            timestamp=timestamp,
            origin=origin,
            key=key,
            value=value,
            headers=read_headers(self.frame, count, buffers, self.schemas),
            positions=polled.positions if count == len(polled) else polled.positions.take(origin),
        )

    def _data(self, part: str, count: int, buffers: Iterator[pa.Buffer]) -> Data:
        if self.is_converted:
            return Columns(OPTIONAL_BYTES_SCHEMA, read_binary(count, buffers))
        return read_data(self.frame.header[part], count, buffers, self.schemas)


def _topics(names: list[str], buffer: pa.Buffer, count: int) -> pa.Array:
    numbers = np.frombuffer(buffer, np.int32, count)
    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=numbers < 0), pa.array(names, pa.string()))


def _ints(buffer: pa.Buffer, count: int) -> pa.Array:
    return pa.array(np.frombuffer(buffer, np.int32, count))


def _range(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64))


def write_raw(batch: Batch) -> Frame:
    """Return a sink's batch of bytes in the form that the host's converters read."""
    assert isinstance(batch.key, Columns)
    assert isinstance(batch.value, Columns)
    frame = _sink_frame(batch)
    frame.buffers += binary_buffers(batch.key.array)
    frame.buffers += binary_buffers(batch.value.array)
    headers = batch.headers
    every = [one for row in headers or () for one in row]
    if every and headers is not None:
        frame.header["headers"] = len(every)
        frame.buffers.append(np.array([len(row) for row in headers], np.int32))
        frame.buffers += binary_buffers(pa.array([one.key.encode() for one in every], pa.binary()))
        frame.buffers += binary_buffers(pa.array([one.value for one in every], pa.binary()))
    return frame


def _sink_frame(batch: Batch) -> Frame:
    topic, partition = batch.original or (batch.topic, batch.partition)
    header = {"rows": len(batch), "topic": topic[0].as_py(), "timestampType": batch.timestamp_type.value}
    frame = Frame(header)
    frame.buffers += [numbers_buffers(partition)[1], numbers_buffers(batch.offset)[1]]
    frame.buffers += numbers_buffers(batch.timestamp)
    if batch.original is not None:
        header["topics"], numbers = topic_numbers(batch.topic)
        frame.buffers.append(numbers)
    return frame


def write_values(batch: Batch, schemas: SchemaNumbers) -> Frame:
    """Return a sink's batch of values, to be put."""
    frame = _sink_frame(batch)
    _add_data(frame, batch, schemas)
    return frame


def write_batch(batch: Batch, schemas: SchemaNumbers) -> Frame:
    """Return a batch, of a source or a sink, for a chain of transforms."""
    is_sink = batch.positions is None
    topics, numbers = topic_numbers(batch.topic)
    frame = Frame({"rows": len(batch), "sink": is_sink, "topics": topics})
    frame.buffers.append(numbers)
    frame.buffers += numbers_buffers(batch.partition)
    frame.buffers += numbers_buffers(batch.timestamp)
    if is_sink:
        frame.header["timestampType"] = batch.timestamp_type.value
        frame.buffers.append(numbers_buffers(batch.offset)[1])
    _add_data(frame, batch, schemas)
    return frame


def _add_data(frame: Frame, batch: Batch, schemas: SchemaNumbers) -> None:
    frame.header["key"] = write_data(batch.key, schemas, frame.buffers)
    frame.header["value"] = write_data(batch.value, schemas, frame.buffers)
    headers: Sequence[Headers] | None = batch.headers
    write_headers(headers, schemas, frame.header, frame.buffers)
    schemas.attach(frame.header)


def read_changed(frame: Frame, given: Batch, schemas: SchemaNumbers) -> Batch:
    """Return a batch as a chain of transforms has changed it."""
    header, buffers = frame.header, frame.iterate()
    schemas.receive(header)
    count = header["rows"]
    rows = _ints(next(buffers), count).cast(pa.int64())
    topic = _topics(header["topics"], next(buffers), count)
    partition = read_array(pa.int32(), count, buffers)
    timestamp = read_array(pa.int64(), count, buffers)
    key, value = (read_data(header[part], count, buffers, schemas) for part in ("key", "value"))
    left = given if count == len(given) else given.take(rows)
    routed = left if topic.cast(pa.string()).equals(left.topic.cast(pa.string())) else left.with_topic(topic)
    return replace(
        routed,
        partition=partition,
        timestamp=timestamp,
        key=key,
        value=value,
        headers=read_headers(frame, count, buffers, schemas),
        read_time=None,
    )
