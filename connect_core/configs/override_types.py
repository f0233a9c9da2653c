"""Types of Kafka client settings: a value of another type is rejected before a client is created with it.

Data only. Numbers and booleans of Kafka 4.3's ``ProducerConfig``, ``ConsumerConfig`` and ``AdminClientConfig``, which
agree on every name they share, and those that only librdkafka has; all else is text.
"""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.api.config import ConfigType

__all__ = ["OVERRIDE_TYPES"]

_INT = """
auto.commit.interval.ms batch.size compression.gzip.level compression.lz4.level compression.zstd.level
default.api.timeout.ms delivery.timeout.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes heartbeat.interval.ms
max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records
max.request.size metrics.num.samples receive.buffer.bytes request.timeout.ms retries sasl.login.connect.timeout.ms
sasl.login.read.timeout.ms sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.nbf.seconds
sasl.oauthbearer.clock.skew.seconds send.buffer.bytes session.timeout.ms transaction.timeout.ms
"""
_LONG = """
buffer.memory connections.max.idle.ms linger.ms max.block.ms metadata.max.age.ms metadata.max.idle.ms
metadata.recovery.rebootstrap.trigger.ms metrics.sample.window.ms partitioner.availability.timeout.ms
reconnect.backoff.max.ms reconnect.backoff.ms retry.backoff.max.ms retry.backoff.ms
sasl.kerberos.min.time.before.relogin sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms socket.connection.setup.timeout.max.ms
socket.connection.setup.timeout.ms
"""
_SHORT = "sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds"
_DOUBLE = """
sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor sasl.login.refresh.window.factor
sasl.login.refresh.window.jitter
"""
_BOOLEAN = """
allow.auto.create.topics check.crcs enable.auto.commit enable.idempotence enable.metrics.push
exclude.internal.topics internal.throw.on.fetch.stable.offset.unsupported partitioner.adaptive.partitioning.enable
partitioner.ignore.keys sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.header.urlencode
transaction.two.phase.commit.enable
"""
_LIBRDKAFKA_INT = """
batch.num.messages broker.address.ttl compression.level coordinator.query.interval.ms fetch.error.backoff.ms
fetch.message.max.bytes fetch.queue.backoff.ms fetch.wait.max.ms max.in.flight message.copy.max.bytes
message.max.bytes message.send.max.retries message.timeout.ms queue.buffering.backpressure.threshold
queue.buffering.max.kbytes queue.buffering.max.messages queued.max.messages.kbytes queued.min.messages
receive.message.max.bytes socket.max.fails socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms
statistics.interval.ms sticky.partitioning.linger.ms topic.metadata.propagation.max.ms
topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms
"""
_LIBRDKAFKA_BOOLEAN = """
enable.auto.offset.store enable.partition.eof log.connection.close socket.keepalive.enable socket.nagle.disable
topic.metadata.refresh.sparse
"""

OVERRIDE_TYPES: Mapping[str, ConfigType] = {
    name: kind
    for kind, names in (
        (ConfigType.INT, _INT + _LIBRDKAFKA_INT),
        (ConfigType.LONG, _LONG),
        (ConfigType.SHORT, _SHORT),
        (ConfigType.DOUBLE, _DOUBLE),
        (ConfigType.BOOLEAN, _BOOLEAN + _LIBRDKAFKA_BOOLEAN),
    )
    for name in names.split()
}
"""The type of every setting that is not text, by its name without prefix."""
