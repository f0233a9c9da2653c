"""Events of Apache's Iceberg sink in a control topic on a real broker: which files were announced and not committed."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.migration.iceberg_control import has_uncommitted_files
from tests.herder.harness import Harness, worker
from tests.integration.topics import Topics
from tests.kafka.cluster import Cluster

fastavro = pytest.importorskip("fastavro", reason="pip install 'connect-core[iceberg]'")

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

START_COMMIT, DATA_WRITTEN, DATA_COMPLETE = 0, 1, 2
SCHEMA = {
    "type": "record",
    "name": "org.apache.iceberg.connect.events.Event",
    "fields": [
        {"name": "id", "type": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}},
        {"name": "type", "type": "int"},
        {"name": "timestamp", "type": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}},
        {"name": "group_id", "type": "string"},
    ],
}
CONFIG = {"connector.class": "org.apache.iceberg.connect.IcebergSinkConnector"}


def event(type: int, group: str = "connect-a") -> bytes:
    """Encode the fields that every event has before its payload."""
    out = BytesIO()
    fields = {"id": uuid.uuid4().bytes, "type": type, "timestamp": 1_700_000_000_000_000, "group_id": group}
    fastavro.schemaless_writer(out, SCHEMA, fields)
    text = json.dumps(SCHEMA).encode()
    return b"\xc2\x01" + len(text).to_bytes(2, "big") + text + out.getvalue()


@pytest.fixture
def topics(cluster: Cluster) -> Topics:
    return Topics(cluster.bootstrap)


@pytest.fixture
def herder(harness: Harness, topics: Topics) -> Herder:
    return replace(harness.herder, worker=worker(**{"bootstrap.servers": topics.bootstrap}))


def commit(bootstrap: str, topic: str, offset: int, group: str = "connect-a-coord") -> None:
    """Commit a position as a coordinator does."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def is_ahead(herder: Herder, topic: str, **more: Any) -> bool:
    return has_uncommitted_files(herder, "a", {**CONFIG, "iceberg.control.topic": topic, **more})


def test_announced_files_count_until_they_are_committed(herder: Herder, topics: Topics) -> None:
    topic = topics.create(1)
    assert not is_ahead(herder, topic)
    topics.write(topic, [event(START_COMMIT), event(DATA_COMPLETE), event(DATA_WRITTEN, "connect-b")], 1)
    assert not is_ahead(herder, topic)
    topics.write(topic, [event(DATA_WRITTEN), event(DATA_COMPLETE)], 1)
    assert is_ahead(herder, topic)
    commit(topics.bootstrap, topic, 3)
    assert is_ahead(herder, topic)
    commit(topics.bootstrap, topic, 4)
    assert not is_ahead(herder, topic)


def test_a_group_of_its_own(herder: Herder, topics: Topics) -> None:
    topic = topics.create(1)
    topics.write(topic, [event(DATA_WRITTEN, "mine")], 1)
    assert not is_ahead(herder, topic)
    assert is_ahead(herder, topic, **{"iceberg.connect.group-id": "mine"})
    commit(topics.bootstrap, topic, 1, "mine-coord")
    assert not is_ahead(herder, topic, **{"iceberg.connect.group-id": "mine"})


def test_an_aborted_announcement_does_not_count(herder: Herder, topics: Topics) -> None:
    topic = topics.create(1)
    producer = Producer({"bootstrap.servers": topics.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, event(DATA_WRITTEN))
    producer.flush(30)
    producer.abort_transaction(30)
    assert not is_ahead(herder, topic)


def test_only_the_iceberg_sink_has_such_a_topic(herder: Herder, topics: Topics) -> None:
    assert not is_ahead(herder, "nowhere")
    topic = topics.create(1)
    topics.write(topic, [event(DATA_WRITTEN)], 1)
    assert not is_ahead(herder, topic, **{"connector.class": "FileStreamSink"})


@pytest.mark.parametrize("value", [b"", b"{}", b"\xc2\x01\x00\x02{}", b'\xc2\x01\x00\x05"int"', event(1)[:-4]])
def test_other_messages_are_named(herder: Herder, topics: Topics, value: bytes) -> None:
    topic = topics.create(1)
    topics.write(topic, [value], 1)
    with pytest.raises(ConnectError, match=rf"{topic}-0 at offset 0 is not an event of Apache Iceberg's sink"):
        is_ahead(herder, topic)
