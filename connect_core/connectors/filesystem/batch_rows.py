"""Batches as rows to store: the value, and the key and place of a record if wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from connect_core.api.batch import Batch, Columns, Data, Objects
from connect_core.connectors.filesystem.columns import Kind
from connect_core.connectors.filesystem.rows import Rows, columns_of_values, kind_of_column, rows_of_array, rows_of_maps
from connect_core.errors import DataError

__all__ = ["Extras", "rows_of_batch", "uniform"]

_KEY = "_key"


@dataclass(frozen=True, slots=True)
class Extras:
    """What is stored besides the value."""

    key: bool = False
    metadata: bool = False


def uniform(batch: Batch) -> Iterator[Batch]:
    """Return the batch cut wherever the schema of key or value changes."""
    count = len(batch)
    keys = batch.key.schemas if isinstance(batch.key, Objects) else [None] * count
    values = batch.value.schemas if isinstance(batch.value, Objects) else [None] * count
    begin = 0
    for _, run in groupby(zip(keys, values, strict=True)):
        end = begin + len(list(run))
        yield batch if end - begin == count else batch.take(pa.array(range(begin, end), pa.int64()))
        begin = end


def rows_of_batch(batch: Batch, extras: Extras) -> Rows:
    """Return the rows of a uniform batch. Raises DataError."""
    data = batch.value
    rows = _of_maps(data) if _is_schemaless(data) else rows_of_array(_columns(data))
    if extras.key:
        rows = rows.with_column(_KEY, *_key_column(batch.key))
    return _with_metadata(rows, batch) if extras.metadata else rows


def _is_schemaless(data: Data) -> bool:
    return isinstance(data, Objects) and data.schemas[0] is None


def _of_maps(data: Data) -> Rows:
    values = data.to_objects().values
    return rows_of_maps(values, columns_of_values(values))


def _columns(data: Data) -> Columns:
    columns = data.to_columns()
    if columns is None:
        raise DataError("a value or key does not fit a column of its schema's type")
    return columns


def _key_column(data: Data) -> tuple[Kind, pa.Array]:
    """Return the keys as one column, whatever they are."""
    if not _is_schemaless(data):
        columns = _columns(data)
        return kind_of_column(columns), columns.array
    objects = data.to_objects()
    rows = _of_maps(Objects(objects.schemas, [{_KEY: key} for key in objects.values]))
    return rows.columns[0][1], rows.arrays[0]


def _with_metadata(rows: Rows, batch: Batch) -> Rows:
    topic, partition = batch.original or (batch.topic, batch.partition)
    places = (
        ("_topic", topic.cast(pa.string())),
        ("_partition", partition),
        ("_offset", batch.offset),
        ("_timestamp", batch.timestamp.cast(pa.timestamp("ms", "UTC"))),
    )
    for name, array in places:
        rows = rows.with_column(name, str(array.type), array)
    return rows
