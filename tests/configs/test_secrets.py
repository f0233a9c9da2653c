"""Secrets at rest and on every read."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.api import Password
from connect_core.configs import HIDDEN, SecretBox, keep_hidden, mask, seal_config, sensitive_keys
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
