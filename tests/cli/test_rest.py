"""``connect rest`` and ``connect distributed``."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from typer.testing import CliRunner

from connect_core.cli.app import application
from connect_core.dev.stack import Stack
from connect_core.errors import ConfigError

WORKER = """group.id=rest-test
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.topic=rest-offsets
status.storage.topic=rest-status
offset.storage.replication.factor=1
status.storage.replication.factor=1
"""


@pytest.mark.parametrize("command", [("rest",), ("distributed", "worker.properties")])
def test_public_address_without_a_login_is_refused_first(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "worker.properties").write_text(f"{WORKER}listeners=http://0.0.0.0:8083\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", "worker.properties")
    error = CliRunner().invoke(application(command[0]), command).exception
    assert isinstance(error, ConfigError)
    assert "Without a login" in str(error)


@pytest.mark.parametrize("command", [("rest",), ("distributed", "worker.properties")])
def test_metadata_in_mysql_is_refused_before_anything_is_touched(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "worker.properties").write_text(f"{WORKER}database.url=mysql://me:geheim@127.0.0.1:1/airflow\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", "worker.properties")
    error = CliRunner().invoke(application(command[0]), command).exception
    assert isinstance(error, ConfigError)
    assert str(error).startswith("database.url mysql://me:***@127.0.0.1:1/airflow is of the dialect mysql: ")
    assert "Write postgresql+psycopg://" in str(error)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    stack = Stack(tmp_path_factory.mktemp("rest"), services=("postgres", "kafka"))
    stack.up()
    try:
        yield stack.environment()
    finally:
        stack.down()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def environment(servers: Mapping[str, str], folder: Path) -> dict[str, str]:
    own = {name: servers[name] for name in ("CONNECT_DATABASE_URL", "CONNECT_BOOTSTRAP_SERVERS")}
    return {"PATH": os.environ["PATH"], "CONNECT_HOME": str(folder / "none"), "CONNECT_FILE_ROOTS": str(folder), **own}


def ask(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


def wait_for(process: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, process.stderr and process.stderr.read()
        try:
            ask(port, "GET", "/health")
            return
        except OSError:
            assert time.monotonic() < deadline, "connect rest did not start"
            time.sleep(0.2)


@pytest.mark.servers
def test_rest_prepares_what_it_needs_and_serves(servers: Mapping[str, str], tmp_path: Path) -> None:
    port = free_port()
    worker = tmp_path / "worker.properties"
    worker.write_text(f"{WORKER}listeners=http://127.0.0.1:{port}\n")
    own = {**environment(servers, tmp_path), "CONNECT_WORKER_CONFIG": str(worker)}
    command = [sys.executable, "-m", "connect_core.cli.app", "rest"]
    with subprocess.Popen(command, cwd=tmp_path, env=own, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(process, port)
            status, root = ask(port, "GET", "/")
            assert (status, root["version"], len(root["kafka_cluster_id"])) == (200, "4.3.1", 22)
            config = {"connector.class": "FileStreamSource", "file": "lines.txt", "topic": "lines"}
            assert ask(port, "POST", "/connectors", {"name": "a", "config": config})[0] == 201
            assert ask(port, "GET", "/connectors") == (200, ["a"])
            assert ask(port, "GET", "/connectors/a/status")[1]["connector"]["state"] == "UNASSIGNED"
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) in (0, -signal.SIGTERM)
        finally:
            process.kill()
    assert policies(servers["CONNECT_BOOTSTRAP_SERVERS"]) == {"rest-offsets": "compact", "rest-status": "compact"}


def policies(brokers: str) -> dict[str, str]:
    admin = AdminClient({"bootstrap.servers": brokers})
    wanted = [ConfigResource(ResourceType.TOPIC, name) for name in ("rest-offsets", "rest-status")]
    found = {one.name: future.result() for one, future in admin.describe_configs(wanted).items()}
    return {name: configs["cleanup.policy"].value for name, configs in found.items()}


@pytest.mark.servers
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({}, 'Missing required configuration "airflow.url"', id="no Airflow", marks=pytest.mark.matrix),
        pytest.param(
            {"CONNECT_DATABASE_URL": "postgresql://x@127.0.0.1:9/x"},
            "metadata database",
            id="database down",
            marks=pytest.mark.matrix,
        ),
        pytest.param({"CONNECT_BOOTSTRAP_SERVERS": "127.0.0.1:9"}, "127.0.0.1:9", id="brokers down"),
        pytest.param(
            {
                "CONNECT_AIRFLOW_URL": "http://127.0.0.1:9",
                "CONNECT_AIRFLOW_USER": "x",
                "CONNECT_AIRFLOW_PASSWORD_FILE": "worker.properties",
            },
            "Airflow at http://127.0.0.1:9 does not respond",
            id="Airflow down",
        ),
    ],
)
def test_distributed_names_what_is_missing(
    servers: Mapping[str, str], tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    (tmp_path / "worker.properties").write_text(f"{WORKER}listeners=http://127.0.0.1:{free_port()}\n")
    own = {**environment(servers, tmp_path), **changes}
    command = [sys.executable, "-m", "connect_core.cli.app", "distributed", "worker.properties"]
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
