"""Three brokers, replication factor 3, of which one or two go: what our clients do, and what they say."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from connect_core.configs import TopicCreationGroup
from connect_core.errors import ConfigError, RetriableError, UnclearOutcomeError
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.internal_topics import create_internal_topics
from connect_core.kafka.marker_records import MarkerStamp
from connect_core.kafka.markers import OffsetsTopic
from connect_core.kafka.topic_creation import SourceTopics
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions
from connect_core.settings import WorkerMode, WorkerSettings
from tests.faults.brokers import Brokers
from tests.integration.plugin_worker import eventually
from tests.integration.topics import Topics
from tests.kafka.batches import batch, column

pytestmark = [pytest.mark.servers, pytest.mark.timeout(420)]

FILE = {"filename": "/data/a.txt"}
KEY = '{"filename":"/data/a.txt"}'


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with Brokers(tmp_path_factory.mktemp("three") / "brokers") as brokers:
        yield brokers


@pytest.fixture(scope="module")
def worker(brokers: Brokers) -> WorkerSettings:
    """A worker that says nothing of replicas: Connect's defaults are for three brokers."""
    properties = {
        "bootstrap.servers": brokers.bootstrap,
        "group.id": "three",
        "offset.storage.topic": "three-offsets",
        "status.storage.topic": "three-status",
        "offset.storage.partitions": "3",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    settings = WorkerSettings.from_properties(properties, {}, WorkerMode.DISTRIBUTED)
    create_internal_topics(settings)
    return settings


def replicas(brokers: Brokers, topic: str) -> set[int]:
    brokers.await_in_sync()
    # The broker that is asked may hear of a new topic later than the one that created it.
    parts = eventually(lambda: brokers.admin.list_topics(topic, timeout=30).topics[topic].partitions, bool, 30)
    return {len(part.replicas) for part in parts.values()}


def created(brokers: Brokers, factor: int) -> str:
    name = f"made-{uuid.uuid4().hex[:10]}"
    group = TopicCreationGroup("default", (".*",), (), factor, 2, {})
    SourceTopics(KafkaAdmin(KafkaClients({"bootstrap.servers": brokers.bootstrap})), (group,)).ensure([name])
    return name


def test_topics_get_the_replicas_that_are_asked_for(brokers: Brokers, worker: WorkerSettings) -> None:
    made = [worker.offsets_topic.name, worker.status_topic.name, created(brokers, 3), created(brokers, -1)]
    assert [replicas(brokers, topic) for topic in made] == [{3}] * 4
    assert replicas(brokers, created(brokers, 1)) == {1}
    with pytest.raises(
        ConfigError, match=r"4 for configuration topic\.creation\.default\.replication\.factor: .* 3 bro"
    ):
        created(brokers, 4)


def written(clients: KafkaClients, worker: WorkerSettings, topic: str, number: int, seconds: float) -> None:
    """Write one record and its marker, as a task does: again until the marker shows that it is committed."""
    offsets = OffsetsTopic(clients, worker.offsets_topic.name)
    target = OffsetsTarget(offsets.name, "lines", MarkerStamp(3, 1, number, 0, f"3-{number}"), {})
    with TransactionalWriter(clients, "three-lines", target, WriterOptions(seconds, seconds)) as writer:
        writer.init()
        marker = offsets.read("lines").markers.get(KEY)
        if marker is not None and marker.offset == {"position": number}:
            return
        writer.produce(batch(topic, 1), column(None), column(b"%d" % number), None)
        writer.commit([(FILE, {"position": number})])


def again_until_written(clients: KafkaClients, worker: WorkerSettings, topic: str, number: int) -> list[RetriableError]:
    failures: list[RetriableError] = []
    while True:
        try:
            written(clients, worker, topic, number, 30)
        except RetriableError as failure:
            failures.append(failure)
            assert len(failures) < 10, failures
        else:
            return failures


def test_a_transaction_outlives_its_coordinator_and_waits_for_enough_replicas(
    brokers: Brokers, worker: WorkerSettings
) -> None:
    clients, topic = KafkaClients(worker.resolved), Topics(brokers.bootstrap, 3).create(1)
    brokers.await_in_sync()
    assert again_until_written(clients, worker, topic, 1) == []
    brokers.transaction_coordinator("three-lines").kill()
    again_until_written(clients, worker, topic, 2)
    brokers.start()
    brokers.all[0].stop()
    brokers.all[1].stop()
    with pytest.raises(RetriableError) as refused:
        written(clients, worker, topic, 3, 4)
    assert not isinstance(refused.value, UnclearOutcomeError)
    brokers.start()
    again_until_written(clients, worker, topic, 3)
    assert [value for _, value in Topics(brokers.bootstrap).placed(topic)] == [b"1", b"2", b"3"]
