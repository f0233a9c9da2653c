"""The client settings of librdkafka 2.16, and the mapping from Kafka's Java names.

Data only; ``clients`` applies it. Java names: Kafka 4.3's ``ProducerConfig``,
``ConsumerConfig`` and ``AdminClientConfig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

__all__ = ["CONNECTION_PREFIXES", "DENIED", "FORCED", "KNOWN", "RENAMED", "UNUSED", "ClientKind"]


class ClientKind(Enum):
    """A kind of Kafka client; the value is its prefix in worker properties."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    ADMIN = "admin"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON = _names("""
    bootstrap.servers broker.address.family broker.address.ttl client.dns.lookup client.id client.rack
    connections.max.idle.ms debug enable.metrics.push enable.ssl.certificate.verification https.ca.location https.ca.pem
    log.connection.close log_level max.in.flight.requests.per.connection message.copy.max.bytes message.max.bytes
    metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy receive.message.max.bytes
    reconnect.backoff.max.ms reconnect.backoff.ms retry.backoff.max.ms retry.backoff.ms
    sasl.mechanism sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file
    sasl.oauthbearer.assertion.jwt.template.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.private.key.pem
    sasl.oauthbearer.client.id sasl.oauthbearer.client.secret sasl.oauthbearer.config sasl.oauthbearer.extensions
    sasl.oauthbearer.grant.type sasl.oauthbearer.metadata.authentication.type sasl.oauthbearer.method
    sasl.oauthbearer.scope sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url sasl.password
    sasl.username security.protocol socket.connection.setup.timeout.ms socket.keepalive.enable socket.max.fails
    socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms
    ssl.ca.certificate.stores ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem ssl.cipher.suites
    ssl.crl.location ssl.curves.list ssl.endpoint.identification.algorithm ssl.key.location ssl.key.password ssl.key.pem
    ssl.keystore.location ssl.keystore.password ssl.sigalgs.list statistics.interval.ms
    topic.metadata.propagation.max.ms topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms
    topic.metadata.refresh.sparse
""")

KNOWN: Mapping[ClientKind, frozenset[str]] = {
    ClientKind.PRODUCER: _COMMON
    | _names("""
        acks batch.num.messages batch.size compression.level compression.type
        delivery.timeout.ms enable.idempotence linger.ms partitioner queue.buffering.backpressure.threshold
        queue.buffering.max.kbytes queue.buffering.max.messages request.timeout.ms retries
        sticky.partitioning.linger.ms transaction.timeout.ms transactional.id
    """),
    ClientKind.CONSUMER: _COMMON
    | _names("""
        allow.auto.create.topics auto.offset.reset check.crcs coordinator.query.interval.ms enable.auto.commit
        enable.auto.offset.store enable.partition.eof fetch.error.backoff.ms fetch.max.bytes fetch.message.max.bytes
        fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms group.id isolation.level max.poll.interval.ms
        queued.max.messages.kbytes queued.min.messages session.timeout.ms
    """),
    ClientKind.ADMIN: _COMMON,
}
"""The names passed on, without aliases, which are renamed first."""

_RENAMED_ALWAYS = {
    "max.in.flight": "max.in.flight.requests.per.connection",
    "metadata.broker.list": "bootstrap.servers",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.assertion.template.file": "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}

RENAMED: Mapping[ClientKind, Mapping[str, str]] = {
    ClientKind.PRODUCER: {
        **_RENAMED_ALWAYS,
        "compression.codec": "compression.type",
        "compression.gzip.level": "compression.level",
        "compression.lz4.level": "compression.level",
        "compression.zstd.level": "compression.level",
        "max.request.size": "message.max.bytes",
        "message.send.max.retries": "retries",
        "message.timeout.ms": "delivery.timeout.ms",
        "queue.buffering.max.ms": "linger.ms",
        "request.required.acks": "acks",
    },
    ClientKind.CONSUMER: {
        **_RENAMED_ALWAYS,
        "default.api.timeout.ms": "socket.timeout.ms",
        "fetch.max.wait.ms": "fetch.wait.max.ms",
        "max.partition.fetch.bytes": "fetch.message.max.bytes",
        "request.timeout.ms": "socket.timeout.ms",
    },
    ClientKind.ADMIN: {
        **_RENAMED_ALWAYS,
        "default.api.timeout.ms": "socket.timeout.ms",
        "request.timeout.ms": "socket.timeout.ms",
    },
}

UNUSED = _names("""
    auto.commit.interval.ms bootstrap.controllers buffer.memory config.providers exclude.internal.topics
    group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms interceptor.classes
    internal.throw.on.fetch.stable.offset.unsupported key.deserializer key.serializer max.block.ms max.poll.records
    metadata.max.idle.ms metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partition.assignment.strategy partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms
    partitioner.class partitioner.ignore.keys sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name
    sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor sasl.login.class
    sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
    sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.oauthbearer.clock.skew.seconds
    sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer sasl.oauthbearer.header.urlencode
    sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url
    sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope.claim.name
    security.providers share.acknowledgement.mode share.acquire.mode socket.connection.setup.timeout.max.ms
    ssl.enabled.protocols ssl.keymanager.algorithm ssl.keystore.type ssl.protocol ssl.provider
    ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.password ssl.truststore.type
    transaction.two.phase.commit.enable value.deserializer value.serializer
""")
"""Java settings that this client does not need."""

DENIED: Mapping[str, str] = {
    "plugin.library.paths": "it loads native code",
    "sasl.kerberos.keytab": "it reaches a shell command",
    "sasl.kerberos.kinit.cmd": "it is a shell command",
    "sasl.kerberos.principal": "it reaches a shell command",
    "ssl.engine.factory.class": "it names Java code",
    "ssl.engine.id": "it loads native code",
    "ssl.engine.location": "it loads native code",
    "ssl.providers": "it loads native code",
}
"""Never accepted from any user, with the reason (CVE-2023-25194 and the like)."""

FORCED: Mapping[ClientKind, Mapping[str, str]] = {
    ClientKind.PRODUCER: {"acks": "all", "enable.idempotence": "true", "partitioner": "murmur2_random"},
    ClientKind.CONSUMER: {
        "auto.offset.reset": "error",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "isolation.level": "read_committed",
        "max.poll.interval.ms": "86400000",
    },
    ClientKind.ADMIN: {},
}
"""Values that the protocol needs, whatever is configured (plan/README.md#rules)."""

CONNECTION_PREFIXES = ("bootstrap.servers", "client.dns.lookup", "sasl.", "security.protocol", "ssl.", "https.ca.")
"""Worker settings without a prefix that every client inherits."""
