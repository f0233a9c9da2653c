"""The embedded stack with real servers: one private set, one story after the other."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from connect_core.dev.checks import Finding
from connect_core.dev.probes import check_brokers, check_database, check_spark
from connect_core.dev.processes import ProcessId, marked
from connect_core.dev.stack import Silent, Stack
from connect_core.dev.supervisor import running
from connect_core.errors import ConnectError

pytestmark = pytest.mark.servers

_LIGHT = ("postgres", "kafka", "spark")


class _Said(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("stack") / ".connect", _LIGHT, settings={"CONNECT_FILE_ROOTS": "/anywhere"})
    try:
        stack.up()
        yield stack
    finally:
        stack.down()


def _kill(process: ProcessId | None) -> None:
    assert process is not None
    psutil.Process(process.pid).kill()
    psutil.wait_procs([psutil.Process(process.pid)] if psutil.pid_exists(process.pid) else [], timeout=5)


def test_up_starts_servers_that_serve(stack: Stack) -> None:
    environment = stack.environment()
    findings: list[Finding] = [check(environment) for check in (check_brokers, check_database, check_spark)]
    assert [finding.is_ok for finding in findings] == [True, True, True], findings


def test_settings_reach_who_uses_the_stack(stack: Stack) -> None:
    assert stack.environment()["CONNECT_FILE_ROOTS"] == "/anywhere"


def test_up_again_changes_nothing(stack: Stack) -> None:
    before = {name: stack.service(name).pid for name in _LIGHT}
    assert stack.up() is False
    assert {name: stack.service(name).pid for name in _LIGHT} == before


def test_broker_writes_a_log_that_grows(stack: Stack) -> None:
    log = stack.service("kafka").log_path
    size = log.stat().st_size
    client = AdminClient({"bootstrap.servers": stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]})
    client.create_topics([_topic("log-grows")])["log-grows"].result(30)
    assert log.stat().st_size > size


def test_servers_listen_on_loopback_only(stack: Stack) -> None:
    families = [psutil.Process(pid).children(recursive=True) for pid in _pids(stack)]
    processes = [psutil.Process(pid) for pid in _pids(stack)] + [child for family in families for child in family]
    listening = {
        known.laddr.ip.removeprefix("::ffff:")
        for process in processes
        for known in process.net_connections("tcp")
        if known.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_secrets_are_on_no_command_line(stack: Stack) -> None:
    secrets = [file.read_text().strip() for file in (stack.home.path / "secrets").iterdir()]
    lines = [" ".join(psutil.Process(pid).cmdline()) for pid in _pids(stack)]
    assert not [secret for secret in secrets for line in lines if secret in line]


def test_spark_does_not_see_the_database(stack: Stack) -> None:
    pid = stack.service("spark").pid
    assert pid is not None
    names = psutil.Process(pid).environ()
    assert "CONNECT_BOOTSTRAP_SERVERS" in names
    assert not {"CONNECT_DATABASE_URL", "CONNECT_SPARK_REMOTE", "CONNECT_AIRFLOW_PASSWORD_FILE"} & names.keys()


@pytest.mark.parametrize("name", [*("postgres", "kafka"), pytest.param("spark", marks=pytest.mark.matrix)])
def test_killed_service_starts_again(stack: Stack, name: str) -> None:
    service = stack.service(name)
    before, restarts = service.pid, service.restarts
    service.kill()
    service.await_healthy(60)
    assert service.pid != before
    assert service.restarts == restarts + 1


def test_topics_survive_a_kill(stack: Stack) -> None:
    client = AdminClient({"bootstrap.servers": stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]})
    client.create_topics([_topic("survives")])["survives"].result(30)
    stack.service("kafka").kill()
    stack.service("kafka").await_healthy(60)
    assert "survives" in client.list_topics(timeout=30).topics


def test_stopped_service_stays_stopped_until_started(stack: Stack) -> None:
    postgres = stack.service("postgres")
    postgres.stop()
    assert postgres.pid is None
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(stack.environment()["CONNECT_DATABASE_URL"].replace("+psycopg", ""))
    postgres.start()
    assert postgres.is_healthy()


def test_up_takes_over_what_a_dead_supervisor_left(stack: Stack) -> None:
    before = {name: stack.service(name).pid for name in _LIGHT}
    _kill(running(stack.home, "supervisor"))
    assert stack.up() is True
    assert {name: stack.service(name).pid for name in _LIGHT} == before
    stack.service("postgres").kill()
    stack.service("postgres").await_healthy()


def test_command_line_says_that_nothing_is_to_do(stack: Stack) -> None:
    environment = {"CONNECT_HOME": str(stack.home.path), "CONNECT_PROJECT": str(stack.home.project)}
    done = _connect("dev", "up", *_LIGHT, **environment)
    assert "already running" in done.stdout
    status = _connect("dev", "status", **environment)
    assert status.returncode == 0
    assert status.stdout.count("healthy") == len(_LIGHT)
    assert "Kafka Server started" in _connect("dev", "logs", "kafka", "-n", "100000", **environment).stdout


def test_down_ends_this_stack_and_nothing_else(stack: Stack, tmp_path: Path) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(120)", str(stack.home.path)]
    with subprocess.Popen(sleep) as bystander, _other_stack(tmp_path) as other:
        _kill(running(stack.home, "supervisor"))
        assert stack.down() >= len(_LIGHT)
        assert marked(stack.home.path) == set()
        assert bystander.poll() is None
        assert other.service("postgres").is_healthy()
        bystander.kill()
    assert stack.down() == 0


def test_taken_ports_are_left_alone_and_said(tmp_path: Path) -> None:
    said = _Said()
    stack = Stack(tmp_path / ".connect", ("postgres",))
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        taken = server.getsockname()[1]
        (stack.home.folder("postgres") / "port").write_text(str(taken))
        try:
            stack.up(said)
            assert stack.service("postgres").port != taken
            assert f"postgres: port {taken} is in use, using {stack.service('postgres').port}" in said.lines
        finally:
            stack.down()


def test_old_java_stops_the_start_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    stack = Stack(tmp_path / ".connect", _LIGHT)
    with pytest.raises(ConnectError, match="is Java 11; Kafka and Spark need 17"):
        stack.up()
    assert marked(stack.home.path) == set()


def test_service_that_cannot_start_is_named_with_its_reason(tmp_path: Path) -> None:
    stack = Stack(tmp_path / ".connect", ("postgres",))
    (stack.home.folder("postgres") / "data").mkdir()
    (stack.home.path / "postgres" / "data" / "PG_VERSION").write_text("9\n")
    try:
        with pytest.raises(ConnectError, match=r"postgres did not start: .*"):
            stack.up(timeout=60)
    finally:
        stack.down()


def _pids(stack: Stack) -> list[int]:
    return [process.pid for process in marked(stack.home.path)]


def _topic(name: str) -> NewTopic:
    return NewTopic(name, 1, 1)


def _connect(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "connect_core.cli.app", *arguments]
    own = {**os.environ, **environment, "COLUMNS": "200"}
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=120, check=False)


@contextmanager
def _other_stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path / "other", ("postgres",))
    try:
        stack.up()
        yield stack
    finally:
        stack.down()
