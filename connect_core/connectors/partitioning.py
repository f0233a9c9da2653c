"""Splits a batch by the topic partitions that its offsets belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.records import TopicPartition

__all__ = ["by_partition", "by_topic", "groups"]


def by_partition(batch: Batch) -> Iterator[tuple[TopicPartition, Batch]]:
    """Return the rows of each partition as read from Kafka, in the order of the batch."""
    topic, partition = batch.original or (batch.topic, batch.partition)
    for name, part, topic_mask in _split(batch, topic):
        numbers = partition if topic_mask is None else partition.filter(topic_mask)
        for number, rows, _ in _split(part, numbers):
            yield TopicPartition(name, number), rows


def by_topic(batch: Batch) -> Iterator[tuple[str, Batch]]:
    """Return the rows of each topic as transforms left it, in the order of the batch."""
    for name, rows, _ in _split(batch, batch.topic):
        yield name, rows


def groups(names: pa.Array) -> Iterator[tuple[str, pa.Array | None]]:
    """Return each name with its rows (int64 indices, in order); ``None`` if all rows have the same name.

    names: strings without nulls, or a dictionary of them. The time does not depend on the number of names.
    """
    if not len(names):
        return
    coded = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
    if len(coded.dictionary) > 1:
        # Two entries of a dictionary may be the same text, for example those of a partitioner that truncates long
        # values.
        coded = coded.dictionary_decode().dictionary_encode()
    codes = coded.indices.to_numpy()
    if len(coded.dictionary) == 1:
        yield coded.dictionary[0].as_py(), None
        return
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        yield coded.dictionary[int(codes[rows[0]])].as_py(), pa.array(rows, pa.int64())


def _split(batch: Batch, column: pa.Array) -> Iterator[tuple[Any, Batch, pa.Array | None]]:
    values = column.unique().to_pylist()
    if len(values) == 1:
        yield values[0], batch, None
        return
    for value in values:
        mask = pc.equal(column, value)
        yield value, batch.filter(mask), mask
