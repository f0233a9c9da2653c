"""Checks the rights of a connector's own login before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, AdminClient

from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.kafka.properties import ClientKind

__all__ = ["topic_rights", "unreadable_topics"]

_CONNECTION = ("bootstrap.servers", "client.id", "sasl.", "security.protocol", "ssl.")


def unreadable_topics(clients: KafkaClients, names: Iterable[str], seconds: float) -> list[str]:
    """Return the topics that the connector's consumers may not read; topics that do not exist yet are left out.

    Raise as ``topic_rights``.
    """
    found = topic_rights(clients, ClientKind.CONSUMER, names, seconds)
    return [name for name, operations in found.items() if AclOperation.READ.name not in operations]


def topic_rights(
    clients: KafkaClients, kind: ClientKind, names: Iterable[str], seconds: float
) -> dict[str, frozenset[str]]:
    """Return what a kind of client may do with each topic that exists, as ``READ``; nothing with a hidden one.

    Raise ConfigError for a login that is missing, RetriableError if the brokers do not respond in time.
    """
    wanted = sorted(set(names))
    settings = clients.settings(kind)
    login = {key: value for key, value in settings.items() if key.startswith(_CONNECTION)}
    # The client's log lines are not needed: they come back as errors.
    admin = AdminClient({**login, "log_level": "0"})
    asked = admin.describe_topics(TopicCollection(wanted), include_authorized_operations=True, request_timeout=seconds)
    found: dict[str, frozenset[str]] = {}
    for name, future in asked.items():
        try:
            found[name] = frozenset(one.name for one in future.result().authorized_operations or ())
        except KafkaException as failure:
            error = code_of(failure)
            if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                continue
            if error.code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
                raise to_connect_error(error, f"Describing topic {name}", clients.bootstrap_servers) from failure
            found[name] = frozenset()
    return found
