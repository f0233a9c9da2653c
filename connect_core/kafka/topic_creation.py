"""Creates topics: the worker's internal ones, and those for a source's records (KIP-158)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from connect_core.configs import TopicCreationGroup, group_of_topic
from connect_core.errors import ConfigError
from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.settings.topics import InternalTopic, check_free

__all__ = ["SourceTopics", "create_topic", "ensure_internal_topic"]

_log = logging.getLogger(__name__)
_SECONDS = 30.0
_LEFT_TO_BROKER = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_VERSION,
    }
)


def create_topic(admin: KafkaAdmin, topic: InternalTopic) -> bool:
    """Create a topic → whether it was created; an existing one is left unchanged.

    If the brokers forbid it, their own topic creation may do it: returns false and logs a warning. Raise ConnectError
    for refused settings, RetriableError if the brokers do not respond. Connect: ``TopicAdmin.createOrFindTopics``.
    """
    new = NewTopic(topic.name, topic.partitions, topic.replication_factor, config=dict(topic.settings))
    try:
        future = admin.client.create_topics([new], operation_timeout=_SECONDS)[topic.name]
        future.result()
    except KafkaException as failure:
        error = code_of(failure)
        if error.code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        if error.code() in _LEFT_TO_BROKER:
            _log.warning("Topic %s will be created by the brokers: %s", topic.name, error.str())
            return False
        act = (
            f"Creating topic {topic.name} (partitions {topic.partitions}, replication factor"
            f" {topic.replication_factor}, settings {dict(topic.settings)})"
        )
        raise to_connect_error(error, act, admin.servers) from failure
    _log.info("Created topic %s", topic.name)
    return True


def ensure_internal_topic(admin: KafkaAdmin, topic: InternalTopic, setting: str) -> None:
    """Create an internal topic if it is missing; check that it is compacted only.

    ``setting``: the worker setting that names it. Raise ConfigError for another cleanup policy: offsets would be lost.
    Connect: ``KafkaTopicBasedBackingStore``, ``TopicAdmin.verifyTopicCleanupPolicyOnlyCompact``.
    """
    if create_topic(admin, topic):
        return
    policy = _cleanup_policy(admin.client, topic.name)
    if policy is not None and policy != {"compact"}:
        raise ConfigError(
            f"Topic {topic.name}, named by {setting}, has cleanup.policy={','.join(sorted(policy))}; records in it"
            " must never expire: set its cleanup.policy to compact, or name another topic"
        )


def _cleanup_policy(client: AdminClient, topic: str) -> set[str] | None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        found = client.describe_configs([resource])[resource].result()
    except KafkaException as failure:
        _log.info("The cleanup policy of topic %s cannot be checked: %s", topic, code_of(failure).str())
        return None
    entry = found.get("cleanup.policy")
    return None if entry is None else {part.strip() for part in entry.value.split(",") if part.strip()}


@dataclass(slots=True)
class SourceTopics:
    """Creates the topics of a source's records before they are produced.

    ``groups``: tried in order, the default one last; without any, the brokers create topics by themselves.
    ``internal``: refused, even if a transform set them as a record's topic. Connect:
    ``AbstractWorkerSourceTask.maybeCreateTopic``.
    """

    admin: KafkaAdmin
    groups: tuple[TopicCreationGroup, ...]
    internal: frozenset[str] = frozenset()
    _known: set[str] = field(default_factory=set)

    def ensure(self, topics: Iterable[str]) -> None:
        """Create missing topics; queries the brokers once per topic. Raise as ``check_free``, ``create_topic``."""
        fresh = set(topics) - self._known
        for name in sorted(fresh):
            check_free(name, self.internal)
        if fresh and self.groups:
            self._create(fresh)
        self._known |= fresh

    def _create(self, names: set[str]) -> None:
        for name in sorted(names - self.admin.topic_ids(names).keys()):
            group = group_of_topic(self.groups, name)
            if group is not None:
                create_topic(self.admin, _wanted(name, group))


def _wanted(name: str, group: TopicCreationGroup) -> InternalTopic:
    settings: Mapping[str, str] = group.settings
    return InternalTopic(name, group.partitions, group.replication_factor, settings)
