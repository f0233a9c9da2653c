"""Files into a real topic by Spark, and a topic to files and back."""

from __future__ import annotations

import gzip
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from connect_core.dev.stack import Stack
from connect_core.interval.values import ConnectorType
from tests.benchmarks.connector_runs import ConnectorRuns
from tests.integration.topics import Topics

pytestmark = pytest.mark.servers

COUNT, PARTITIONS = 3000, 3
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
AS_BYTES = {"key.converter": BYTES, "value.converter": BYTES, "header.converter": BYTES}
INCLUDED = {"include.key": "true", "include.metadata": "true", "include.headers": "true"}
JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@pytest.fixture(autouse=True)
def environment(stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {**stack.environment(), "CONNECT_FILE_ROOTS": str(folder)}.items():
        monkeypatch.setenv(variable, value)


def write(bootstrap: str, topic: str) -> None:
    """Write records with keys, headers and times, some of them null, empty or no text."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    # Retention removes what is older than a week.
    began = time.time_ns() // 1_000_000 - 2_000_000
    for number in range(COUNT):
        headers = [("n", str(number).encode()), ("n", b"\xff\x00"), ("none", None)][: number % 4]
        producer.produce(
            topic,
            key=None if number % 5 == 0 else b"" if number % 7 == 0 else b"\x00%d" % number,
            value=None if number % 11 == 0 else b"" if number % 13 == 0 else b"\xfe%d" % number,
            partition=number % PARTITIONS,
            timestamp=began + number * 997 % 1_000_000,
            headers=headers,
        )
    assert producer.flush(30) == 0


def contents(bootstrap: str, topic: str) -> dict[int, list[Any]]:
    """Return all that is committed, by partition in order."""
    config = {"bootstrap.servers": bootstrap, "group.id": f"check-{topic}", "isolation.level": "read_committed"}
    consumer = Consumer({**config, "enable.auto.commit": False})
    parts = [TopicPartition(topic, number, 0) for number in range(PARTITIONS)]
    ends = {part.partition: consumer.get_watermark_offsets(part, timeout=10)[1] for part in parts}
    consumer.assign(parts)
    found: dict[int, list[Any]] = defaultdict(list)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for one in consumer.consume(10_000, 0.2):
            assert one.error() is None
            found[one.partition() or 0].append((one.key(), one.value(), one.headers() or [], one.timestamp()[1]))
        if all(at.offset >= ends[at.partition] for at in consumer.position(parts)):
            break
    consumer.close()
    return dict(found)


def test_a_topic_is_the_same_after_backup_and_restore(
    stack: Stack, topics: Topics, bootstrap: str, folder: Path
) -> None:
    topic, restored = topics.create(PARTITIONS), topics.create(PARTITIONS)
    write(bootstrap, topic)
    place = {"path": str(folder / "backup"), "format": "parquet", **INCLUDED, **AS_BYTES}
    sink = {"connector.class": "FileSystemSink", "tasks.max": "2", "topics": topic, "flush.size": "150", **place}
    with ConnectorRuns("backup", {"name": "backup", **sink}) as backup:
        assert backup.run().records == COUNT
    source = {
        "connector.class": "FileSystemSource",
        "tasks.max": "2",
        "topic": restored,
        "file.order": "name",
        "file.settle.ms": "0",
        "headers.in.base64": "true",
        "unwrap.value": "true",
        "interval.max.records": "700",
        **place,
    }
    with ConnectorRuns("restore", {"name": "restore", **source}, ConnectorType.SOURCE) as restore:
        assert sum(restore.run().records for _ in range(2)) == COUNT
    before, after = contents(bootstrap, topic), contents(bootstrap, restored)
    assert sum(map(len, before.values())) == COUNT
    assert after == before


def test_new_files_are_read_once(stack: Stack, topics: Topics, folder: Path) -> None:
    topic = topics.create(PARTITIONS)
    config = {
        "name": "import",
        "connector.class": "FileSystemSource",
        "tasks.max": "2",
        "path": str(folder / "in"),
        "format": "json",
        "topic": topic,
        "file.settle.ms": "0",
        "poll.interval.ms": "0",
        **JSON,
    }
    with ConnectorRuns("import", config, ConnectorType.SOURCE) as reading:
        assert reading.run().records == 0
        (folder / "in/day=1").mkdir(parents=True)
        for number in range(20):
            lines = "".join(f'{{"n": {number * 50 + line}}}\n' for line in range(50))
            (folder / f"in/day=1/{number}.json.gz").write_bytes(gzip.compress(lines.encode()))
        assert reading.run().records == 1000
        assert reading.run().records == 0
        (folder / "in/late.json").write_text('{"n": 1000}\n{"n": 1001}')
        assert reading.run().records == 2
    values = [json.loads(value or b"") for value in topics.read(topic, 1002)]
    assert sorted(value["n"] for value in values) == list(range(1002))


def test_a_large_parquet_file_is_shared_out_with_its_types(stack: Stack, topics: Topics, folder: Path) -> None:
    topic, rows = topics.create(PARTITIONS), 30_000
    (folder / "in").mkdir()
    table = pa.table({"id": range(rows), "name": [f"ü{number}" for number in range(rows)]})
    pq.write_table(table, folder / "in/a.parquet", row_group_size=1000)
    config = {
        "name": "typed",
        "connector.class": "FileSystemSource",
        "tasks.max": "2",
        "path": str(folder / "in"),
        "topic": topic,
        "file.settle.ms": "0",
        **JSON,
        "value.converter.schemas.enable": "true",
    }
    with ConnectorRuns("typed", config, ConnectorType.SOURCE) as reading:
        assert reading.run().records == rows
    values = [json.loads(value or b"") for value in topics.read(topic, rows)]
    assert sorted(value["payload"]["id"] for value in values) == list(range(rows))
    fields = {field["field"]: field["type"] for field in values[0]["schema"]["fields"]}
    assert fields == {"id": "int64", "name": "string"}
