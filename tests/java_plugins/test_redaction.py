"""What Java plugins print and log of the configuration they are asked about shows no secret."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.api.records import SourceRecord
from connect_core.configs import HIDDEN, Redaction, validate
from connect_core.configs.providers import make_providers
from connect_core.configs.secrets import _passwords
from connect_core.errors import ConnectError
from connect_core.java_plugins.plugins import JavaPlugins
from connect_core.java_plugins.redaction import HiddenTexts, redacting
from connect_core.java_plugins.registration import JavaPluginSource
from connect_core.registry import registry
from tests.configs.workers import worker
from tests.java_plugins.equipment import loaded

SECRET = 'S3CR3T "of" the\\plugin'
SOURCE = {"name": "count", "connector.class": "testing.CountingSource", "topic": "t", "secret": SECRET}


@pytest.fixture
def registered(plugins: JavaPlugins, monkeypatch: pytest.MonkeyPatch) -> Iterator[JavaPlugins]:
    """The Java plugins in the registry that validation uses."""
    monkeypatch.setattr(registry(), "_sources", ())
    registry().add(JavaPluginSource(plugins))
    _passwords.cache_clear()
    yield plugins
    _passwords.cache_clear()


def logged(caplog: pytest.LogCaptureFixture, marker: str) -> str:
    """Return all that was logged, once the marker was: the host's output is read in another thread."""
    end = time.monotonic() + 20
    while marker not in caplog.text and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    return caplog.text


@pytest.mark.slow
def test_a_plugin_that_prints_its_configuration_in_validate_shows_no_password(
    registered: JavaPlugins, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    validate(SOURCE | {"mode": "print-in-validate"}, worker())
    found = logged(caplog, "thrown")
    assert "validating" in found
    assert "logged" in found
    assert HIDDEN in found
    assert "topic=t" in found
    assert "S3CR3T" not in found
    assert "the\\plugin" not in found


@pytest.mark.slow
def test_what_a_reference_stands_for_is_not_printed(
    registered: JavaPlugins, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO)
    (tmp_path / "topic").write_text("canary-from-a-file")
    properties = {"config.providers": "dir", "config.providers.dir.param.allowed.paths": str(tmp_path)}
    reference = f"${{dir:{tmp_path}:topic}}"
    config = SOURCE | {"topic": reference, "mode": "print-in-validate"}
    validate(config, worker(properties), make_providers(properties, {}))
    found = logged(caplog, "thrown")
    assert reference in found
    assert "canary-from-a-file" not in found


@pytest.mark.slow
def test_where_a_long_text_is_cut_no_part_of_a_secret_is_left(
    registered: JavaPlugins, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secret = "abcdefgh" * 4 + "ijklmnop" * 4
    validate(SOURCE | {"secret": secret, "mode": "print-much-in-validate"}, worker())
    found = logged(caplog, "a line of 65")
    assert "xxx..." in found
    assert "abcdefgh" not in found
    assert "ijklmnop" not in found


@pytest.mark.slow
def test_an_error_of_validate_shows_no_password(registered: JavaPlugins) -> None:
    with pytest.raises(ConnectError, match="validate failed with") as failed:
        validate(SOURCE | {"mode": "throw-in-validate"}, worker())
    shown = [str(failed.value), *getattr(failed.value, "__notes__", ())]
    assert HIDDEN in shown[0]
    assert not [text for text in shown if "S3CR3T" in text]


@pytest.mark.slow
def test_stages_that_share_a_process_print_no_secret_of_each_other(
    plugins: JavaPlugins, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for secret in ("canary-one", "canary-two"):
        stage = loaded(plugins, "testing.Shout", "transformation")()
        with redacting(Redaction({"transforms.a.password": secret}).texts):
            stage.configure({"password": secret, "print": "canary-one canary-two"})
        with suppress(ConnectError):
            stage.apply(SourceRecord("t", value_schema=STRING_SCHEMA, value="a", source_partition={}, source_offset={}))
        printed = logged(caplog, "configured with")
        assert "canary-one" not in printed
    assert "canary-two" not in logged(caplog, "configured with").split("configured with")[-1]
    stage.close()


def test_the_secrets_that_are_kept_are_bounded() -> None:
    hidden = HiddenTexts()
    for number in range(300):
        hidden.add({f"secret-{number}-{one}": HIDDEN for one in range(100)})
    assert hidden.clean("secret-299-99 and secret-0-0") == f"{HIDDEN} and secret-0-0"


def test_of_two_secrets_the_longer_one_is_replaced() -> None:
    hidden = HiddenTexts()
    hidden.add({"canary": "${env:A}", "canary-long": "${env:B}"})
    assert hidden.clean("canary-long canary") == "${env:B} ${env:A}"
