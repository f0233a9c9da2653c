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

__all__ = ["SourceTopics", "create_topic", "ensure_internal_topic", "too_many_replicas"]

_log = logging.getLogger(__name__)
_SECONDS = 30.0
_LEFT_TO_BROKER = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_VERSION,
    }
)


def create_topic(admin: KafkaAdmin, topic: InternalTopic, factor_setting: str) -> bool:
    """Create a topic → whether it was created; an existing one is left unchanged.

    ``factor_setting``: the setting with its replication factor. If the brokers forbid it, their own topic creation may
    do it: returns false and logs a warning. Raise ConfigError for too many replicas, ConnectError
    for other refused settings, RetriableError if the brokers do not respond. Connect: ``createOrFindTopics``.
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
        if error.code() == KafkaError.INVALID_REPLICATION_FACTOR:
            text = _factor_text(f"topic {topic.name} cannot be created", error, admin.servers)
            raise ConfigError(factor_setting, topic.replication_factor, text) from failure
        act = (
            f"Creating topic {topic.name} (partitions {topic.partitions}, replication factor"
            f" {topic.replication_factor}, settings {dict(topic.settings)})"
        )
        raise to_connect_error(error, act, admin.servers) from failure
    _log.info("Created topic %s", topic.name)
    return True


def too_many_replicas(admin: KafkaAdmin, topics: Mapping[str, int], seconds: float) -> dict[str, str]:
    """Return why topics cannot have so many replicas; the brokers are asked once, and create no topic.

    ``topics``: name → replication factor. Brokers that are only restarted count. A topic that exists, or whose creation
    is forbidden, is left out, and so is every one if the brokers do not answer within ``seconds``.
    """
    found: dict[str, str] = {}
    wanted = [NewTopic(name, 1, factor) for name, factor in topics.items()]
    if not wanted:
        return found
    for name, future in admin.client.create_topics(wanted, validate_only=True, request_timeout=seconds).items():
        try:
            future.result()
        except KafkaException as failure:
            error = code_of(failure)
            if error.code() == KafkaError.INVALID_REPLICATION_FACTOR:
                found[name] = _factor_text("new topics cannot be created", error, admin.servers)
    return found


def _factor_text(what: str, error: KafkaError, servers: str) -> str:
    remedy = "use at most the number of brokers, or -1 for the brokers' default"
    return f"{what}: {error.str().rstrip('.')} (brokers {servers}); {remedy}"


def ensure_internal_topic(admin: KafkaAdmin, topic: InternalTopic, setting: str) -> None:
    """Create an internal topic if it is missing; check that it is compacted only.

    ``setting``: the worker setting that names it. Raise ConfigError for another cleanup policy: offsets would be lost.
    Connect: ``KafkaTopicBasedBackingStore``, ``TopicAdmin.verifyTopicCleanupPolicyOnlyCompact``.
    """
    if create_topic(admin, topic, f"{setting.removesuffix('topic')}replication.factor"):
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
                create_topic(self.admin, _wanted(name, group), f"topic.creation.{group.name}.replication.factor")


def _wanted(name: str, group: TopicCreationGroup) -> InternalTopic:
    settings: Mapping[str, str] = group.settings
    return InternalTopic(name, group.partitions, group.replication_factor, settings)
