"""Batches: the columnar form in which records flow.

The two lanes are equivalent: a batch and the records made of it are the same
data, and a stage that cannot process a batch as it would process records
returns ``None`` so that the engine falls back to records *for that batch*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.arrow import to_arrow_array, to_python
from connect_core.api.data import Schema
from connect_core.api.headers import Headers
from connect_core.api.offsets import canonical, checked_map
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord, TimestampType

__all__ = ["Batch", "Columns", "Data", "LazyOffsets", "Objects", "Offsets", "SourcePositions"]


@dataclass(frozen=True, slots=True)
class Objects:
    """Keys or values as Python objects: ``schemas[i]`` describes ``values[i]``."""

    schemas: Sequence[Schema | None]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def to_objects(self) -> Objects:
        """Return this object."""
        return self

    def take(self, rows: pa.Array) -> Objects:
        """Return the given rows (int64 indices), in that order."""
        wanted = rows.to_pylist()
        return Objects([self.schemas[row] for row in wanted], [self.values[row] for row in wanted])

    def to_columns(self) -> Columns | None:
        """Return the same data as one Arrow array, or ``None`` if that is impossible.

        All rows must share one schema. Schemaless values must all be null or
        all maps with the same keys in the same order and one type per key.
        """
        if not self.values:
            return Columns(None, pa.nulls(0))
        schema = self.schemas[0]
        if any(other is not schema and other != schema for other in self.schemas):
            return None
        array = to_arrow_array(schema, self.values)
        return None if array is None else Columns(schema, array)


@dataclass(frozen=True, slots=True)
class Columns:
    """Keys or values as one Arrow array (a struct array for structs and maps).

    ``schema=None`` is schemaless data: allowed only when every row has the same
    keys in the same order and one type per key; a null row is a null value.
    """

    schema: Schema | None
    array: pa.Array

    def __len__(self) -> int:
        return len(self.array)

    def to_objects(self) -> Objects:
        """Return the same data as Python objects."""
        return Objects([self.schema] * len(self.array), to_python(self.schema, self.array))

    def take(self, rows: pa.Array) -> Columns:
        """Return the given rows (int64 indices), in that order."""
        return Columns(self.schema, self.array.take(rows))

    def to_columns(self) -> Columns:
        """Return this object."""
        return self


Data = Objects | Columns
"""The keys or the values of a batch."""


@dataclass(frozen=True, slots=True)
class LazyOffsets:
    """Source offsets that are computed on demand, since most are never used.

    rows: the data they are computed from, one row each; of_rows: computes the offsets of some of these rows.
    """

    rows: pa.Table
    of_rows: Callable[[pa.Table], Sequence[Mapping[str, Any] | None]]

    def __getitem__(self, row: int) -> Mapping[str, Any] | None:
        return self.of_rows(self.rows.slice(row, 1))[0]

    def take(self, rows: pa.Array) -> LazyOffsets:
        """Return the offsets of the given rows (int64 indices), in that order."""
        return replace(self, rows=self.rows.take(rows))

    def to_pylist(self) -> list[Mapping[str, Any] | None]:
        """Return all of them."""
        return list(self.of_rows(self.rows))


Offsets: TypeAlias = pa.StructArray | LazyOffsets | tuple[Mapping[str, Any] | None, ...]
"""Source offsets of some rows: a struct array (one field per key), lazy offsets, or the maps themselves."""


@dataclass(frozen=True, slots=True)
class SourcePositions:
    """The position of each row of a source batch in the source system.

    ``partitions`` is the small table of source partitions, ``partition`` an
    int32 array of indices into it.
    """

    partitions: tuple[Mapping[str, Any], ...]
    partition: pa.Array
    offset: Offsets

    def take(self, rows: pa.Array) -> SourcePositions:
        """Return the positions of the given rows."""
        given = self.offset
        offset = tuple(given[row] for row in rows.to_pylist()) if isinstance(given, tuple) else given.take(rows)
        return replace(self, partition=self.partition.take(rows), offset=offset)

    def joined(self, other: SourcePositions) -> SourcePositions:
        """Return the positions of two parts of one batch."""
        partition = pa.concat_arrays([self.partition, other.partition])
        return replace(self, partition=partition, offset=_joined(self.offset, other.offset))

    def at(self, row: int) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
        """Return the source partition and offset of one row."""
        offset = self.offset[row]
        return self.partitions[self.partition[row].as_py()], offset.as_py() if isinstance(offset, pa.Scalar) else offset

    def offsets(self) -> Sequence[Mapping[str, Any] | None]:
        """Return the source offset of every row."""
        return _maps(self.offset)

    def to_list(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the source partition and offset of every row."""
        places = zip(self.partition.to_pylist(), self.offsets(), strict=True)
        return [(self.partitions[index], offset) for index, offset in places]

    def last(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
        """Return the last row's position of each source partition that occurs."""
        numbers = self.partition.to_numpy()[::-1]
        _, ends = np.unique(numbers, return_index=True)
        return [self.at(len(numbers) - 1 - int(end)) for end in ends]


def _joined(left: Offsets, right: Offsets) -> Offsets:
    if isinstance(left, pa.Array) and isinstance(right, pa.Array):
        return pa.concat_arrays([left, right])
    if isinstance(left, LazyOffsets) and isinstance(right, LazyOffsets) and left.of_rows is right.of_rows:
        return replace(left, rows=pa.concat_tables([left.rows, right.rows]))
    return (*_maps(left), *_maps(right))


def _maps(offsets: Offsets) -> Sequence[Mapping[str, Any] | None]:
    return offsets if isinstance(offsets, tuple) else list(offsets.to_pylist())


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one task as columns of equal length.

    topic: string or dictionary<string>; partition: int32, null = chosen by the
    partitioner; offset: int64, null for sources; timestamp: int64 milliseconds,
    null = none; timestamp_type: one value per batch; headers: one ``Headers`` per
    row, ``None`` when no row has any; origin: int64, the row of the original
    input that this row came from.
    """

    topic: pa.Array
    partition: pa.Array
    offset: pa.Array
    timestamp: pa.Array
    origin: pa.Array
    key: Data
    value: Data
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    headers: tuple[Headers, ...] | None = None
    positions: SourcePositions | None = field(default=None)
    original: tuple[pa.Array, pa.Array] | None = None
    """Topic and partition as read from Kafka, once a transform has changed them."""
    read_time: int | None = None
    """When a source task read the rows, in milliseconds. The producer may send a row that has this timestamp with its
    own time, which is faster; a stage that copies timestamps elsewhere sets it to ``None``, so that they stay equal."""

    def __len__(self) -> int:
        return len(self.origin)

    def take(self, rows: pa.Array) -> Batch:
        """Return the given rows (int64 indices), in that order."""
        return replace(
            self,
            topic=self.topic.take(rows),
            partition=self.partition.take(rows),
            offset=self.offset.take(rows),
            timestamp=self.timestamp.take(rows),
            origin=self.origin.take(rows),
            key=self.key.take(rows),
            value=self.value.take(rows),
            headers=self.headers and tuple(self.headers[row] for row in rows.to_pylist()),
            positions=self.positions and self.positions.take(rows),
            original=self.original and (self.original[0].take(rows), self.original[1].take(rows)),
        )

    def filter(self, mask: pa.Array) -> Batch:
        """Return the rows for which the boolean ``mask`` is true."""
        return self.take(pc.indices_nonzero(mask).cast(pa.int64()))

    def with_topic(self, topic: pa.Array) -> Batch:
        """Return the batch routed to other topics, keeping topic and partition it was read from."""
        return replace(self, topic=topic, original=self.original or (self.topic, self.partition))

    def to_records(self) -> list[ConnectRecord]:
        """Return the rows as source records (with positions) or sink records."""
        key, value = self.key.to_objects(), self.value.to_objects()
        shared: Iterable[Any] = zip(
            self.topic.to_pylist(),
            self.partition.to_pylist(),
            key.schemas,
            key.values,
            value.schemas,
            value.values,
            self.timestamp.to_pylist(),
            [headers.duplicate() for headers in self.headers] if self.headers else [Headers() for _ in self.origin],
            strict=True,
        )
        if self.positions is not None:
            places: Iterable[Any] = self.positions.to_list()
            return [SourceRecord(*fields, *place) for fields, place in zip(shared, places, strict=True)]
        return [SinkRecord(*fields, *read) for fields, read in zip(shared, self._reads(), strict=True)]

    def _reads(self) -> Iterable[Any]:
        """Return the columns that only sink records have: offset, timestamp type, original topic and partition."""
        topic, partition = self.original or (self.topic, self.partition)
        kinds = repeat(self.timestamp_type)
        return zip(self.offset.to_pylist(), kinds, topic.to_pylist(), partition.to_pylist(), strict=False)

    @classmethod
    def from_records(cls, records: Sequence[ConnectRecord], origin: Iterable[int] | None = None) -> Batch:
        """Return records of one kind as a batch of objects; ``origin`` defaults to 0…n-1."""
        sinks = [record for record in records if isinstance(record, SinkRecord)]
        offsets: list[int | None] = [record.kafka_offset for record in sinks]
        return cls(
            topic=pa.array([record.topic for record in records], pa.string()),
            partition=pa.array([record.kafka_partition for record in records], pa.int32()),
            offset=pa.array(offsets or [None] * len(records), pa.int64()),
            timestamp=pa.array([record.timestamp for record in records], pa.int64()),
            origin=pa.array(list(origin) if origin is not None else range(len(records)), pa.int64()),
            key=Objects([record.key_schema for record in records], [record.key for record in records]),
            value=Objects([record.value_schema for record in records], [record.value for record in records]),
            timestamp_type=sinks[0].timestamp_type if sinks else TimestampType.CREATE_TIME,
            headers=tuple(record.headers for record in records) if any(map(_has_headers, records)) else None,
            positions=None if sinks else _positions(records),
            original=_original(sinks),
        )


def _has_headers(record: ConnectRecord) -> bool:
    return len(record.headers) > 0


def _positions(records: Sequence[ConnectRecord]) -> SourcePositions:
    """Return the positions of source records, as copies: a task may change its maps before they are committed.

    Raise DataError for a source partition or offset that cannot be committed.
    """
    partitions = _Partitions()
    index: list[int] = []
    offsets: list[Mapping[str, Any] | None] = []
    last: Any = object()
    same, kinds = last, None
    number = -1
    for record in records:
        assert isinstance(record, SourceRecord)
        partition: Any = record.source_partition
        offset = record.source_offset
        # Most follow another one of the same partition.
        if partition is not last and (partition != same or (kinds and [*map(type, partition.values())] != kinds)):
            number, last = partitions.number(partition), partition
            same, kinds = partitions.distinct[number], partitions.kinds[number]
        index.append(number)
        offsets.append(None if offset is None else checked_map(offset, "source_offset"))
    return SourcePositions(tuple(partitions.distinct), pa.array(index, pa.int32()), tuple(offsets))


@dataclass(slots=True)
class _Partitions:
    """The source partitions of a batch: those of the same content are one, in whichever order their keys are.

    ``kinds``: the types of its values, as 1 equals True and 1.0; ``None`` if all are text.
    """

    distinct: list[Mapping[str, Any]] = field(default_factory=list)
    kinds: list[list[type] | None] = field(default_factory=list)
    _shown: dict[str, int] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, partition: Mapping[str, Any] | None) -> int:
        """Return the index of a partition in ``distinct``. Raises DataError."""
        # Cheaper than canonical text, and unlike a tuple of the items it tells 1 from True and 1.0.
        shown = repr(partition)
        number = self._shown.get(shown)
        if number is None:
            copy = {} if partition is None else checked_map(partition, "source_partition")
            number = self._numbers.setdefault(canonical(copy), len(self.distinct))
            if number == len(self.distinct):
                self.distinct.append(copy)
                kinds = [*map(type, copy.values())]
                self.kinds.append(None if set(kinds) <= {str} else kinds)
            self._shown[shown] = number
        return number


def _original(records: Sequence[SinkRecord]) -> tuple[pa.Array, pa.Array] | None:
    if all(r.original_topic == r.topic and r.original_kafka_partition == r.kafka_partition for r in records):
        return None
    return (
        pa.array([record.original_topic for record in records], pa.string()),
        pa.array([record.original_kafka_partition for record in records], pa.int32()),
    )
