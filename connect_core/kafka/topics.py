"""Which topics exist, with their ids and partition counts."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from connect_core.configs.regex import compile_pattern
from connect_core.errors import RetriableError
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.settings.topics import is_internal

__all__ = ["check_same", "list_topics", "most_bytes", "topic_ids", "topic_partitions"]

_SECONDS = 30.0
_LOG = logging.getLogger(__name__)


def list_topics(admin: AdminClient, regex: str, servers: str, internal: Collection[str] = ()) -> list[str]:
    """Return the sorted names that match ``regex`` as a whole, internal topics left out.

    Raise RetriableError if the brokers do not answer.
    """
    pattern = compile_pattern(regex)
    try:
        found = admin.list_topics(timeout=_SECONDS).topics
    except KafkaException as failure:
        raise to_connect_error(code_of(failure), "Listing topics", servers) from failure
    return sorted(pattern.matching(name for name in found if not is_internal(name, internal)))


def topic_ids(admin: AdminClient, names: Iterable[str], servers: str, seconds: float | None = None) -> dict[str, str]:
    """Return the id of each topic that exists; raises as ``topic_partitions``."""
    return {name: topic_id for name, (topic_id, _) in topic_partitions(admin, names, servers, seconds).items()}


def check_same(expected: Mapping[str, str], found: Mapping[str, str], act: str) -> None:
    """Compare topic ids read after an act with those before it: are they the same topics still?

    Raise RetriableError if a topic was deleted, or deleted and created again, meanwhile.
    """
    for topic, topic_id in sorted(expected.items()):
        now = found.get(topic)
        if now != topic_id:
            how = "deleted" if now is None else "deleted and created again"
            raise RetriableError(f"Topic {topic} was {how} while {act}: its id was {topic_id} and is {now or 'none'}")


def topic_partitions(
    admin: AdminClient, names: Iterable[str], servers: str, seconds: float | None = None
) -> dict[str, tuple[str, int]]:
    """Return the id and the number of partitions of each topic that exists, in one call.

    ``seconds``: how long to wait, by default ``admin.request.timeout.ms``. Raise ConnectError if it is forbidden,
    RetriableError if the brokers do not respond.
    """
    found: dict[str, tuple[str, int]] = {}
    wanted = sorted(set(names))
    if not wanted:
        return found
    timeout = {} if seconds is None else {"request_timeout": seconds}
    for name, future in admin.describe_topics(TopicCollection(wanted), **timeout).items():
        try:
            described = future.result()
        except KafkaException as failure:
            error = code_of(failure)
            if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                continue
            raise to_connect_error(error, f"Describing topic {name}", servers) from failure
        found[name] = (str(described.topic_id), len(described.partitions))
    return found


def most_bytes(admin: AdminClient, names: Iterable[str]) -> dict[str, int]:
    """Return the largest batch of records that each topic takes, its ``max.message.bytes``.

    A topic whose settings the brokers do not tell, as that takes a right of its own, is left out.
    """
    found: dict[str, int] = {}
    wanted = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(set(names))]
    if not wanted:
        return found
    for resource, future in admin.describe_configs(wanted, request_timeout=_SECONDS).items():
        try:
            entry = future.result().get("max.message.bytes")
        except KafkaException as failure:
            _LOG.info("max.message.bytes of topic %s is not known: %s", resource.name, code_of(failure).str())
            continue
        if entry is not None:
            found[resource.name] = int(entry.value)
    return found
