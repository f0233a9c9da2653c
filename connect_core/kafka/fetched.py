"""Messages as fetched by a consumer, of any topics, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from connect_core.api.records import TimestampType
from connect_core.kafka.raw_batch import RawBatch, RawHeaders
from connect_core.kafka.timestamps import read_times

__all__ = ["Fetched", "from_messages"]

_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: TimestampType.NO_TIMESTAMP_TYPE,
    TIMESTAMP_CREATE_TIME: TimestampType.CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME: TimestampType.LOG_APPEND_TIME,
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """Messages in the order of the consumer's queue, as columns of equal length.

    topic: indices into ``topics``; timestamp: milliseconds, meaningless if ``timestamp_type`` (librdkafka's number)
    means that there is none; key, value: binary, null = Kafka null; headers: ``None`` if no message has any.
    """

    topics: tuple[str, ...]
    topic: npt.NDArray[np.int64]
    partition: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int64]
    timestamp: npt.NDArray[np.int64]
    timestamp_type: npt.NDArray[np.int32]
    key: pa.BinaryArray
    value: pa.BinaryArray
    headers: Sequence[RawHeaders | None] | None = None

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def size(self) -> int:
        """The size of keys and values in memory, in bytes."""
        return int(self.key.nbytes + self.value.nbytes)

    def before(self, ends: npt.NDArray[np.int64]) -> Fetched:
        """Return the messages whose offset is below the end given for each."""
        rows = np.flatnonzero(self.offset < ends)
        return self if len(rows) == len(self) else self._take(rows)

    def batches(self) -> Iterator[RawBatch]:
        """Iterate over runs of one topic and one timestamp type, in order."""
        if not len(self):
            return
        changes = (np.diff(self.topic) != 0) | (np.diff(self.timestamp_type) != 0)
        cuts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(self)]
        for start, end in pairwise(cuts):
            yield self._batch(slice(start, end))

    def _take(self, rows: npt.NDArray[np.int64]) -> Fetched:
        chosen = pa.array(rows)
        return Fetched(
            self.topics,
            self.topic[rows],
            self.partition[rows],
            self.offset[rows],
            self.timestamp[rows],
            self.timestamp_type[rows],
            self.key.take(chosen),
            self.value.take(chosen),
            None if self.headers is None else [self.headers[row] for row in rows],
        )

    def _batch(self, rows: slice) -> RawBatch:
        count = rows.stop - rows.start
        kind = int(self.timestamp_type[rows.start])
        headers = None if self.headers is None else self.headers[rows]
        return RawBatch(
            topic=self.topics[self.topic[rows.start]],
            partition=pa.array(self.partition[rows]),
            offset=pa.array(self.offset[rows]),
            timestamp=(
                pa.nulls(count, pa.int64()) if kind == TIMESTAMP_NOT_AVAILABLE else read_times(self.timestamp[rows])
            ),
            timestamp_type=_TIMESTAMP_TYPES[kind],
            key=self.key.slice(rows.start, count),
            value=self.value.slice(rows.start, count),
            headers=headers if headers is not None and any(headers) else None,
        )


def from_messages(messages: Sequence[Message]) -> Fetched:
    """Return messages of the Python client, none of which is an error, as columns."""
    names = [message.topic() or "" for message in messages]
    topics = tuple(dict.fromkeys(names))
    places = {name: place for place, name in enumerate(topics)}
    stamps = [message.timestamp() for message in messages]
    headers = [message.headers() for message in messages]
    return Fetched(
        topics,
        np.array([places[name] for name in names], np.int64),
        np.array([message.partition() for message in messages], np.int32),
        np.array([message.offset() for message in messages], np.int64),
        np.array([time for _, time in stamps], np.int64),
        np.array([kind for kind, _ in stamps], np.int32),
        pa.array([message.key() for message in messages], pa.binary()),
        pa.array([message.value() for message in messages], pa.binary()),
        headers if any(headers) else None,
    )
