"""Settings: defaults, where credentials come from, and what is refused, without a secret in any message."""

from __future__ import annotations

from typing import Any

import pytest

from connect_core.api.config import ConfigDef, Password
from connect_core.errors import ConfigError
from connect_core.schema_registry.login import Login
from connect_core.schema_registry.settings import RegistrySettings, define_registry

URL = "schema.registry.url"


def parsed(is_key: bool = False, /, **settings: str) -> RegistrySettings:
    given = {URL: "http://registry:8081"} | {name.replace("_", "."): text for name, text in settings.items()}
    return RegistrySettings.of(given, is_key)


def refused(**settings: str) -> str:
    with pytest.raises(ConfigError) as error:
        parsed(**settings)
    return str(error.value)


def test_defaults_are_those_of_confluent() -> None:
    found = parsed()
    assert (found.write.auto_register, found.write.use_latest, found.write.normalize) == (True, False, False)
    assert (found.write.schema_id, found.write.is_id_strict, found.write.is_latest_strict) == (None, True, True)
    calls = found.client.calls
    assert (calls.retries, calls.retry_wait, calls.retry_max_wait, calls.connect, calls.read) == (3, 1, 20, 60, 60)
    assert found.strategy.endswith("TopicNameStrategy")


def test_addresses_are_taken_without_credentials() -> None:
    found = parsed(schema_registry_url="http://me:pa%3Ass@one:8081/, https://me:x@two/contexts/.c/")
    assert found.client.urls == ("http://one:8081", "https://two/contexts/.c")
    assert found.client.login == Login("me", Password("pa:ss"))
    assert "pa:ss" not in repr(found)


@pytest.mark.parametrize("url", ["", " , ", "registry:8081", "mock://scope", "ftp://h", "http://h:port", "http://"])
def test_addresses_that_are_none_are_refused(url: str) -> None:
    assert "schema.registry.url" in refused(schema_registry_url=url)


def test_a_refused_address_shows_no_password() -> None:
    assert "secret" not in refused(schema_registry_url="mock://me:secret@host")
    assert "secret" not in refused(schema_registry_url="http://me:secret@host:port")


def test_an_address_is_required() -> None:
    with pytest.raises(ConfigError, match=r"schema\.registry\.url"):
        RegistrySettings.of({}, False)


def test_login_by_user_info() -> None:
    found = parsed(basic_auth_credentials_source="USER_INFO", basic_auth_user_info="me:a:b")
    assert found.client.login == Login("me", Password("a:b"))
    older = {"schema.registry.basic.auth.user.info": "old:x", "basic.auth.credentials.source": "USER_INFO"}
    assert RegistrySettings.of({URL: "http://r", **older}, False).client.login == Login("old", Password("x"))


def test_login_by_inheritance() -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a\\"b";'
    found = parsed(basic_auth_credentials_source="SASL_INHERIT", sasl_jaas_config=jaas)
    assert found.client.login == Login("me", Password('a"b'))


@pytest.mark.parametrize(
    "settings",
    [
        {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "hush"},
        {"basic_auth_credentials_source": "SASL_INHERIT", "sasl_jaas_config": "hush"},
        {"bearer_auth_token": "hush\nhush"},
        {"request_header_X": "hush\r\nY: z"},
    ],
)
def test_refused_secrets_are_not_shown(settings: dict[str, str]) -> None:
    assert "hush" not in refused(**settings)


def test_a_token_comes_before_a_password() -> None:
    found = parsed(bearer_auth_token="abc", bearer_auth_logical_cluster="lsrc-1", schema_registry_url="http://a:b@r")
    assert found.client.login == Login(token=Password("abc"))
    assert found.client.headers == (("target-sr-cluster", "lsrc-1"),)
    assert "abc" not in repr(found)


def test_headers_are_not_shown() -> None:
    found = RegistrySettings.of({URL: "http://r", "request.header.Authorization": "Basic hush"}, False)
    assert found.client.headers == (("Authorization", "Basic hush"),)
    assert "hush" not in repr(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("use.latest.with.metadata", "a=b"),
        ("rule.executors", "encrypt"),
        ("schema.format", "resolved"),
        ("context.name.strategy", "com.acme.MyContexts"),
        ("value.schema.id.serializer", "io.confluent.kafka.serializers.schema.id.ConfigSchemaIdSerializer"),
        ("basic.auth.credentials.source", "LDAP"),
        ("bearer.auth.credentials.source", "OAUTHBEARER"),
        ("max.retries", "-1"),
        ("http.read.timeout.ms", "0"),
        ("schema.registry.ssl.keystore.location", "store.jks"),
        ("schema.registry.ssl.keystore.key", "PEM"),
        ("proxy.host", "proxy"),
    ],
)
def test_what_cannot_be_done_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        RegistrySettings.of({URL: "http://r", name: value}, False)


def test_confluents_own_defaults_may_be_written_out() -> None:
    package = "io.confluent.kafka.serializers."
    written = {
        "context.name.strategy": f"{package}context.NullContextNameStrategy",
        "value.schema.id.deserializer": f"{package}schema.id.DualSchemaIdDeserializer",
        "value.schema.id.serializer": f"{package}schema.id.PrefixSchemaIdSerializer",
        "rule.executors": "",
    }
    assert RegistrySettings.of({URL: "http://r", **written}, False) == parsed(schema_registry_url="http://r")


def test_keys_and_values_have_strategies_of_their_own() -> None:
    settings: dict[str, Any] = {"key_subject_name_strategy": "k", "value_subject_name_strategy": "v"}
    assert (parsed(True, **settings).strategy, parsed(False, **settings).strategy) == ("k", "v")
    assert parsed(True).strategy_key == "key.subject.name.strategy"


def test_equal_settings_share_a_client() -> None:
    one, other = parsed(bearer_auth_token="a").client, parsed(True, bearer_auth_token="a").client
    assert {one: 1}[other] == 1
    assert parsed(bearer_auth_token="b").client != one


def test_every_setting_is_documented() -> None:
    keys = define_registry(ConfigDef()).config_keys().values()
    assert [key.name for key in keys if not key.doc or not key.group] == []
