"""What a connector's code raises holds no secret of its configuration once somebody may read it."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import HIDDEN, Redaction, SecretBox
from connect_core.configs.providers import make_providers
from connect_core.errors import ConnectError, RetriableError

CANARIES = ("canary-env", "canary-file", "canary-dir", "canary-sealed", "canary-plain")


@pytest.fixture
def redaction(tmp_path: Path) -> Redaction:
    """The secrets of one connector, by every provider."""
    (tmp_path / "one.properties").write_text("password=canary-file\n")
    (tmp_path / "password").write_text("canary-dir")
    key = tmp_path / "key"
    key.write_bytes(Fernet.generate_key())
    properties = {
        "config.providers": "env,file,dir",
        "config.providers.env.param.allowlist.pattern": "CANARY",
        "config.providers.file.param.allowed.paths": str(tmp_path),
        "config.providers.dir.param.allowed.paths": str(tmp_path),
        "secret.key.file": str(key),
    }
    raw = {
        "any": "user=${env:CANARY}",
        "file.setting": f"${{file:{tmp_path}/one.properties:password}}",
        "other": f"${{dir:{tmp_path}:password}}",
        "a.password": SecretBox.from_file(key).seal("canary-sealed", "shop"),
        "b.password": "canary-plain",
        "c.password": "abc",
        "topic": "orders",
    }
    return Redaction(raw, make_providers(properties, {"CANARY": "canary-env"}), "shop")


def raised(canary: str) -> ConnectError:
    try:
        try:
            try:
                raise FileNotFoundError(2, "No such file", f"/{canary}")
            except OSError as error:
                raise KeyError(f"deep {canary}") from error
        except KeyError as error:
            error.add_note(f"note {canary}")
            raise RetriableError(f"the orders of {canary} failed", canary) from error
    except RetriableError as error:
        return error


@pytest.mark.parametrize("canary", CANARIES)
def test_secrets_are_taken_out_of_an_error_and_its_causes(redaction: Redaction, canary: str) -> None:
    error = redaction.clean(raised(canary))
    text = "".join(traceback.format_exception(error))
    assert canary not in text
    assert isinstance(error, RetriableError)
    assert "the orders of" in str(error)
    assert (HIDDEN if canary in ("canary-sealed", "canary-plain") else "${") in str(error)


def test_an_error_that_makes_its_own_text_is_stood_for(redaction: Redaction) -> None:
    error = redaction.clean(FileNotFoundError(2, "No such file", "/canary-file"))
    assert str(error).startswith("FileNotFoundError: [Errno 2] No such file")
    assert "canary" not in "".join(traceback.format_exception(error))


def test_other_texts_stay_as_they_are(redaction: Redaction) -> None:
    plain = raised("abc")
    assert redaction.clean(plain) is plain
    assert "abc failed" in str(plain), "a secret of three letters is in any text"
    assert str(plain.__cause__) == "'deep abc'"


def test_secrets_that_cannot_be_read_hide_nothing_else(redaction: Redaction) -> None:
    broken = Redaction({**redaction.raw, "more": "${file:/nowhere:x}"}, redaction.providers, "shop")
    assert broken("canary-env and canary-dir") == "${env:CANARY} and " + redaction.raw["other"]
