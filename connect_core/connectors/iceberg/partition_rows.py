"""Splits rows by the partitions of a spec."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyiceberg.partitioning import PartitionSpec, partition_record_value
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

__all__ = ["by_partition_of"]


def by_partition_of(rows: pa.Table, schema: Schema, spec: PartitionSpec) -> Iterator[tuple[Record, pa.Table]]:
    """Return the rows of each partition, in their order. The time does not depend on the number of partitions."""
    if spec.is_unpartitioned() or not len(rows):
        yield Record(), rows
        return
    coded = [_coded(rows, schema, field) for field in spec.fields]
    codes = np.stack([codes for codes, _ in coded])
    _, firsts, numbers = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(numbers.ravel(), kind="stable")
    counts = np.bincount(numbers.ravel())
    for first, some in zip(firsts, np.split(order, np.cumsum(counts)[:-1]), strict=True):
        values = [values[codes[number, first]] for number, (_, values) in enumerate(coded)]
        record = [
            partition_record_value(field, value, schema) for field, value in zip(spec.fields, values, strict=True)
        ]
        yield Record(*record), rows if len(counts) == 1 else rows.take(pa.array(some))


def _coded(rows: pa.Table, schema: Schema, field: object) -> tuple[np.ndarray, list[object]]:
    """Return each row's index into the transformed values, and these values; the last one is null."""
    source = schema.find_field(field.source_id)  # type: ignore[attr-defined]
    path = schema.find_column_name(field.source_id) or ""  # type: ignore[attr-defined]
    array = field.transform.pyarrow_transform(source.field_type)(_column(rows, path))  # type: ignore[attr-defined]
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    encoded = array.dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), [*encoded.dictionary.to_pylist(), None]


def _column(rows: pa.Table, path: str) -> pa.Array:
    if path in rows.column_names:
        return rows.column(path).combine_chunks()
    head, _, rest = path.partition(".")
    array = rows.column(head).combine_chunks()
    for part in rest.split("."):
        array = array.flatten()[array.type.get_field_index(part)]
    return array
