"""The id of the cluster that the brokers belong to."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from confluent_kafka import KafkaException

from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.failures import code_of, to_connect_error
from connect_core.settings import WorkerSettings

__all__ = ["cluster_id_of"]

_SECONDS = 10.0


def cluster_id_of(settings: WorkerSettings) -> Callable[[], str]:
    """Return a function that returns the cluster's id, and caches it.

    It raises RetriableError if the brokers do not answer.
    """
    admin = KafkaAdmin(KafkaClients(settings.resolved))

    @lru_cache(maxsize=1)
    def ask() -> str:
        try:
            return str(admin.client.list_topics(timeout=_SECONDS).cluster_id)
        except KafkaException as failure:
            raise to_connect_error(code_of(failure), "Requesting the cluster's id", admin.servers) from failure

    return ask
