"""Secrets at rest and on every read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.api import Password
from connect_core.configs import HIDDEN, SecretBox, keep_hidden, mask, mask_task, seal_config, secrets, sensitive_keys
from connect_core.errors import ConfigError
from tests.configs.workers import SOURCE


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key() + b"\n")
    return SecretBox.from_file(file)


def token(reference: str) -> str:
    return reference.removeprefix("${sealed:").removesuffix("}")


@pytest.mark.parametrize(
    "key",
    [
        "connection.password",
        "producer.override.sasl.jaas.config",
        "value.converter.basic.auth.user.info",
        "aws.secret.access.key",
        "api_key",
        "ssl.keystore.key",
        "github.token",
        "secretAccessKey",
        "ssl.key.pem",
    ],
)
def test_key_is_sensitive_by_name(key: str) -> None:
    assert sensitive_keys({key: "x"}) == {key}


@pytest.mark.parametrize("key", ["name", "topics", "key.converter", "primary.key", "tokenizer", "secret.key.file"])
def test_other_keys_are_shown(key: str) -> None:
    assert sensitive_keys({key: "x"}) == frozenset()


def test_address_with_password_is_sensitive() -> None:
    config = {
        "a": "postgresql://u:pw@h/d",
        "b": "postgresql://u@h/d",
        "c": "postgresql://u:${env:PW}@h",
        "d": "http://h:1",
    }
    assert sensitive_keys(config) == {"a"}


def test_mask_hides_secrets_and_keeps_references(box: SecretBox) -> None:
    config = SOURCE | {
        "a.password": "s3cret",
        "b.password": "${env:PW}",
        "c.password": box.seal("s3cret", "lines"),
        "d.password": "",
    }
    assert mask(config) == SOURCE | {
        "a.password": HIDDEN,
        "b.password": "${env:PW}",
        "c.password": HIDDEN,
        "d.password": "",
    }
    assert str(Password("x")) == HIDDEN


def test_hidden_value_keeps_the_stored_one() -> None:
    stored = {"a.password": "${sealed:x}", "topic": "t"}
    assert keep_hidden({"a.password": HIDDEN, "topic": "u"}, stored) == {"a.password": "${sealed:x}", "topic": "u"}
    with pytest.raises(ConfigError, match=r"no stored value for b\.password"):
        keep_hidden({"b.password": HIDDEN}, stored)


def test_seal_leaves_no_literal_secret(box: SecretBox) -> None:
    config = SOURCE | {"a.password": "s3cret", "b.password": "${file:/k:pw}"}
    stored = seal_config(config, "lines", box, is_required=True)
    assert "s3cret" not in str(stored)
    assert stored["b.password"] == "${file:/k:pw}"
    assert box.open(token(stored["a.password"]), "lines") == "s3cret"
    assert {key: stored[key] for key in SOURCE} == SOURCE


def test_sealed_value_is_not_sealed_again(box: SecretBox) -> None:
    stored = seal_config({"a.password": "s3cret"}, "lines", box, is_required=True)
    assert seal_config(stored, "lines", box, is_required=True) == stored


def test_without_key_secrets_are_refused_where_required() -> None:
    config = {"a.password": "s3cret", "b.password": "${env:PW}"}
    with pytest.raises(ConfigError, match=r"secret in a\.password\. Set CONNECT_SECRET_KEY_FILE") as caught:
        seal_config(config, "lines", None, is_required=True)
    assert "s3cret" not in str(caught.value)
    assert seal_config(config, "lines", None, is_required=False) == config


def test_sealed_value_belongs_to_its_connector(box: SecretBox) -> None:
    with pytest.raises(ConfigError, match="belongs to another"):
        box.open(token(box.seal("s3cret", "lines")), "other")


def test_older_keys_of_the_file_still_open(tmp_path: Path, box: SecretBox) -> None:
    sealed = token(box.seal("s3cret", "lines"))
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key() + b"\n" + file.read_bytes())
    rotated = SecretBox.from_file(file)
    assert rotated.open(sealed, "lines") == "s3cret"
    with pytest.raises(ConfigError, match="cannot be decrypted"):
        box.open(token(rotated.seal("s3cret", "lines")), "lines")


@pytest.mark.parametrize("content", ["", "short", None])
def test_bad_key_file_says_the_remedy(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=r"Cannot use the key file .*32 random bytes"):
        SecretBox.from_file(file)


def test_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "key"
    SecretBox.make(file)
    made = file.read_bytes()
    SecretBox.make(file)
    assert file.read_bytes() == made
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["key"]
    assert SecretBox.from_file(file).open(token(SecretBox.from_file(file).seal("a", "b")), "b") == "a"


def test_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    SecretBox.make(file)
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        SecretBox.make(file)


@pytest.mark.parametrize(
    ("key", "stored", "changed"),
    [
        ("path", "abfss://c@ours.dfs.core.windows.net/x", "abfss://c@theirs.dfs.core.windows.net/x"),
        ("path", "/data", "abfss://c@theirs.dfs.core.windows.net/x"),
        ("azblob.account.name", "ours", "theirs"),
        ("iceberg.catalog.warehouse", "abfss://c@ours.dfs.core.windows.net", "abfss://c@theirs.dfs.core.windows.net"),
        ("anything", "https://ours/x", "https://theirs/x"),
    ],
)
def test_hidden_secrets_do_not_follow_to_another_host(key: str, stored: str, changed: str) -> None:
    before = {"a.sas.token": "secret", key: stored}
    with pytest.raises(ConfigError, match=r"may send a\.sas\.token elsewhere"):
        keep_hidden({"a.sas.token": HIDDEN, key: changed}, before)
    assert keep_hidden({"a.sas.token": HIDDEN, key: stored}, before) == before


@pytest.mark.parametrize(
    ("stored", "changed"),
    [("abfss://c@ours/x", "abfss://c@ours/y"), ("s3://one/x", "s3://two/x"), ("/data/x", "/data/y")],
)
def test_another_folder_or_bucket_is_no_other_host(stored: str, changed: str) -> None:
    """What signs requests for a bucket is not sent to its owner."""
    found = keep_hidden({"secret.key": HIDDEN, "path": changed}, {"secret.key": "s", "path": stored})
    assert found == {"secret.key": "s", "path": changed}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("db.pass", "x"),
        ("headers", "Authorization: Basic aHVudGVyMg=="),
        ("url", "jdbc:oracle:thin:scott/tiger@host:1521:db"),
        ("options", "user=u password=x"),
        ("options", '{"user": "u", "password": "x"}'),
    ],
)
def test_secrets_of_many_forms_are_hidden(key: str, value: str) -> None:
    assert mask({key: value}) == {key: HIDDEN}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("compass", "north"),
        ("pass.through", "true"),
        ("options", "user=u password=${env:P}"),
        ("url", "jdbc:oracle:thin:@host:1521:db"),
        ("note", "a basic text of eight words and no secret"),
        ("description", "The Basic connector for orders, with basic configuration"),
        ("query", "SELECT s.id FROM sessions s WHERE token = s.last_token"),
        ("query", "SELECT CASE WHEN secret = 1 THEN 'a' END AS basic FROM t -- basic customer data"),
    ],
)
def test_what_only_looks_like_a_secret_is_shown(key: str, value: str) -> None:
    assert mask({key: value}) == {key: value}


def test_task_is_masked_by_the_classes_of_its_connector() -> None:
    """A plugin need not repeat them in its tasks."""
    connector = {"connector.class": "JdbcSink", "connection.password": "hunter2", "plain": "${sealed:abc}"}
    task = {"connection.password": "hunter2", "copied": "hunter2", "sealed": "${sealed:abc}", "topic": "t"}
    shown = {"connection.password": HIDDEN, "copied": HIDDEN, "sealed": HIDDEN, "topic": "t"}
    assert mask_task(task, connector) == shown


def _raise(_: object) -> None:
    raise KeyError("x")


@pytest.mark.parametrize("definition", [_raise, lambda self: None])
def test_connector_of_a_broken_class_is_shown(
    monkeypatch: pytest.MonkeyPatch, definition: Callable[[object], None]
) -> None:
    """One that was broken by an upgrade must not take the list of all connectors down."""
    monkeypatch.setattr("connect_core.connectors.file.sink.FileStreamSinkConnector.config", definition)
    vars(secrets)["_passwords"].cache_clear()
    try:
        assert mask({"connector.class": "FileStreamSink", "a.password": "x"})["a.password"] == HIDDEN
    finally:
        vars(secrets)["_passwords"].cache_clear()
