"""Missing timestamps, and the time 0."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message

from connect_core.kafka import plain_writer
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.fetched import from_messages
from connect_core.kafka.timestamps import read_times, sent_time, sent_times


def test_missing_time_is_read_as_null() -> None:
    times = read_times(np.array([-1, 0, 5], np.int64))
    assert (times.type, times.to_pylist()) == (pa.int64(), [None, 0, 5])
    assert read_times(np.array([0, 5], np.int64)).null_count == 0


def test_message_without_a_time_has_none_in_its_batch() -> None:
    stamps = [(TIMESTAMP_CREATE_TIME, -1), (TIMESTAMP_CREATE_TIME, 1000)]
    messages = [Message("t", 0, row, None, b"v", None, None, stamp) for row, stamp in enumerate(stamps)]
    (batch,) = from_messages(messages).batches()
    assert batch.timestamp.to_pylist() == [None, 1000]


@pytest.mark.parametrize(("given", "sent"), [(None, 0), (-1, 0), (0, 1), (1, 1), (7, 7)])
def test_zero_is_a_time_and_not_now(given: int | None, sent: int) -> None:
    assert sent_time(given) == sent
    assert list(islice(sent_times(pa.array([given, 5], pa.int64())), 2)) == [sent, 5]


def test_records_without_times_are_of_now() -> None:
    assert list(islice(sent_times(pa.nulls(3, pa.int64())), 3)) == [0, 0, 0]


def test_dead_letter_keeps_the_time_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    class Producer:
        def __init__(self, *given: object, **named: object) -> None: ...

        def produce(self, *row: int) -> None:
            sent.append(row[6])

        def poll(self, seconds: float) -> None: ...

    monkeypatch.setattr("connect_core.kafka.clients.Producer", Producer)
    writer = plain_writer.PlainWriter(KafkaClients({}), "dead")
    for time in (0, None, 9):
        writer.produce(None, b"v", timestamp=time)
    assert sent == [1, 0, 9]
