"""Records as Kafka has them: bytes, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from connect_core.api.records import TimestampType

__all__ = ["RawBatch", "RawHeaders", "raw_batches"]

RawHeaders = Sequence[tuple[str, bytes | None]]
"""A record's headers in order; a name may stand several times."""

_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: TimestampType.NO_TIMESTAMP_TYPE,
    TIMESTAMP_CREATE_TIME: TimestampType.CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME: TimestampType.LOG_APPEND_TIME,
}


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Records of one topic, unparsed, as columns of equal length.

    partition: int32; offset: int64; timestamp: int64 milliseconds, null = none;
    headers: one list a record or ``None``, and ``None`` as a whole when no
    record has any. Records of one partition stand in offset order.
    """

    topic: str
    partition: pa.Array
    offset: pa.Array
    timestamp: pa.Array
    timestamp_type: TimestampType
    key: Sequence[bytes | None]
    value: Sequence[bytes | None]
    headers: Sequence[RawHeaders | None] | None = None

    def __len__(self) -> int:
        return len(self.value)


def raw_batches(messages: Sequence[Message], topics: int) -> Iterator[RawBatch]:
    """Return messages as batches of one topic and timestamp type each, in order.

    ``topics``: how many topics they may be of; one saves asking each message.
    """
    if topics == 1:
        yield from _of_one_topic(messages)
        return
    for _, group in groupby(messages, Message.topic):
        yield from _of_one_topic(list(group))


def _of_one_topic(messages: Sequence[Message]) -> Iterator[RawBatch]:
    stamps = list(map(Message.timestamp, messages))
    kinds = {kind for kind, _ in stamps}
    if len(kinds) > 1:
        for _, group in groupby(messages, lambda message: message.timestamp()[0]):
            yield from _of_one_topic(list(group))
        return
    kind = kinds.pop()
    headers = list(map(Message.headers, messages))
    yield RawBatch(
        topic=messages[0].topic() or "",
        partition=pa.array(list(map(Message.partition, messages)), pa.int32()),
        offset=pa.array(list(map(Message.offset, messages)), pa.int64()),
        timestamp=(
            pa.nulls(len(messages), pa.int64())
            if kind == TIMESTAMP_NOT_AVAILABLE
            else pa.array([stamp for _, stamp in stamps], pa.int64())
        ),
        timestamp_type=_TIMESTAMP_TYPES[kind],
        key=list(map(Message.key, messages)),
        value=list(map(Message.value, messages)),
        headers=headers if any(headers) else None,
    )
