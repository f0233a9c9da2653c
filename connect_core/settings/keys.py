"""Every key of Connect's worker files, and how it is treated here.

Honoured keys are in ``definition``; client keys are passed to the Kafka clients
unchanged; the keys of ``NOT_NEEDED`` have no meaning here, each with its reason.
"""

from __future__ import annotations

from enum import Enum

__all__ = [
    "CLIENT_KEYS",
    "CLIENT_PREFIXES",
    "NOT_FOR_TASKS",
    "NOT_NEEDED",
    "NOT_NEEDED_PREFIXES",
    "PREFIXES",
    "WorkerMode",
    "is_client_key",
    "not_needed_reason",
]


class WorkerMode(Enum):
    """How the worker was started: without Airflow, or as a deployment."""

    STANDALONE = "standalone"
    DISTRIBUTED = "distributed"


CLIENT_PREFIXES = ("ssl.", "sasl.")

CLIENT_KEYS = frozenset(
    {
        "client.dns.lookup",
        "client.id",
        "client.rack",
        "connections.max.idle.ms",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "security.protocol",
        "send.buffer.bytes",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
    }
)

PREFIXES = (
    "admin.",
    "airflow.",
    "config.providers.",
    "consumer.",
    "header.converter.",
    "key.converter.",
    "limits.",
    "offset.storage.",
    "producer.",
    "spark.",
    "status.storage.",
    "topic.creation.",
    "value.converter.",
)
"""Keys with these prefixes are passed on: to clients, converters, providers, topics, Spark."""

_NO_GROUP = "workers do not form a group: Airflow schedules the runs"
_NO_FORWARDING = "workers do not call each other"
_IN_DATABASE = "connector configurations are kept in the metadata database (database.url)"
_PROXY = "the REST API uses HTTP: put a proxy in front of it for TLS"
_PROMETHEUS = "metrics are in Prometheus format, at /v1/metrics"

NOT_NEEDED: dict[str, str] = {
    "auto.include.jmx.reporter": _PROMETHEUS,
    "config.storage.topic": _IN_DATABASE,
    "connect.protocol": _NO_GROUP,
    "enable.metrics.push": _PROMETHEUS,
    "exactly.once.source.support": "sources are exactly-once; if disabled, requiring it is rejected",
    "heartbeat.interval.ms": _NO_GROUP,
    "internal.key.converter": "internal topics always contain JSON without schemas, as in Kafka since 3.0",
    "internal.value.converter": "internal topics always contain JSON without schemas, as in Kafka since 3.0",
    "inter.worker.key.generation.algorithm": _NO_FORWARDING,
    "inter.worker.key.size": _NO_FORWARDING,
    "inter.worker.key.ttl.ms": _NO_FORWARDING,
    "inter.worker.signature.algorithm": _NO_FORWARDING,
    "inter.worker.verification.algorithms": _NO_FORWARDING,
    "metric.reporters": _PROMETHEUS,
    "metrics.num.samples": _PROMETHEUS,
    "metrics.recording.level": _PROMETHEUS,
    "metrics.sample.window.ms": _PROMETHEUS,
    "rebalance.timeout.ms": _NO_GROUP,
    "rest.extension.classes": "REST extensions are Java classes; permissions are managed by Airflow",
    "scheduled.rebalance.max.delay.ms": _NO_GROUP,
    "session.timeout.ms": _NO_GROUP,
    "ssl.client.auth": _PROXY,
    "worker.sync.timeout.ms": _NO_GROUP,
    "worker.unsync.backoff.ms": _NO_GROUP,
}

NOT_NEEDED_PREFIXES: dict[str, str] = {
    "admin.listeners.https.": _PROXY,
    "listeners.https.": _PROXY,
    "config.storage.": _IN_DATABASE,
    "internal.key.converter.": NOT_NEEDED["internal.key.converter"],
    "internal.value.converter.": NOT_NEEDED["internal.value.converter"],
}

NOT_FOR_TASKS = (
    "access.control.",
    "admin.listeners",
    "airflow.",
    "database.url",
    "listeners",
    "response.http.",
    "rest.",
    "spark.",
)
"""Prefixes of keys that stay on the driver: a Spark worker must not or need not have them."""


def is_client_key(key: str) -> bool:
    """Whether a worker's key without prefix configures its Kafka clients."""
    return key not in NOT_NEEDED and (key in CLIENT_KEYS or key.startswith(CLIENT_PREFIXES))


def not_needed_reason(key: str) -> str | None:
    """Return why a key of Connect has no meaning here; ``None`` if it has one."""
    if key in NOT_NEEDED:
        return NOT_NEEDED[key]
    return next((reason for prefix, reason in NOT_NEEDED_PREFIXES.items() if key.startswith(prefix)), None)
