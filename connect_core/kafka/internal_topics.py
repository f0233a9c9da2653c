"""The topics a worker needs before anything else: offsets and heartbeats."""

from __future__ import annotations

from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.topic_creation import ensure_internal_topic
from connect_core.settings import WorkerSettings

__all__ = ["create_internal_topics"]


def create_internal_topics(settings: WorkerSettings) -> None:
    """Create the worker's offsets and status topics, compacted, unless they exist.

    Raises ConfigError for one that is not compacted, RetriableError if the brokers do not respond.
    """
    admin = KafkaAdmin(KafkaClients(settings.resolved))
    ensure_internal_topic(admin, settings.offsets_topic, "offset.storage.topic")
    ensure_internal_topic(admin, settings.status_topic, "status.storage.topic")
