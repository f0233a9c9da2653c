"""Topics made on a real broker: internal ones and those of sources."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType

from connect_core.configs import TopicCreationGroup
from connect_core.errors import ConfigError, ConnectError
from connect_core.herder.preflight import preflight
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.dead_letters import ensure_dead_letter_topic
from connect_core.kafka.topic_creation import (
    SourceTopics,
    create_topic,
    ensure_internal_topic,
    too_many_replicas,
)
from connect_core.kafka.topics import topic_partitions
from connect_core.settings.topics import InternalTopic
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.kafka.cluster import Cluster, await_that

__all__ = ["harness", "sqlite_template"]

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


def test_too_many_replicas_say_so(cluster: Cluster, admin: KafkaAdmin) -> None:
    """By key, value, what the brokers say, and what to write: for every kind of topic that is made."""
    name, texts = new_name(), r"value 3 for configuration {}: .*only 1 broker.*at most the number of brokers, or -1"
    default, big = (TopicCreationGroup(one, (".*",), (), 3, 1, {}) for one in ("default", "big"))
    wanted = InternalTopic(name, 1, 3, {"cleanup.policy": "compact"})
    calls: dict[str, Callable[[], object]] = {
        "offset.storage.replication.factor": lambda: ensure_internal_topic(admin, wanted, "offset.storage.topic"),
        "status.storage.replication.factor": lambda: ensure_internal_topic(admin, wanted, "status.storage.topic"),
        "topic.creation.default.replication.factor": lambda: SourceTopics(admin, (default,)).ensure([name]),
        "topic.creation.big.replication.factor": lambda: SourceTopics(admin, (big, default)).ensure([name]),
        "errors.deadletterqueue.topic.replication.factor": lambda: ensure_dead_letter_topic(cluster.clients(), name, 3),
    }
    for setting, call in calls.items():
        with pytest.raises(ConfigError, match=texts.format(re.escape(setting))):
            call()


def test_replicas_are_tried_without_making_a_topic(cluster: Cluster, admin: KafkaAdmin) -> None:
    name, known = new_name(), cluster.create()
    (refused,) = too_many_replicas(admin, {name: 3, f"{name}-1": 1, known: 3}, 30).items()
    assert refused[0] == name
    assert "only 1 broker(s) are registered" in refused[1]
    assert (too_many_replicas(admin, {}, 30), admin.topic_ids([name, f"{name}-1"])) == ({}, {})


def test_live_check_names_the_setting_before_a_connector_is_created(cluster: Cluster, harness: Harness) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap, "connect.validate.live": "true"}
    herder = replace(harness.herder, worker=worker(**settings))
    groups = {"topic.creation.groups": "few", "topic.creation.few.include": "a.*"}
    numbers = {"default.partitions": "1", "default.replication.factor": "2", "few.replication.factor": "-1"}
    config = {**SOURCE, **groups, **{f"topic.creation.{key}": value for key, value in numbers.items()}, "name": "lines"}
    errors = preflight(herder, config).errors()
    assert list(errors) == ["topic.creation.default.replication.factor"]
    letters = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": new_name()}
    sink = {**SINK, **letters, "topics": cluster.create(), "name": "copy"}
    assert list(preflight(herder, sink).errors()) == ["errors.deadletterqueue.topic.replication.factor"]
    assert preflight(herder, {**sink, "errors.deadletterqueue.topic.name": cluster.create()}).errors() == {}


def test_unknown_topic_setting_is_refused(admin: KafkaAdmin) -> None:
    with pytest.raises(ConnectError, match=r"no\.such\.setting"):
        create_topic(admin, InternalTopic(new_name(), 1, 1, {"no.such.setting": "1"}), "a.replication.factor")


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
