"""Which client settings a connector may override."""

from __future__ import annotations

import pytest

from connect_core.api.config import ConfigType
from connect_core.configs.override_types import OVERRIDE_TYPES
from connect_core.configs.overrides import CLIENTS, TUNING_KEYS, check_overrides, denied_reason
from connect_core.kafka.properties import KNOWN, RENAMED, UNUSED
from tests.configs.workers import worker

POLICY = "connector.client.config.override.policy"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username='u' password='p';"
DANGEROUS = """
sasl.kerberos.kinit.cmd plugin.library.paths ssl.engine.location ssl.engine.id ssl.providers ssl.provider
ssl.engine.factory.class security.providers https.ca.location https.ca.pem ssl.ca.location ssl.key.location
ssl.keystore.location ssl.truststore.location ssl.certificate.location ssl.crl.location sasl.oauthbearer.config
sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.jwks.endpoint.url
sasl.oauthbearer.assertion.private.key.file sasl.login.callback.handler.class sasl.login.class
sasl.client.callback.handler.class interceptor.classes metric.reporters key.serializer value.deserializer
partitioner.class transactional.id enable.idempotence enable.auto.commit group.instance.id acks
ssl.endpoint.identification.algorithm enable.ssl.certificate.verification config.providers sasl.kerberos.keytab
"""


def typed(key: str) -> str:
    return {None: "x", ConfigType.BOOLEAN: "true"}.get(OVERRIDE_TYPES.get(key), "1")


def errors(
    key: str, policy: str, value: str | None = None, client: str = "consumer", allowed: str | None = None
) -> list[str]:
    settings = {POLICY: policy} | ({} if allowed is None else {"connector.client.config.override.allowlist": allowed})
    given = typed(key) if value is None else value
    (found,) = check_overrides({f"{client}.override.{key}": given}, client, worker(settings))
    assert found.name == key
    return found.error_messages


@pytest.mark.parametrize("policy", ["None", "Principal", "All", "Allowlist"])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("key", DANGEROUS.split())
def test_dangerous_key_is_denied_by_every_policy(key: str, client: str, policy: str) -> None:
    (error,) = errors(key, policy, client=client, allowed=key)
    assert error.startswith(f"'{key}' may not be overridden in the connector configuration under any policy: ")


@pytest.mark.parametrize("key", sorted(TUNING_KEYS))
def test_tuning_key_is_allowed_by_default(key: str) -> None:
    (found,) = check_overrides({f"consumer.override.{key}": typed(key)}, "consumer", worker())
    assert found.error_messages == []
    assert denied_reason(key, "1") is None


def test_default_policy_refuses_the_rest() -> None:
    for key in ("bootstrap.servers", "group.id", "sasl.jaas.config", "client.id", "partitioner", "debug"):
        (found,) = check_overrides({f"consumer.override.{key}": PLAIN}, "consumer", worker())
        assert found.error_messages == [
            f"The 'Allowlist' policy does not allow '{key}' to be overridden in the connector configuration."
        ]


def test_policies_allow_what_connects_do() -> None:
    assert errors("linger.ms", "None") == [
        "The 'None' policy does not allow 'linger.ms' to be overridden in the connector configuration."
    ]
    assert errors("sasl.mechanism", "Principal") == []
    assert errors("linger.ms", "Principal")
    assert errors("bootstrap.servers", "All") == []
    assert errors("group.id", "all") == []


def test_allowlist_is_the_workers() -> None:
    assert errors("group.id", "Allowlist", allowed="group.id, client.id") == []
    assert errors("linger.ms", "Allowlist", allowed="group.id")
    assert errors("linger.ms", "Allowlist", allowed="")


@pytest.mark.parametrize(
    "value",
    [
        "com.sun.security.auth.module.JndiLoginModule required user.provider.url='ldap://h';",
        "com.sun.security.auth.module.LdapLoginModule required;",
        "",
    ],
)
def test_login_module_must_be_kafkas(value: str) -> None:
    assert errors("sasl.jaas.config", "All", PLAIN) == []
    assert "it loads code" in errors("sasl.jaas.config", "All", value)[0]


def test_spelling_does_not_help() -> None:
    assert "runs a program" in errors("SASL.Kerberos.Kinit.CMD", "All")[0]


def test_every_type_is_that_of_a_client_setting() -> None:
    known = (
        {name for names in KNOWN.values() for name in names}
        | UNUSED
        | {name for renamed in RENAMED.values() for name in renamed}
    )
    assert set(OVERRIDE_TYPES) - known == set()


def test_certificate_of_the_worker_is_shown_to_nobody_else() -> None:
    keys = worker({POLICY: "All", "consumer.ssl.keystore.location": "/k.p12", "consumer.security.protocol": "SSL"})
    for key in ("bootstrap.servers", "Bootstrap.Servers", "metadata.broker.list", "client.dns.lookup"):
        (found,) = check_overrides({f"consumer.override.{key}": "x"}, "consumer", keys)
        assert "logs in as the worker" in found.error_messages[0]
        (other,) = check_overrides({f"producer.override.{key}": "x"}, "producer", keys)
        assert other.error_messages == []
