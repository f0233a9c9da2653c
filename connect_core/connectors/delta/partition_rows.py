"""Splits rows by the values of partition columns, which Delta stores as texts in its log and not in the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.errors import DataError

__all__ = ["PartitionValues", "by_columns", "partition_text"]

PartitionValues = tuple[tuple[str, str | None], ...]


def by_columns(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[PartitionValues, pa.Table]]:
    """Return the rows of each partition in their order, without the partition columns. Raises DataError."""
    if not names or not len(rows):
        yield (), rows
        return
    texts = [partition_text(name, rows.column(name).combine_chunks()) for name in names]
    encoded = [text.dictionary_encode() for text in texts]
    codes = np.stack([one.indices.fill_null(-1).to_numpy(zero_copy_only=False) for one in encoded])
    _, firsts, numbers = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(numbers.ravel(), kind="stable")
    bounds = np.cumsum(np.bincount(numbers.ravel()))[:-1]
    kept = rows.drop_columns(list(names))
    for first, some in zip(firsts, np.split(order, bounds), strict=True):
        values = tuple((name, text[int(first)].as_py()) for name, text in zip(names, texts, strict=True))
        yield values, kept.take(pa.array(some))


def partition_text(name: str, array: pa.Array) -> pa.Array:
    """Return values as Delta's protocol writes them; an empty text would be read as null."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        return pc.strftime(array, format="%Y-%m-%d %H:%M:%S")
    if pa.types.is_string(kind):
        if pc.any(pc.equal(array, "")).as_py():
            raise DataError(f"column {name} is empty text in a row, which cannot tell a partition")
        return array
    if pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.string())
    raise DataError(f"column {name} is of the type {kind}, by which tables are not partitioned")
