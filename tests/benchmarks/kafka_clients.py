"""How fast one process writes and reads Kafka through our clients, beside the bare ones.

    python -m tests.benchmarks.kafka_clients [--records N] [--bootstrap HOST:PORT]

One partition, records of about 85 bytes, transactions of 100,000. Without
``--bootstrap`` a private broker is started. Processor time a record is the
figure to compare on a busy machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from confluent_kafka import Consumer, Producer, TopicPartition
from rich.console import Console
from rich.table import Table

from connect_core.api.batch import Batch, Objects
from connect_core.api.sink import PartitionRange
from connect_core.dev.stack import Stack
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.control import ControlProducer, fence_producers, write_epoch
from connect_core.kafka.ids import transactional_id
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic
from connect_core.kafka.reader import BoundedReader
from connect_core.kafka.topics import topic_ids
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions
from tests.kafka.cluster import Cluster

_TRANSACTION, _CHUNK = 100_000, 10_000


@dataclass(frozen=True)
class Figure:
    """One measured piece of work."""

    name: str
    records: int
    seconds: float
    processor: float


def measure(name: str, records: int, work: Callable[[], object]) -> Figure:
    """Run a piece of work and take its times."""
    began, used = time.monotonic(), time.process_time()
    work()
    return Figure(name, records, time.monotonic() - began, time.process_time() - used)


def orders(count: int) -> list[bytes]:
    """Return small JSON records."""
    return [
        b'{"id":%d,"name":"customer %d","amount":%d.25,"ssn":"123-45-6789"}' % (n, n % 997, n) for n in range(count)
    ]


def empty_batch(topic: str, rows: int) -> Batch:
    """Return rows bound for one topic, without partition and timestamp."""
    nothing = Objects([None] * rows, [None] * rows)
    topics = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([topic]))
    missing = pa.nulls(rows, pa.int64())
    return Batch(topics, pa.nulls(rows, pa.int32()), missing, missing, pa.array(range(rows)), nothing, nothing)


def write_bare(bootstrap: str, topic: str, values: Sequence[bytes]) -> None:
    """Write with ``produce_batch`` in transactions, and librdkafka's own settings."""
    settings = {"bootstrap.servers": bootstrap, "transactional.id": uuid.uuid4().hex}
    producer = Producer({**settings, "queue.buffering.max.messages": 1_000_000})
    producer.init_transactions(60)
    for start in range(0, len(values), _TRANSACTION):
        producer.begin_transaction()
        producer.produce_batch(topic, [{"value": value} for value in values[start : start + _TRANSACTION]])
        producer.commit_transaction(60)


def write_ours(cluster: Cluster, topics: tuple[str, str], values: Sequence[bytes], keeps_places: bool = False) -> None:
    """Write with the transactional writer, source offsets last in each transaction."""
    topic, offsets = topics
    target, options = OffsetsTarget(offsets, "bench", MarkerStamp()), WriterOptions(keeps_places=keeps_places)
    batch, keys = empty_batch(topic, _CHUNK), [None] * _CHUNK
    with TransactionalWriter(cluster.clients(), uuid.uuid4().hex, target, options) as writer:
        writer.init()
        for start in range(0, len(values), _CHUNK):
            writer.produce(batch, keys, values[start : start + _CHUNK], None)
            if (start + _CHUNK) % _TRANSACTION == 0:
                writer.commit([({"file": "a"}, {"at": start})])


def read_bare(bootstrap: str, topic: str, end: int, settings: dict[str, object]) -> None:
    """Drop every message ``Consumer.consume`` returns."""
    always = {"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False}
    with Consumer({**always, **settings}) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while consumer.position([TopicPartition(topic, 0)])[0].offset < end:
            consumer.consume(50_000, 0.01)


def read_ours(clients: KafkaClients, chosen: PartitionRange, count: int) -> None:
    """Read a range into columns."""
    with BoundedReader(clients, [chosen]) as reader:
        assert sum(len(batch) for batch in reader.batches()) == count


def figures(cluster: Cluster, count: int) -> list[Figure]:
    """Write, then read, by each way."""
    # The first array of a process imports pandas, for a second.
    assert len(empty_batch("any", 1)) == 1
    values, offsets = orders(count), cluster.create(25, cleanup_policy="compact")
    topics = [cluster.create() for _ in range(3)]
    found = [
        measure(
            "write: produce_batch, client's settings", count, lambda: write_bare(cluster.bootstrap, topics[0], values)
        ),
        measure("write: TransactionalWriter", count, lambda: write_ours(cluster, (topics[1], offsets), values)),
        measure("write: the same, places kept", count, lambda: write_ours(cluster, (topics[2], offsets), values, True)),
    ]
    topic, end = topics[1], cluster.end(topics[1])
    topic_id = topic_ids(cluster.admin(), [topic], cluster.bootstrap)[topic]
    chosen, clients = PartitionRange(topic, 0, 0, end, topic_id), cluster.clients()
    tuned = {"queued.min.messages": 1_000_000, "fetch.queue.backoff.ms": 10, "fetch.message.max.bytes": 8_388_608}
    found += [
        measure("read: consume, client's settings", count, lambda: read_bare(cluster.bootstrap, topic, end, {})),
        measure("read: consume, tuned", count, lambda: read_bare(cluster.bootstrap, topic, end, dict(tuned))),
        measure("read: BoundedReader, into columns", count, lambda: read_ours(clients, chosen, count)),
    ]
    return found + protocol_figures(cluster, offsets)


def protocol_figures(cluster: Cluster, offsets: str) -> list[Figure]:
    """Take the acts of a plan: each counts as one record."""
    topic, connector = OffsetsTopic(cluster.clients(), offsets), f"bench-{uuid.uuid4().hex[:6]}"
    ids = [transactional_id("bench", connector, task) for task in range(16)]
    return [
        measure("plan: write the epoch", 1, lambda: write_epoch(ControlProducer(topic, "bench", connector), 1)),
        measure("plan: fence 16 producers", 1, lambda: fence_producers(cluster.clients(), ids)),
        measure("plan: read the offsets topic, 25 partitions", 1, lambda: topic.read(connector)),
    ]


def show(found: Sequence[Figure]) -> None:
    """Print the figures."""
    table = Table("work", "seconds", "records/s", "processor µs a record")
    for one in found:
        rate = f"{one.records / one.seconds:,.0f}" if one.records > 1 else ""
        cost = f"{one.processor / one.records * 1e6:.2f}" if one.records > 1 else ""
        table.add_row(one.name, f"{one.seconds:.2f}", rate, cost)
    Console().print(table)


def main() -> None:
    """Measure on a private broker, or on the one named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--bootstrap")
    options = parser.parse_args()
    if options.bootstrap:
        show(figures(Cluster(options.bootstrap), options.records))
        return
    with tempfile.TemporaryDirectory() as home:
        stack = Stack(Path(home), services=("kafka",))
        stack.up()
        try:
            show(figures(Cluster(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]), options.records))
        finally:
            stack.down()


if __name__ == "__main__":
    main()
