"""Makes configured Kafka clients from worker and connector properties."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from connect_core.errors import ConfigError, RetriableError
from connect_core.kafka.credentials import login_settings, store_settings
from connect_core.kafka.failures import code_of
from connect_core.kafka.properties import (
    CONNECTION_PREFIXES,
    DENIED,
    FORCED,
    KNOWN,
    RENAMED,
    UNUSED,
    ClientKind,
)

__all__ = ["CLIENT_LOG", "ClientErrors", "KafkaClients", "destroy", "init_transactions"]

_log = logging.getLogger(__name__)
_CONNECT_SECONDS = 1.0
_COORDINATORS_TOPIC = "__transaction_state"
_BOOTSTRAP = "localhost:9092"
_TRANSACTION_MILLIS = 60_000
"""The default of ``transaction.timeout.ms``."""
_ADDRESSES = ("bootstrap.servers", "client.dns.lookup")
CLIENT_LOG = logging.getLogger("connect_core.kafka.librdkafka")

_SOON = {"reconnect.backoff.ms": "20"}

DEFAULTS: Mapping[ClientKind, Mapping[str, str]] = {
    ClientKind.PRODUCER: {
        **_SOON,
        "compression.type": "lz4",
        "linger.ms": "20",
        "batch.size": "1000000",
        "queue.buffering.max.messages": "1000000",
        "queue.buffering.max.kbytes": "1048576",
    },
    ClientKind.CONSUMER: {
        **_SOON,
        "queued.min.messages": "60000",
        "fetch.queue.backoff.ms": "10",
        "fetch.message.max.bytes": "8388608",
        "allow.auto.create.topics": "false",
    },
    ClientKind.ADMIN: {**_SOON, "socket.timeout.ms": "30000"},
}
"""Replacements for Kafka defaults that cost throughput; settings may override them (kafka/ADR-1-client-settings.md)."""


@dataclass(slots=True)
class ClientErrors:
    """The last error that a client reported, for the message of the exception that follows."""

    last: str = ""

    def note(self, error: KafkaError) -> None:
        """Remember an error; librdkafka calls this while the client is polled."""
        self.last = error.str()


@dataclass(frozen=True, slots=True)
class KafkaClients:
    """Makes clients from worker properties and a connector's overrides.

    ``worker``: worker properties; settings without a prefix apply to the worker's own clients and every admin client,
    those under ``producer.``, ``consumer.``, ``admin.`` to that kind. ``connector``: a connector's configuration, from
    which the client overrides (KIP-458, already checked by ``configs``) are read; empty for the worker's own clients. A
    connector's producers and consumers inherit the worker's broker addresses, but not its login.
    Connect: ``Worker.baseProducerConfigs``, ``baseConsumerConfigs``, ``adminConfigs``.
    """

    worker: Mapping[str, str]
    connector: Mapping[str, str] = field(default_factory=dict)
    client_id: str = "connect"

    @property
    def bootstrap_servers(self) -> str:
        """The bootstrap brokers, as configured; for messages to users."""
        return _last(self._layers(ClientKind.PRODUCER), "bootstrap.servers") or _BOOTSTRAP

    def of_worker(self) -> KafkaClients:
        """Return the worker's own clients, for its internal topics."""
        return replace(self, connector={})

    def settings(self, kind: ClientKind) -> dict[str, str]:
        """Return the librdkafka settings of one kind of client.

        Raise ConfigError for a setting that is never accepted or has no equivalent in librdkafka, and if a connector's
        client has no login though the brokers require one; settings that have no meaning here are logged once.
        """
        layers = self._layers(kind)
        if not self._is_shared(kind):
            _check_login(f"{kind.value}.", self.worker, {**layers[1], **layers[2]})
        merged = {"bootstrap.servers": _BOOTSTRAP, "client.id": self.client_id, **DEFAULTS[kind]}
        is_encrypted = "SSL" in _last(layers, "security.protocol").upper()
        for layer in layers:
            _refuse_denied(layer)
            if layer is layers[-1] and _LOGINS & layer.keys():
                # A connector's login replaces the worker's completely.
                merged = {key: value for key, value in merged.items() if key not in _LOGINS}
            merged |= _translated(kind, layer if is_encrypted else _without_ssl(layer))
        return {**merged, **FORCED[kind]}

    def producer(self, extra: Mapping[str, Any]) -> Producer:
        """Return a producer with ``extra`` settings on top. Raise ConfigError."""
        return _made(Producer, _within_transaction({**self.settings(ClientKind.PRODUCER), **extra}))

    def consumer(self, extra: Mapping[str, Any]) -> Consumer:
        """Return a consumer, to be assigned by hand, with ``extra`` settings on top. Raise ConfigError."""
        group = {"group.id": f"{self.client_id}-bounded"}
        return _made(Consumer, {**group, **self.settings(ClientKind.CONSUMER), **extra})

    def admin(self) -> AdminClient:
        """Return an admin client. Raise ConfigError."""
        return _made(AdminClient, self.settings(ClientKind.ADMIN))

    def _layers(self, kind: ClientKind) -> Sequence[Mapping[str, str]]:
        """Return the worker's settings for all clients, for this kind, and the connector's overrides; last wins."""
        shared = CONNECTION_PREFIXES if self._is_shared(kind) else _ADDRESSES
        return (
            {key: value for key, value in self.worker.items() if key.startswith(shared)},
            _with_prefix(self.worker, f"{kind.value}."),
            _with_prefix(self.connector, f"{kind.value}.override."),
        )

    def _is_shared(self, kind: ClientKind) -> bool:
        """Return whether the worker's own login applies to these clients."""
        return kind is ClientKind.ADMIN or not self.connector


def _within_transaction(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with a transaction's records given up no later than the transaction itself.

    librdkafka refuses a longer ``delivery.timeout.ms``, which the Java producer takes.
    """
    wanted = str(settings.get("delivery.timeout.ms", "")).strip()
    most = str(settings.get("transaction.timeout.ms", _TRANSACTION_MILLIS)).strip()
    if "transactional.id" not in settings or not (wanted.isdecimal() and most.isdecimal()):
        return settings
    return {**settings, "delivery.timeout.ms": str(min(int(wanted), int(most)))}


def init_transactions(producer: Producer, seconds: float) -> None:
    """Fence older producers of the same id. Raise KafkaException."""
    # Called while no broker is connected, the client would look for the coordinator only half a second later. The first
    # response contains the brokers, the second comes from one of them: the bootstrap connection is closed.
    with suppress(KafkaException):
        for _ in range(2):
            producer.list_topics(_COORDINATORS_TOPIC, min(seconds, _CONNECT_SECONDS))
    producer.init_transactions(seconds)


def destroy(producer: Producer) -> None:
    """Close a producer at once, without waiting for a broker; what is queued or in flight is dropped."""
    with warnings.catch_warnings(), suppress(KafkaException):
        warnings.simplefilter("ignore", RuntimeWarning)
        producer.purge()
        producer.close()


def _made(kind: type[Any], settings: dict[str, Any]) -> Any:
    try:
        return kind(settings, logger=CLIENT_LOG)
    except KafkaException as failure:
        error = code_of(failure)
        if error.code() == KafkaError._CRIT_SYS_RESOURCE:
            raise RetriableError(
                f"The machine has too little memory or threads for a Kafka client: {error.str()}"
            ) from failure
        raise ConfigError(f"The Kafka client rejects its settings: {error.str()}") from failure


def _with_prefix(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): value
        for key, value in properties.items()
        if key.startswith(prefix) and not key.startswith(f"{prefix}override.")
    }


def _last(layers: Sequence[Mapping[str, str]], key: str) -> str:
    return next((layer[key] for layer in reversed(layers) if key in layer), "")


def _without_ssl(layer: Mapping[str, str]) -> dict[str, str]:
    """Drop the encryption settings: without encryption, these keys belong to the worker's REST API."""
    return {key: value for key, value in layer.items() if not key.startswith("ssl.")}


def _check_login(prefix: str, worker: Mapping[str, str], own: Mapping[str, str]) -> None:
    """Raise ConfigError with the missing prefix: the brokers themselves would only close the connection."""
    wanted, protocol = worker.get("security.protocol", ""), own.get("security.protocol")
    why = f"a connector's {prefix.removesuffix('.')}s take their security settings from {prefix} only, as in Connect"
    if protocol is None and wanted.upper() not in ("", "PLAINTEXT") and "bootstrap.servers" not in own:
        raise ConfigError(
            f"{prefix}security.protocol is not set, though the worker's security.protocol is {wanted}: {why}."
            f" Set {prefix}security.protocol and, beside it, what the protocol needs ({prefix}sasl.…, {prefix}ssl.…)"
        )
    mechanism = own.get("sasl.mechanism", "")
    has_login = any(key in own for key in ("sasl.jaas.config", "sasl.username"))
    if (protocol or "").upper().startswith("SASL") and mechanism in _WITH_PASSWORD and not has_login:
        raise ConfigError(f"{prefix}sasl.jaas.config is not set, though {prefix}sasl.mechanism is {mechanism}: {why}")


_LOGINS = frozenset(
    {
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.private.key.pem",
    }
)
_WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def _refuse_denied(layer: Mapping[str, str]) -> None:
    for key in DENIED.keys() & layer.keys():
        raise ConfigError(key, layer[key], f"it is never accepted, because {DENIED[key]}; remove it")


def _translated(kind: ClientKind, layer: Mapping[str, str]) -> dict[str, str]:
    found = store_settings(layer)
    if jaas := layer.get("sasl.jaas.config"):
        found |= login_settings(jaas)
    for key, value in layer.items():
        name = RENAMED[kind].get(key, key)
        if name in KNOWN[kind] and key != "ssl.keystore.location":
            found[name] = _value(name, value)
        elif name == key and key not in _CONSUMED:
            _report(kind, key)
    levels = {f"compression.{codec}.level" for codec in ("gzip", "lz4", "zstd")} & layer.keys()
    if levels and f"compression.{layer.get('compression.type')}.level" not in levels:
        found.pop("compression.level", None)
    return found


_CONSUMED = frozenset(
    {
        "sasl.client.callback.handler.class",
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "ssl.keystore.location",
        "ssl.truststore.location",
    }
)


def _value(name: str, value: str) -> str:
    if name == "ssl.endpoint.identification.algorithm" and not value.strip():
        return "none"
    if name in ("socket.send.buffer.bytes", "socket.receive.buffer.bytes") and value.strip() == "-1":
        return "0"
    if name == "batch.size" and value.strip() == "0":
        # Java: no batching. A message larger than a batch is sent in one of its own.
        return "1"
    return value


@cache
def _report(kind: ClientKind, key: str) -> None:
    if key in UNUSED:
        _log.info("%s setting %s applies to the Java client and is not needed here", kind.value, key)
    else:
        _log.warning("%s setting %s is not known to the Kafka client and is ignored", kind.value, key)
