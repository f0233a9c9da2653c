"""Records with a partition of their own: one that is missing, and one that was added meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from connect_core.errors import DataError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.delivery import DeliveryReports
from connect_core.kafka.failures import to_produce_error
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.record_queue import NotTakenError, RecordColumns, RecordQueue, Row
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter
from tests.kafka.batches import batch, column


class _Topics:
    """A producer that knows one partition of each topic, until it is asked for them again."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.known = 1
        self.asked: list[str] = []
        self.taken: list[tuple[str, int]] = []

    def produce(self, topic: str, value: Any, key: Any, partition: int, *more: Any) -> None:
        if partition >= self.known:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
        self.taken.append((topic, partition))

    def list_topics(self, topic: str, seconds: float) -> None:
        self.asked.append(topic)
        self.known = self.partitions

    def poll(self, seconds: float) -> None: ...


def queue_to(producer: _Topics) -> RecordQueue:
    def meaning(act: str, error: KafkaError) -> Any:
        return to_produce_error(error, act, "brokers")

    return RecordQueue(producer, DeliveryReports(), lambda: None, meaning, 5)


def row(partition: int) -> Row:
    return ("t", b"v", None, partition, None, None, 0, None)


def test_partition_added_meanwhile_is_written_to() -> None:
    producer = _Topics(partitions=3)
    queue_to(producer).put_rows([row(0), row(2), row(1)])
    assert (producer.taken, producer.asked) == ([("t", 0), ("t", 2), ("t", 1)], ["t"])


def test_missing_partition_refuses_its_record_alone_and_is_looked_for_once() -> None:
    producer, refused = _Topics(partitions=1), list[tuple[int, DataError]]()
    queue_to(producer).put_rows([row(9), row(0), row(9)], lambda number, error: refused.append((number, error)))
    assert (producer.taken, producer.asked) == ([("t", 0)], ["t"])
    assert [number for number, _ in refused] == [0, 2]
    assert "Producing to t-9 " in str(refused[0][1])


def test_missing_partition_is_an_error_where_nothing_is_skipped() -> None:
    with pytest.raises(NotTakenError, match="Producing to t-9 "):
        queue_to(_Topics(partitions=1)).put_rows([row(9)])


def test_partitions_of_a_topic_are_asked_for_once() -> None:
    producer = _Topics(partitions=1)
    queue = queue_to(producer)
    for _ in range(2):
        queue.learn_partitions(["t", "u"])
    assert producer.asked == ["t", "u"]


@pytest.fixture
def servers() -> Iterator[str]:
    """The address of librdkafka's own broker, whose topics have four partitions."""
    broker = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (found,) = broker.list_topics(timeout=5).brokers.values()
    yield f"{found.host}:{found.port}"
    broker.close()


@pytest.mark.parametrize("is_skipped", [True, False])
def test_missing_partition_of_a_topic_the_client_does_not_know_yet(servers: str, is_skipped: bool) -> None:
    refused: list[int] = []
    skip = (lambda number, error: refused.append(number)) if is_skipped else None
    target = OffsetsTarget("offsets", "c", MarkerStamp())
    with TransactionalWriter(KafkaClients({"bootstrap.servers": servers}), "t", target) as writer:
        writer.init()
        rows = batch("t", 3, partitions=[0, 99, 3])
        given = rows, pa.nulls(3, pa.binary()), column(b"0", b"1", b"2"), None
        if is_skipped:
            writer.produce(*given, skip)
            writer.commit([({"a": 1}, {"b": 2})])
            assert refused == [1]
        else:
            with pytest.raises(DataError, match=r"Producing to t-99 .* has no such partition"):
                writer.produce(*given)


class _Batches(_Topics):
    """A producer that makes a batch of everything since it was last flushed."""

    def __init__(self) -> None:
        super().__init__(1)
        self.batches: list[int] = [0]

    def produce(self, topic: str, value: Any, key: Any, partition: int, *more: Any) -> None:
        self.batches[-1] += len(value) + len(key or b"")

    def flush(self, seconds: float) -> int:
        self.batches.append(0)
        return 0


@pytest.mark.parametrize("by_columns", [False, True])
def test_batches_stay_below_what_their_topic_takes(by_columns: bool) -> None:
    producer = _Batches()
    queue = queue_to(producer)
    queue.limits["t"] = 1000
    for _ in range(2):
        if by_columns:
            queue.put_columns(RecordColumns("t", column(*[None] * 5), column(*[b"v" * 300] * 5), range(5)))
        else:
            queue.put_rows([("t", b"v" * 300, None, -1, None, None, 0, None)] * 5)
    assert producer.batches == [600] * 5
    queue.put_rows([("t", b"v" * 5000, None, -1, None, None, 0, None), ("t", b"v", None, -1)])
    assert producer.batches[5:] == [5000, 1]
