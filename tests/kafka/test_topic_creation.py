"""Topics made on a real broker: internal ones and those of sources."""

from __future__ import annotations

import uuid

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType

from connect_core.configs import TopicCreationGroup
from connect_core.errors import ConfigError, ConnectError
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.topic_creation import SourceTopics, create_topic, ensure_internal_topic
from connect_core.kafka.topics import topic_partitions
from connect_core.settings.topics import InternalTopic
from tests.kafka.cluster import Cluster, await_that

pytestmark = pytest.mark.servers


@pytest.fixture
def admin(cluster: Cluster) -> KafkaAdmin:
    return KafkaAdmin(cluster.clients())


def new_name() -> str:
    return f"made-{uuid.uuid4().hex[:10]}"


def partitions(admin: KafkaAdmin, topic: str) -> int:
    await_that(lambda: topic in admin.topic_ids([topic]))
    return topic_partitions(admin.client, [topic], admin.servers)[topic][1]


def setting(admin: KafkaAdmin, topic: str, key: str) -> str:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    value: str = admin.client.describe_configs([resource])[resource].result()[key].value
    return value


def test_internal_topic_is_made_once(admin: KafkaAdmin) -> None:
    topic = InternalTopic(new_name(), 25, 1, {"cleanup.policy": "compact", "segment.ms": "100000"})
    for _ in range(2):
        ensure_internal_topic(admin, topic, "offset.storage.topic")
    assert partitions(admin, topic.name) == 25
    assert setting(admin, topic.name, "segment.ms") == "100000"


def test_internal_topic_must_be_compacted(cluster: Cluster, admin: KafkaAdmin) -> None:
    topic = InternalTopic(cluster.create(cleanup_policy="delete"), 1, 1, {"cleanup.policy": "compact"})
    with pytest.raises(ConfigError, match=r"offset\.storage\.topic, has cleanup\.policy=delete"):
        ensure_internal_topic(admin, topic, "offset.storage.topic")


def test_too_many_replicas_say_so(admin: KafkaAdmin) -> None:
    with pytest.raises(ConnectError, match="replication factor 3"):
        create_topic(admin, InternalTopic(new_name(), 1, 3, {}))


def test_unknown_topic_setting_is_refused(admin: KafkaAdmin) -> None:
    with pytest.raises(ConnectError, match=r"no\.such\.setting"):
        create_topic(admin, InternalTopic(new_name(), 1, 1, {"no.such.setting": "1"}))


def test_source_topics_follow_their_group(admin: KafkaAdmin) -> None:
    mark = new_name()
    groups = (
        TopicCreationGroup("big", (f"{mark}-big.*",), (f"{mark}-big-not",), 1, 5, {"cleanup.policy": "compact"}),
        TopicCreationGroup("default", (".*",), (), -1, 2, {}),
    )
    topics = SourceTopics(admin, groups)
    names = [f"{mark}-big-1", f"{mark}-big-not", f"{mark}-other"]
    topics.ensure(names)
    topics.ensure(names)
    assert [partitions(admin, name) for name in names] == [5, 2, 2]
    assert setting(admin, names[0], "cleanup.policy") == "compact"


def test_without_groups_the_broker_decides(admin: KafkaAdmin) -> None:
    name = new_name()
    SourceTopics(admin, ()).ensure([name])
    assert admin.topic_ids([name]) == {}


@pytest.mark.parametrize("topic", ["connect-offsets", "__consumer_offsets"])
def test_source_writes_to_no_internal_topic(cluster: Cluster, admin: KafkaAdmin, topic: str) -> None:
    """Whatever a transform made of a record's topic, and whether topics are created or not."""
    group = TopicCreationGroup("default", (), (), 1, 1, {})
    for groups in ((), (group,)):
        topics = SourceTopics(admin, groups, frozenset({"connect-offsets"}))
        for _ in range(2):
            with pytest.raises(ConnectError, match=f"Topic {topic} is internal"):
                topics.ensure(["free", topic])


def test_pattern_matches_no_internal_topic(cluster: Cluster) -> None:
    prefix = new_name()
    own, free = cluster.create(name=f"{prefix}-offsets"), cluster.create(name=f"{prefix}-data")
    hidden = cluster.create(name=f"__{prefix}")
    assert KafkaAdmin(cluster.clients(), lambda: {own}).topics(f"(__)?{prefix}.*") == [free]
    assert hidden not in KafkaAdmin(cluster.clients()).topics(".*")
