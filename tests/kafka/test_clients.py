"""From Connect's properties to librdkafka's settings; no broker needed."""

from __future__ import annotations

import logging

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from hypothesis import given
from hypothesis import strategies as st

from connect_core.errors import ConfigError, RetriableError
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.properties import DENIED, FORCED, KNOWN, RENAMED, UNUSED, ClientKind

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def settings(kind: ClientKind, worker: dict[str, str], connector: dict[str, str] | None = None) -> dict[str, str]:
    return KafkaClients(worker, connector or {}).settings(kind)


def test_connection_settings_hold_for_every_client() -> None:
    worker = {"bootstrap.servers": "b:1", "security.protocol": "SSL", "ssl.ca.location": "/ca.pem", "group.id": "g"}
    for kind in ClientKind:
        found = settings(kind, worker)
        assert (found["bootstrap.servers"], found["security.protocol"]) == ("b:1", "SSL")
        assert found["ssl.ca.location"] == "/ca.pem"
        assert "group.id" not in found


SECURED = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "worker",
    "sasl.password": "w",
}


@pytest.mark.parametrize("kind", [ClientKind.PRODUCER, ClientKind.CONSUMER])
def test_connectors_clients_do_not_log_in_as_the_worker(kind: ClientKind) -> None:
    own = {f"{kind.value}.{key}": value for key, value in SECURED.items()} | {f"{kind.value}.sasl.username": "other"}
    found = settings(kind, {"bootstrap.servers": "b:1", **SECURED, **own}, {"name": "c"})
    assert (found["bootstrap.servers"], found["sasl.username"]) == ("b:1", "other")
    assert settings(kind, SECURED)["sasl.username"] == "worker"
    assert settings(ClientKind.ADMIN, SECURED, {"name": "c"})["sasl.username"] == "worker"


@pytest.mark.parametrize("kind", list(ClientKind))
@pytest.mark.parametrize("jaas", ["", f"{PLAIN} required username='own';", f"{PLAIN} required;"])
def test_nothing_of_the_workers_login_goes_with_another(kind: ClientKind, jaas: str) -> None:
    worker = {f"{prefix}{key}": value for prefix in ("", f"{kind.value}.") for key, value in SECURED.items()}
    own = {f"{kind.value}.override.sasl.jaas.config": jaas} if jaas else {f"{kind.value}.override.sasl.username": "own"}
    assert "sasl.password" not in settings(kind, worker, {"name": "c", **own})


@pytest.mark.parametrize("kind", [ClientKind.PRODUCER, ClientKind.CONSUMER])
def test_missing_login_of_a_connectors_client_names_the_prefix(kind: ClientKind) -> None:
    prefix = kind.value
    with pytest.raises(ConfigError, match=rf"{prefix}\.security\.protocol is not set.*SASL_SSL.*from {prefix}\. only"):
        settings(kind, SECURED, {"name": "c"})
    half = {f"{prefix}.security.protocol": "SASL_SSL", f"{prefix}.sasl.mechanism": "PLAIN"}
    with pytest.raises(ConfigError, match=rf"{prefix}\.sasl\.jaas\.config is not set"):
        settings(kind, {**SECURED, **half}, {"name": "c"})
    plain = {f"{prefix}.override.security.protocol": "PLAINTEXT"}
    assert settings(kind, SECURED, {"name": "c", **plain})["security.protocol"] == "PLAINTEXT"
    elsewhere = {f"{prefix}.override.bootstrap.servers": "other:1"}
    assert "sasl.username" not in settings(kind, SECURED, {"name": "c", **elsewhere})


def test_login_of_one_kind_is_enough_for_its_clients() -> None:
    consumers = {f"consumer.{key}": value for key, value in SECURED.items()}
    clients = KafkaClients({"bootstrap.servers": "b:1", **SECURED, **consumers}, {"name": "c"})
    assert clients.settings(ClientKind.CONSUMER)["sasl.username"] == "worker"
    assert clients.bootstrap_servers == "b:1"
    assert KafkaClients({}).bootstrap_servers == "localhost:9092"


@pytest.mark.parametrize("kind", list(ClientKind))
def test_brokers_without_login_want_no_prefix(kind: ClientKind) -> None:
    for protocol in ({}, {"security.protocol": "PLAINTEXT"}):
        worker = {"bootstrap.servers": "b:1", **protocol}
        assert settings(kind, worker, {"name": "c"})["bootstrap.servers"] == "b:1"


def test_prefix_goes_over_the_worker_and_override_over_both() -> None:
    worker = {"bootstrap.servers": "w:1", "producer.bootstrap.servers": "p:1", "producer.linger.ms": "1"}
    connector = {"producer.override.linger.ms": "9", "consumer.override.linger.ms": "3", "linger.ms": "4"}
    found = settings(ClientKind.PRODUCER, worker, connector)
    assert (found["bootstrap.servers"], found["linger.ms"]) == ("p:1", "9")
    assert settings(ClientKind.CONSUMER, worker, connector)["bootstrap.servers"] == "w:1"


def test_java_names_are_renamed() -> None:
    worker = {
        "producer.max.request.size": "2000000",
        "producer.send.buffer.bytes": "-1",
        "consumer.max.partition.fetch.bytes": "5",
        "consumer.fetch.max.wait.ms": "6",
        "consumer.request.timeout.ms": "7",
    }
    producer, consumer = settings(ClientKind.PRODUCER, worker), settings(ClientKind.CONSUMER, worker)
    assert (producer["message.max.bytes"], producer["socket.send.buffer.bytes"]) == ("2000000", "0")
    assert consumer["fetch.message.max.bytes"] == "5"
    assert (consumer["fetch.wait.max.ms"], consumer["socket.timeout.ms"]) == ("6", "7")


def test_compression_level_is_that_of_the_codec() -> None:
    levels = {"producer.compression.gzip.level": "9", "producer.compression.zstd.level": "3"}
    assert settings(ClientKind.PRODUCER, {**levels, "producer.compression.type": "zstd"})["compression.level"] == "3"
    assert "compression.level" not in settings(ClientKind.PRODUCER, {**levels, "producer.compression.type": "lz4"})


@pytest.mark.parametrize("kind", list(ClientKind))
def test_what_the_protocol_needs_cannot_be_changed(kind: ClientKind) -> None:
    worker = {f"{kind.value}.{key}": "something" for key in FORCED[kind]}
    connector = {f"{kind.value}.override.{key}": "else" for key in FORCED[kind]}
    found = settings(kind, worker, connector)
    assert {key: found[key] for key in FORCED[kind]} == FORCED[kind]


@pytest.mark.parametrize("key", sorted(DENIED))
@pytest.mark.parametrize("kind", list(ClientKind))
def test_denied_settings_are_refused_from_anybody(key: str, kind: ClientKind) -> None:
    for worker, connector in (
        ({f"{kind.value}.{key}": "x"}, {}),
        ({}, {f"{kind.value}.override.{key}": "x"}),
    ):
        with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
            settings(kind, worker, connector)


@pytest.mark.parametrize("kind", list(ClientKind))
def test_no_name_is_passed_that_librdkafka_does_not_know(kind: ClientKind) -> None:
    answers = {name: _answer(name) for name in KNOWN[kind]}
    assert [name for name, answer in answers.items() if "No such configuration property" in answer] == []


def _answer(name: str) -> str:
    try:
        Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": "0", name: "?"}).close()
    except KafkaException as failure:
        return str(failure.args[0].str())
    return ""


@pytest.mark.parametrize("kind", list(ClientKind))
def test_tables_do_not_contradict_each_other(kind: ClientKind) -> None:
    assert not KNOWN[kind] & RENAMED[kind].keys()
    assert not KNOWN[kind] & UNUSED
    assert not KNOWN[kind] & DENIED.keys()
    assert set(RENAMED[kind].values()) <= KNOWN[kind] | {"ssl.key.pem"}
    assert FORCED[kind].keys() <= KNOWN[kind]


JAVA = ["key.serializer", "interceptor.classes", "metric.reporters", "partitioner.class", "buffer.memory"]


def test_java_only_settings_are_left_out_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    worker = {f"producer.{key}": "java.Class" for key in JAVA} | {"producer.linger.msec": "5"}
    with caplog.at_level(logging.INFO):
        found = [settings(ClientKind.PRODUCER, worker) for _ in range(3)]
    assert not found[0].keys() & {*JAVA, "linger.msec"}
    assert caplog.text.count("linger.msec") <= 1


def test_plain_and_scram_logins_are_understood() -> None:
    for module in (PLAIN, "org.apache.kafka.common.security.scram.ScramLoginModule"):
        worker = {"sasl.jaas.config": f'{module} required username="u" password="p;\\"=\\\\";', "sasl.mechanism": "X"}
        found = settings(ClientKind.CONSUMER, worker)
        assert (found["sasl.username"], found["sasl.password"]) == ("u", 'p;"=\\')
        assert "sasl.jaas.config" not in found


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.sampled_from("\"'"))
def test_any_password_survives(password: str, quote: str) -> None:
    escaped = password.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    worker = {"sasl.jaas.config": f"{PLAIN} required username=bob password={quote}{escaped}{quote};"}
    found = settings(ClientKind.ADMIN, worker)
    assert (found["sasl.username"], found["sasl.password"]) == ("bob", password)


def test_oauth_login_becomes_oidc() -> None:
    jaas = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId='c' clientSecret='s';"
    handler = "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
    worker = {"sasl.jaas.config": jaas, "sasl.login.callback.handler.class": handler}
    found = settings(ClientKind.ADMIN, {**worker, "sasl.oauthbearer.token.endpoint.url": "https://t"})
    assert found["sasl.oauthbearer.method"] == "oidc"
    assert (found["sasl.oauthbearer.client.id"], found["sasl.oauthbearer.client.secret"]) == ("c", "s")


@pytest.mark.parametrize(
    "jaas",
    [
        'com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://evil" password="canary";',
        'com.sun.security.auth.module.Krb5LoginModule required keyTab="/k" password="canary";',
        "canary",
    ],
)
def test_other_logins_are_refused_without_showing_them(jaas: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(ClientKind.PRODUCER, {"sasl.jaas.config": jaas})
    assert "canary" not in str(caught.value)


def test_pem_stores_are_understood() -> None:
    worker = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.location": "/ca",
        "ssl.truststore.type": "pem",
        "ssl.keystore.location": "/me.pem",
        "ssl.key.password": "secret",
    }
    found = settings(ClientKind.PRODUCER, worker)
    assert (found["ssl.ca.location"], found["ssl.key.password"]) == ("/ca", "secret")
    assert found["ssl.certificate.location"] == found["ssl.key.location"] == "/me.pem"
    assert "ssl.keystore.location" not in found


def test_pkcs12_key_store_is_passed_on() -> None:
    worker = {"security.protocol": "SSL", "ssl.keystore.location": "/me.p12"}
    assert settings(ClientKind.ADMIN, worker)["ssl.keystore.location"] == "/me.p12"


def test_stores_of_the_rest_api_do_not_matter() -> None:
    worker = {"ssl.keystore.location": "/rest.jks", "ssl.client.auth": "required", "ssl.truststore.location": "/r.jks"}
    assert not [key for key in settings(ClientKind.ADMIN, worker) if key.startswith("ssl.")]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ssl.truststore.location", "/ca.jks"),
        ("ssl.truststore.location", "/ca.p12"),
        ("ssl.keystore.location", "/me.jks"),
        ("sasl.login.callback.handler.class", "software.amazon.msk.auth.iam.IAMClientCallbackHandler"),
    ],
)
def test_what_only_java_can_read_is_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        settings(ClientKind.PRODUCER, {"security.protocol": "SSL", key: value})


def test_empty_host_name_check_is_off() -> None:
    worker = {"security.protocol": "ssl", "ssl.endpoint.identification.algorithm": ""}
    assert settings(ClientKind.ADMIN, worker)["ssl.endpoint.identification.algorithm"] == "none"


@pytest.mark.parametrize("millis", ["120000", "2147483647", "30000"])
@pytest.mark.parametrize("own", [{}, {"transaction.timeout.ms": 70_000}])
def test_transactional_producer_takes_any_delivery_timeout(millis: str, own: dict[str, int]) -> None:
    clients = KafkaClients({}, {"producer.override.delivery.timeout.ms": millis})
    clients.producer({"transactional.id": "t", **own}).close()


def test_delivery_timeout_of_other_producers_is_as_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, object]] = []
    monkeypatch.setattr("connect_core.kafka.clients.Producer", lambda given, **named: made.append(given))
    clients = KafkaClients({}, {"producer.override.delivery.timeout.ms": "120000"})
    for own in ({}, {"transactional.id": "t"}):
        clients.producer(own)
    assert [given["delivery.timeout.ms"] for given in made] == ["120000", "60000"]


def test_batch_size_of_zero_is_no_batching() -> None:
    KafkaClients({}, {"producer.override.batch.size": "0"}).producer({}).close()


def test_refused_settings_are_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"compression\.codec"):
        KafkaClients({"producer.compression.type": "brotli"}).producer({})


def test_lack_of_memory_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise KafkaException(
            KafkaError(KafkaError._CRIT_SYS_RESOURCE, "Failed to create thread: Cannot allocate memory")
        )

    monkeypatch.setattr("connect_core.kafka.clients.Producer", refuse)
    with pytest.raises(RetriableError, match=r"too little memory.*Failed to create thread"):
        KafkaClients({}).producer({})
