"""No key of Kafka Connect's workers is left without an answer."""

from __future__ import annotations

import pytest

from connect_core.settings import WorkerMode
from connect_core.settings.definition import definition
from connect_core.settings.keys import NOT_NEEDED, PREFIXES, is_client_key, not_needed_reason

KAFKA_KEYS = """
access.control.allow.methods access.control.allow.origin admin.listeners auto.include.jmx.reporter bootstrap.servers
client.dns.lookup client.id config.providers config.storage.replication.factor config.storage.topic connect.protocol
connections.max.idle.ms connector.client.config.override.allowlist connector.client.config.override.policy
exactly.once.source.support group.id header.converter header.converter.plugin.version heartbeat.interval.ms
inter.worker.key.generation.algorithm inter.worker.key.size inter.worker.key.ttl.ms inter.worker.signature.algorithm
inter.worker.verification.algorithms key.converter key.converter.plugin.version listeners metadata.max.age.ms
metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples
metrics.recording.level metrics.sample.window.ms offset.flush.interval.ms offset.flush.timeout.ms
offset.storage.file.filename offset.storage.partitions offset.storage.replication.factor offset.storage.topic
plugin.discovery plugin.path rebalance.timeout.ms receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms
request.timeout.ms response.http.headers.config rest.advertised.host.name rest.advertised.listener
rest.advertised.port rest.extension.classes retry.backoff.max.ms retry.backoff.ms sasl.client.callback.handler.class
sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name
sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor sasl.login.callback.handler.class
sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.mechanism sasl.oauthbearer.clock.skew.seconds
sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer sasl.oauthbearer.header.urlencode
sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name
sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url scheduled.rebalance.max.delay.ms
security.protocol send.buffer.bytes session.timeout.ms socket.connection.setup.timeout.max.ms
socket.connection.setup.timeout.ms ssl.cipher.suites ssl.client.auth ssl.enabled.protocols
ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password ssl.keymanager.algorithm
ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password ssl.keystore.type
ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates
ssl.truststore.location ssl.truststore.password ssl.truststore.type status.storage.partitions
status.storage.replication.factor status.storage.topic task.shutdown.graceful.timeout.ms topic.creation.enable
topic.tracking.allow.reset topic.tracking.enable value.converter value.converter.plugin.version
worker.sync.timeout.ms worker.unsync.backoff.ms
"""


def is_defined(key: str) -> bool:
    return any(key in definition(mode).config_keys() for mode in WorkerMode)


@pytest.mark.parametrize("key", KAFKA_KEYS.split())
def test_key_of_connect_is_answered(key: str) -> None:
    assert is_defined(key) or is_client_key(key) or not_needed_reason(key) or key.startswith(PREFIXES)


def test_no_key_is_both_honoured_and_not_needed() -> None:
    assert [key for key in NOT_NEEDED if is_defined(key) or is_client_key(key)] == []


def test_every_setting_is_documented() -> None:
    for mode in WorkerMode:
        assert [key.name for key in definition(mode).config_keys().values() if not key.doc] == []
