"""A batch by the topic partitions its offsets belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.records import TopicPartition

__all__ = ["by_partition", "by_topic"]


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


def _split(batch: Batch, column: pa.Array) -> Iterator[tuple[Any, Batch, pa.Array | None]]:
    values = column.unique().to_pylist()
    if len(values) == 1:
        yield values[0], batch, None
        return
    for value in values:
        mask = pc.equal(column, value)
        yield value, batch.filter(mask), mask
