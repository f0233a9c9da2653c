"""References in configurations."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import unresolve
from connect_core.configs.providers import make_providers
from connect_core.errors import ConfigError

PREFIX = "config.providers"
FILES = "org.apache.kafka.common.config.provider.FileConfigProvider"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "db.properties").write_text("password=s3cret\nuser=ann")
    (allowed / "token").write_text("t0ken")
    (tmp_path / "outside.properties").write_text("password=stolen")
    (allowed / "link.properties").symlink_to(tmp_path / "outside.properties")
    return allowed


def properties(folder: Path) -> dict[str, str]:
    return {
        PREFIX: "env, vault, dir",
        f"{PREFIX}.env.param.allowlist.pattern": "APP_.*",
        f"{PREFIX}.vault.class": FILES,
        f"{PREFIX}.vault.param.allowed.paths": f"{folder}, /also",
        f"{PREFIX}.dir.param.allowed.paths": str(folder),
    }


def resolved(folder: Path, text: str, environment: dict[str, str] | None = None) -> str:
    return make_providers(properties(folder), environment or {}).resolve({"key": text})["key"]


def test_references_are_replaced(folder: Path) -> None:
    assert resolved(folder, "${env:APP_X}", {"APP_X": "1"}) == "1"
    assert resolved(
        folder, f"jdbc://${{vault:{folder}/db.properties:user}}:${{vault:{folder}/db.properties:password}}@h"
    ) == ("jdbc://ann:s3cret@h")
    assert resolved(folder, f"${{dir:{folder}:token}}") == "t0ken"


@pytest.mark.parametrize("text", ["", "plain", "${topic}", "${other:x}", "${env}", "$1", "${unknown:path:key}"])
def test_other_text_stays(folder: Path, text: str) -> None:
    assert resolved(folder, text) == text


def test_providers_are_off_by_default() -> None:
    text = {"a": "${env:HOME}", "b": "${file:/etc/passwd:root}"}
    assert make_providers({}, {"HOME": "/root"}).resolve(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "${env:HOME}",
        "${env:path:APP_X}",
        "${vault:{outside}:password}",
        "${vault:{folder}/../outside.properties:password}",
        "${vault:{folder}/link.properties:password}",
        "${dir:{folder}:../outside.properties}",
        "${dir:{folder}:link.properties}",
    ],
)
def test_nothing_outside_the_lists_is_read(folder: Path, text: str) -> None:
    asked = text.replace("{folder}", str(folder)).replace("{outside}", str(folder.parent / "outside.properties"))
    with pytest.raises(ConfigError, match=r"Cannot resolve the setting key: .* outside the provider's") as caught:
        resolved(folder, asked, {"HOME": "/root", "APP_X": "1"})
    assert "stolen" not in str(caught.value)


def test_missing_value_is_an_error(folder: Path) -> None:
    with pytest.raises(ConfigError, match="APP_GONE is not set"):
        resolved(folder, "${env:APP_GONE}")
    with pytest.raises(ConfigError, match="has no key gone"):
        resolved(folder, f"${{vault:{folder}/db.properties:gone}}")
    with pytest.raises(ConfigError, match="Cannot read the file gone"):
        resolved(folder, f"${{dir:{folder}:gone}}")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({PREFIX: "env"}, r"env\.param\.allowlist\.pattern"),
        ({PREFIX: "file"}, r"file\.param\.allowed\.paths"),
        ({PREFIX: "file", f"{PREFIX}.file.param.allowed.paths": "relative"}, "Write absolute paths"),
        ({PREFIX: "env", f"{PREFIX}.env.param.allowlist.pattern": "("}, "Write a regular expression"),
        ({PREFIX: "vault", f"{PREFIX}.vault.class": "com.acme.Vault"}, "Class could not be found"),
    ],
)
def test_provider_without_list_is_refused(given: dict[str, str], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        make_providers(given, {})


def test_sealed_value_needs_the_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    with_key = make_providers({"secret.key.file": str(file)}, {})
    box = with_key.secret_box()
    assert box is not None
    sealed = {"password": box.seal("s3cret", "orders")}
    assert with_key.resolve(sealed, "orders") == {"password": "s3cret"}
    with pytest.raises(ConfigError, match=r"Cannot resolve the setting password: .*CONNECT_SECRET_KEY_FILE"):
        make_providers({}, {}).resolve(sealed, "orders")


def test_task_configs_get_references_back() -> None:
    raw = {"user": "ann", "password": "${env:PW}", "url": "h/${env:DB}", "empty": "${env:NOTHING}"}
    clear = {"user": "ann", "password": "s3cret", "url": "h/orders", "empty": ""}
    back = unresolve(raw, clear)
    made = {"password": "s3cret", "dsn": "ann:s3cret@h/orders", "table": "orders", "user": "ann", "empty": ""}
    assert back(made) == {
        "password": "${env:PW}",
        "dsn": "ann:${env:PW}@h/${env:DB}",
        "table": "orders",
        "user": "ann",
        "empty": "",
    }


def test_a_changed_reference_leaves_unrelated_settings_of_tasks_alone() -> None:
    """A plan outlives a change of what ``${env:N}`` holds; 7 and false may occur in any setting."""
    raw = {"rows": "${env:N}", "log": "${env:LOG}", "quote": "false", "db": "${env:DB}", "url": "h/app"}
    clear = {"rows": "7", "log": "false", "quote": "false", "db": "app1", "url": "h/app"}
    made = {**clear, "range": "170-177", "is.first": "false", "port": "17"}
    stored = unresolve(raw, clear)(made)
    assert stored == {**raw, "range": "170-177", "is.first": "false", "port": "17"}


def test_numeric_passwords_are_not_in_plans() -> None:
    raw, clear = {"password": "${env:PIN}", "rows": "${env:N}"}, {"password": "482913", "rows": "5000"}
    back = unresolve(raw, clear)
    assert back({"login": "ann:482913", "end": "15000"}) == {"login": "ann:${env:PIN}", "end": "15000"}


def test_a_literal_setting_that_repeats_a_secret_stays_as_it_was_written() -> None:
    raw, clear = {"password": "${env:PW}", "table": "orders"}, {"password": "orders", "table": "orders"}
    assert unresolve(raw, clear)({**clear, "dsn": "ann:orders"}) == {**raw, "dsn": "ann:${env:PW}"}
