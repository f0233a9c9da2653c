"""Passes many records to a producer in one call, from Arrow columns: librdkafka's ``rd_kafka_produce_batch``.

See kafka/ADR-4-records-put-in-by-columns.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from connect_core.kafka.librdkafka import handle_of, library

__all__ = ["Messages", "enqueue", "lengths", "to_messages"]

Messages = npt.NDArray[np.void]
"""One ``rd_kafka_message_t`` per record; they point into the columns they were made from."""

_MESSAGE = np.dtype(
    [
        ("err", np.int32),
        ("rkt", np.uintp),
        ("partition", np.int32),
        ("payload", np.uintp),
        ("len", np.uintp),
        ("key", np.uintp),
        ("key_len", np.uintp),
        ("offset", np.int64),
        ("_private", np.uintp),
    ],
    align=True,
)
"""The layout of ``rd_kafka_message_t`` in ``rdkafka.h``."""
_BY_KEY = -1
_COPY = 0x2
_SOMEWHERE = _MESSAGE.itemsize
"""Any address but zero: an empty value is not null."""


def to_messages(keys: pa.Array, values: pa.Array) -> Messages:
    """Return the messages of as many records; ``keys`` and ``values`` must outlive them.

    Both are binary or large_binary, a null is a Kafka null. The key determines the partition.
    """
    messages = np.zeros(len(values), _MESSAGE)
    messages["payload"], messages["len"] = _places(values)
    messages["key"], messages["key_len"] = _places(keys)
    return messages


def lengths(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return the number of bytes in each row of a binary or large_binary column; 0 for a null."""
    cuts = _cuts(column)
    found = np.diff(cuts)
    return np.where(_is_valid(column), found, 0) if column.null_count else found


def enqueue(producer: Any, topic: str, messages: Messages) -> None:
    """Pass messages to a producer, in order; ``err`` of each contains its result.

    No message is taken after one that found the queue full. Raise KafkaException if the topic is invalid.
    """
    client = library()
    place = client.rd_kafka_topic_new(handle_of(producer), topic.encode(), None)
    if not place:
        raise KafkaException(KafkaError(client.rd_kafka_last_error(), f"{topic} is not a valid topic name"))
    try:
        client.rd_kafka_produce_batch(place, _BY_KEY, _COPY, messages.ctypes.data, len(messages))
    finally:
        client.rd_kafka_topic_destroy(place)


def _places(column: pa.Array) -> tuple[npt.NDArray[np.uintp], npt.NDArray[np.uintp]]:
    """Return the address and the length of each row's bytes; the address of a null is zero."""
    cuts, data = _cuts(column), column.buffers()[2]
    starts = cuts[:-1] + (data.address if data is not None and data.address else _SOMEWHERE)
    if column.null_count:
        starts = np.where(_is_valid(column), starts, 0)
    return starts.astype(np.uintp), lengths(column).astype(np.uintp)


def _cuts(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return the position in the data at which each row begins, and where the last one ends."""
    kind = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    offsets = column.buffers()[1]
    if not len(column):
        return np.zeros(1, np.int64)
    return np.frombuffer(offsets, kind, len(column) + 1, column.offset * kind().itemsize).astype(np.int64)


def _is_valid(column: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    return found
