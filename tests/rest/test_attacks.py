"""What somebody who may create connectors tries against the worker that runs them, through the served API."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from connect_core.rest import LoopbackAuthorizer
from connect_core.settings import WorkerMode, WorkerSettings
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.rest.conftest import Client, app_of

pytestmark = pytest.mark.slow
Serve = Callable[[FastAPI], Client]

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f"{PLAIN} username='worker' password='of-the-worker';",
}
LIVE = {"connect.validate.live": True}
JDBC = {
    "connector.class": "JdbcSource",
    "mode": "incrementing",
    "incrementing.column.name": "id",
    "topic.prefix": "stolen-",
}
OWN = f"{PLAIN} username='shop' password='of-the-shop';"


def served(harness: Harness, serve: Serve, **settings: str) -> Client:
    """Serve a worker with further settings."""
    harness.herder = replace(harness.herder, worker=worker(**settings))
    return serve(app_of(harness, LoopbackAuthorizer()))


def logged_in(policy: str) -> dict[str, str]:
    """Return settings of a worker whose clients all log in."""
    login = {f"{prefix}{key}": value for prefix in ("", "producer.", "consumer.") for key, value in LOGIN.items()}
    return {**login, "connector.client.config.override.policy": policy}


@pytest.mark.parametrize("kind", [SOURCE, SINK], ids=["source", "sink"])
@pytest.mark.parametrize("client", ["producer", "consumer", "admin"])
def test_worker_does_not_log_in_where_a_connector_says(
    harness: Harness, serve: Serve, kind: dict[str, str], client: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rogue:
        rogue.settimeout(0.5)
        address = f"127.0.0.1:{rogue.getsockname()[1]}"
        for policy in ("All", "Allowlist", "Principal", "None"):
            call = served(
                harness,
                serve,
                **logged_in(policy),
                **{
                    "connector.client.config.override.allowlist": "bootstrap.servers,security.protocol",
                    "connect.validate.live": "true",
                },
            )
            for key, value in (("bootstrap.servers", address), ("security.protocol", "PLAINTEXT")):
                config = {**kind, f"{client}.override.{key}": value}
                answer = call("POST", "/connectors", {"name": "thief", "config": config})
                assert (answer.status, f"'{key}'" in answer.text) == (400, True), (policy, answer.text)
        assert call("GET", "/connectors").json == []
        with pytest.raises(TimeoutError):
            rogue.accept()


def test_connector_with_a_login_of_its_own_may_say_where(harness: Harness, serve: Serve) -> None:
    call = served(harness, serve, **logged_in("All"))
    own = {"consumer.override.sasl.jaas.config": OWN, "consumer.override.bootstrap.servers": "other:9092"}
    assert call("POST", "/connectors", {"name": "own", "config": {**SINK, **own}}).status == 201
    whose = {"admin.override.sasl.mechanism": "SCRAM-SHA-256"}
    assert call("POST", "/connectors", {"name": "weaker", "config": {**SINK, **whose}}).status == 400


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("consumer.override.max.poll.records", "zz", "INT"),
        ("producer.override.linger.ms", "soon", "LONG"),
        ("admin.override.request.timeout.ms", "1.5", "INT"),
        ("consumer.override.check.crcs", "maybe", None),
    ],
)
def test_override_of_another_type_is_refused_as_connect_does(
    harness: Harness, serve: Serve, key: str, value: str, kind: str | None
) -> None:
    call = served(harness, serve)
    name = key.partition(".override.")[2]
    why = f"Not a number of type {kind}" if kind else "Expected value to be either true or false"
    config = {**SINK, key: value, "name": "typed"}
    for answer in (
        call("POST", "/connectors", {"name": "typed", "config": config}),
        call("PUT", "/connector-plugins/FileStreamSink/config/validate", config),
    ):
        assert answer.status == 500
        assert answer.json["message"] == f"Invalid value {value} for configuration {name}: {why}"
    assert call("GET", "/connectors").json == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A standalone worker's folder: what connectors may touch, and what they may not beside it."""
    project = tmp_path / "project"
    for name in ("state/data", "dags", "links"):
        (project / name).mkdir(parents=True)
    (project / "links" / "dags").symlink_to(project / "dags")
    for name in ("state/connect.offsets.db", "state/secret-key", "worker.properties"):
        (project / name).write_text("canary")
    return project


@pytest.mark.parametrize(
    "file",
    [
        "dags/evil.py",
        "links/dags/evil.py",
        "links/../dags/evil.py",
        "state/connect.offsets.db",
        "state/connect.offsets.db-wal",
        "state/secret-key",
        "worker.properties",
    ],
)
def test_connector_touches_neither_code_nor_secrets_nor_the_database(
    harness: Harness, serve: Serve, project: Path, file: str
) -> None:
    own = {"CONNECT_PROJECT": str(project), "CONNECT_WORKER_CONFIG": str(project / "worker.properties")}
    properties = {
        **worker().raw,
        "file.roots": f"{project},{project}/state/data",
        "file.roots.excluded": "",
        "offset.storage.file.filename": f"{project}/state/connect.offsets",
        "secret.key.file": f"{project}/state/secret-key",
    }
    settings = WorkerSettings.from_properties(properties, own, WorkerMode.STANDALONE)
    harness.herder = replace(harness.herder, worker=replace(settings, values={**settings.values, **LIVE}))
    call = serve(app_of(harness, LoopbackAuthorizer()))
    path = str(project / file)
    attacks = (
        {**SINK, "file": path},
        {**SOURCE, "file": path},
        {**JDBC, "connection.url": f"jdbc:sqlite:{path}"},
    )
    for number, config in enumerate(attacks):
        answer = call("POST", "/connectors", {"name": f"thief-{number}", "config": config})
        assert (answer.status, "belongs to the worker" in answer.text) == (400, True), answer.text
    (project / "state" / "data" / "in.txt").touch()
    fine = {**SOURCE, "file": f"{project}/state/data/in.txt"}
    assert call("POST", "/connectors", {"name": "fine", "config": fine}).status == 201


def test_database_in_a_file_has_no_host(harness: Harness, serve: Serve, project: Path) -> None:
    for dialect in ("sqlite", "duckdb"):
        settings = {"limits.jdbc.dialects": "sqlite,duckdb", "connect.validate.live": "true"}
        call = served(harness, serve, **settings, **{"file.roots": str(project / "state" / "data")})
        config = {**JDBC, "connection.url": f"jdbc:{dialect}://host/{project}/state/connect.offsets.db"}
        answer = call("POST", "/connectors", {"name": "thief", "config": config})
        assert (answer.status, "has no host" in answer.text) == (400, True), answer.text


def test_query_of_a_jdbc_source_is_refused_where_the_worker_does_not_allow_them(
    harness: Harness, serve: Serve, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("CREATE TABLE secrets (id INTEGER PRIMARY KEY)")
        shop.execute("INSERT INTO secrets VALUES (1)")
    settings = {"limits.jdbc.dialects": "sqlite", "connect.validate.live": "true", "file.roots": str(tmp_path)}
    config = {**JDBC, "connection.url": f"jdbc:sqlite:{tmp_path}/shop.db", "query": "SELECT id FROM secrets"}
    call = served(harness, serve, **settings, **{"jdbc.query.allowed": "false"})
    answer = call("POST", "/connectors", {"name": "thief", "config": config})
    assert (answer.status, "set jdbc.query.allowed=true" in answer.text) == (400, True), answer.text
    found = call("PUT", "/connector-plugins/JdbcSource/config/validate", {"name": "thief", **config}).json
    errors = {one["value"]["name"]: one["value"]["errors"] for one in found["configs"] if one["value"]["errors"]}
    assert list(errors) == ["query"]
    call = served(harness, serve, **settings, **{"jdbc.query.allowed": "true"})
    assert call("POST", "/connectors", {"name": "reader", "config": config}).status == 201
