"""Secrets from every provider, sought in everything the API answers, logs and stores while all goes wrong."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from connect_core.configs import providers_of
from connect_core.herder import preflight
from connect_core.rest import LoopbackAuthorizer
from connect_core.settings import WorkerMode, WorkerSettings
from tests.herder.harness import SINK, Harness, worker
from tests.rest.conftest import Client, app_of
from tests.rest.test_attacks import Serve

pytestmark = pytest.mark.slow
CANARIES = {name: f"canary-of-{name}" for name in ("env", "file", "dir", "sealed")}
HIDDEN = "[hidden]"


@pytest.fixture
def call(harness: Harness, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A server with all providers and a key, which tries what a configuration names."""
    # There are no brokers.
    monkeypatch.setattr(preflight, "_BROKER_SECONDS", 0.1)
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "one.properties").write_text(f"password={CANARIES['file']}\n")
    (secrets / "password").write_text(CANARIES["dir"])
    (secrets / "key").write_bytes(Fernet.generate_key())
    properties = {
        **worker().raw,
        "connect.validate.live": "true",
        "file.roots": str(tmp_path),
        "secret.key.file": str(secrets / "key"),
        "config.providers": "env,file,dir",
        "config.providers.env.param.allowlist.pattern": "CANARY",
        "config.providers.file.param.allowed.paths": str(secrets),
        "config.providers.dir.param.allowed.paths": str(secrets),
    }
    settings = WorkerSettings.from_properties(properties, {}, WorkerMode.STANDALONE)
    providers = providers_of(settings, {"CANARY": CANARIES["env"]})
    harness.herder = replace(harness.herder, worker=settings, providers=providers)
    return serve(app_of(harness, LoopbackAuthorizer()))


def values(tmp_path: Path) -> dict[str, str]:
    """Return how a configuration has each secret."""
    return {
        "env": "${env:CANARY}",
        "file": f"${{file:{tmp_path}/secrets/one.properties:password}}",
        "dir": f"${{dir:{tmp_path}/secrets:password}}",
        "sealed": CANARIES["sealed"],
    }


def attempts(value: str) -> Iterator[dict[str, str]]:
    """Yield configurations that are refused, or whose systems do not answer, with the secret in what they say."""
    jdbc = {"connector.class": "JdbcSource", "mode": "bulk", "topic.prefix": "t-", "connection.user": "u"}
    for url in (f"jdbc:postgresql://127.0.0.1:1/{value}", f"jdbc:sqlite:{value}.db", f"jdbc:{value}://h/d", value):
        yield {**jdbc, "connection.url": url, "connection.password": value}
    yield {**jdbc, "connection.url": "jdbc:postgresql://127.0.0.1:1/d", "connection.password": value, "mode": value}
    for key in ("accessToken", "account.key", "connection.string", "authorization", "webhook", "x.password"):
        yield {**SINK, "file": f"/nowhere/{value}", key: value, "tasks.max": value}
        yield {**SINK, "file": f"/nowhere/{value}.txt", key: value, "topics.regex": f"({value}"}
    yield {**SINK, "errors.tolerance": value, "consumer.override.client.id": value, "transforms": value}


@pytest.mark.parametrize("provider", CANARIES)
def test_no_channel_shows_a_secret(
    harness: Harness, call: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture, provider: str
) -> None:
    caplog.set_level(logging.DEBUG)
    value, found = values(tmp_path)[provider], []
    for number, config in enumerate(attempts(value)):
        if provider == "sealed":
            # What is written plainly is hidden where its key says that it is a secret.
            config = {key: text for key, text in config.items() if text == value or value not in text}
            config = {key: "x" if text == value and not is_secret(key) else text for key, text in config.items()}
        name, kind = f"a{number}", config["connector.class"]
        found.append(call("PUT", f"/connector-plugins/{kind}/config/validate", {"name": name, **config}).text)
        found.append(call("POST", "/connectors", {"name": name, "config": config}).text)
        found.append(call("PUT", f"/connectors/{name}/config", config).text)
    good = {**SINK, "file": f"{tmp_path}/out.txt", "accessToken": value, "x.password": value}
    with_live = dict(harness.herder.worker.values)
    with_live["connect.validate.live"] = False
    harness.herder = replace(harness.herder, worker=replace(harness.herder.worker, values=with_live))
    assert call("POST", "/connectors", {"name": "good", "config": good}).status == 201
    call("PATCH", "/connectors/good/config", {"tasks.max": value})
    for path in ("", "/config", "/status", "/tasks", "/offsets", "/topics"):
        found.append(call("GET", f"/connectors/good{path}").text)
    for path in ("/acts", "/config/history", "/intervals", "/errors"):
        found.append(call("GET", f"/v1/connectors/good{path}").text)
    found.append(call("GET", "/connectors?expand=info&expand=status").text)
    found.append(caplog.text)
    with harness.database.read() as connection:
        tables = sa.inspect(connection).get_table_names()
        found += [str(connection.execute(sa.text(f"SELECT * FROM {table}")).fetchall()) for table in tables]
    assert len(found) > 50
    for text in found:
        at = text.find(CANARIES[provider])
        assert at < 0, text[max(0, at - 300) : at + 100]
    assert any(("${" if provider != "sealed" else HIDDEN) in text for text in found)


def is_secret(key: str) -> bool:
    return key in ("accessToken", "account.key", "connection.string", "authorization", "webhook") or "password" in key


def test_hidden_value_does_not_go_where_somebody_else_points(harness: Harness, serve: Serve) -> None:
    call = serve(app_of(harness, LoopbackAuthorizer()))
    stored = {**SINK, "my.url": "http://good/", "my.password": "secret-1", "tasks.max": "1"}
    assert call("POST", "/connectors", {"name": "a", "config": stored}).status == 201
    shown = call("GET", "/connectors/a/config").json
    assert shown["my.password"] == HIDDEN
    for address in (
        {"my.url": "http://evil/"},
        {"myEndpoint": "http://evil/"},
        {"consumer.override.bootstrap.servers": "evil:9092"},
        {"proxy.host": "evil"},
        {"connector.class": "FileStreamSinkConnector"},
    ):
        for answer in (
            call("PUT", "/connectors/a/config", {**shown, **address}),
            call("PATCH", "/connectors/a/config", address),
        ):
            assert (answer.status, "my.password elsewhere" in answer.text) == (400, True), answer.text
    assert call("GET", "/connectors/a/config").json == shown
    assert call("PUT", "/connectors/a/config", {**shown, "tasks.max": "2"}).status == 200
    assert call("PATCH", "/connectors/a/config", {"tasks.max": "3"}).status == 200
    again = {"my.url": "http://better/", "my.password": "secret-2"}
    assert call("PATCH", "/connectors/a/config", again).status == 200
    with harness.database.read() as connection:
        text = str(connection.execute(sa.text("SELECT config FROM connectors")).fetchall())
    assert "secret-2" in text


def test_what_was_refused_is_in_the_audit(harness: Harness, serve: Serve) -> None:
    call = serve(app_of(harness, LoopbackAuthorizer()))
    assert call("POST", "/connectors", {"name": "a", "config": SINK}).status == 201
    assert call("PUT", "/connectors/a/config", {**SINK, "tasks.max": "0", "x.password": "canary-1"}).status == 400
    assert call("PATCH", "/connectors/a/config", {"tasks.max": "none\0\ud800"}).status == 400
    acts = [act for act in call("GET", "/v1/connectors/a/acts").json["acts"] if "refused" in (act["after"] or {})]
    assert [act["action"] for act in acts] == ["configure", "configure"]
    assert "tasks.max" in acts[-1]["after"]["refused"]
    assert "canary-1" not in json.dumps(acts)
