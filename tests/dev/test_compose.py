"""docker-compose.yaml: valid by the Compose schema, and its services really start."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import yaml
from jsonschema import Draft202012Validator

from connect_core.cli.app import COMMANDS
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.airflow_client import ServiceIdentity
from connect_core.dag.naming import dag_id_of
from connect_core.dev.checks import Finding
from connect_core.dev.environment import read_environment
from connect_core.dev.home import Home
from connect_core.dev.ports import is_free, port_of
from connect_core.dev.probes import check_brokers, check_database, check_spark
from connect_core.dev.processes import marked, read_pid_file
from connect_core.dev.services import CELERY_NAMES, SERVICES, SPARK_CLUSTER_NAMES, STANDARD
from connect_core.dev.stack import RunningService
from connect_core.settings.user_cache import user_cache
from tests.integration.deployment import eventually
from tests.integration.topics import Topics

_ROOT = Path(__file__).parents[2]
_SCHEMA = Path(__file__).parent / "compose" / "compose-spec.json"
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")
_SECONDS = 180.0


def _compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """Read the file as Compose does, with variables in place of its defaults."""
    text = (_ROOT / "docker-compose.yaml").read_text()
    filled = _VARIABLE.sub(lambda match: variables.get(match[1], match[2]), text)
    return dict(yaml.safe_load(filled))


def test_compose_file_is_valid_by_the_schema() -> None:
    raw = yaml.safe_load((_ROOT / "docker-compose.yaml").read_text())
    validator = Draft202012Validator(json.loads(_SCHEMA.read_text()))
    assert [error.message for error in validator.iter_errors(raw)] == []


def test_compose_services_are_those_of_the_stack() -> None:
    services = _compose({})["services"]
    assert list(services) == list(SERVICES)
    for name, service in services.items():
        assert service["command"] == ["connect", "dev", "run", name]
        assert service["healthcheck"]["test"] == ["CMD", "connect", "dev", "status", name]
        assert "dockerfile_inline" in service["build"]


def test_compose_stop_signals_are_those_of_the_stack() -> None:
    services = _compose({})["services"]
    stops = {name: service.get("stop_signal", "SIGTERM") for name, service in services.items()}
    assert stops == {name: service.stop_signal.name for name, service in SERVICES.items()}


def test_compose_fixes_every_port_of_the_stack() -> None:
    environment = _compose({})["services"]["kafka"]["environment"]
    wanted = {_variable(service, file): port for service in SERVICES for file, port in SERVICES[service].ports.items()}
    assert {name: int(value) for name, value in environment.items() if name.endswith("_PORT")} == wanted


def test_compose_profiles_start_what_is_not_standard() -> None:
    found = {name: service.get("profiles") for name, service in _compose({})["services"].items()}
    assert {name for name, profiles in found.items() if profiles is None} == set(STANDARD)
    assert {name for name, profiles in found.items() if profiles == ["cluster"]} == {
        *CELERY_NAMES,
        *SPARK_CLUSTER_NAMES,
    }


@pytest.mark.matrix
@pytest.mark.servers
@pytest.mark.timeout(900)
def test_compose_services_start_as_local_processes(tmp_path: Path) -> None:
    home = Home(tmp_path / "state", _ROOT)
    services = _compose(_variables(home))["services"]
    if "rest" not in COMMANDS:
        del services["rest"]
    with _processes(services, home):
        environment = read_environment(home)
        findings: list[Finding] = [check(environment) for check in (check_brokers, check_database, check_spark)]
        assert [finding.is_ok for finding in findings] == [True, True, True], findings
        assert _executor_of(home, "airflow-scheduler") == "CeleryExecutor"
        eventually(lambda: _processors_in_use(home), (16).__eq__)
        _move_lines(environment, home.data / "lines.txt")
    assert marked(home.path) == set()


def _processors_in_use(home: Home) -> int:
    """Return how many processors of the Spark workers the Spark Connect server holds."""
    address = f"http://127.0.0.1:{port_of(home, 'spark-master', 'ui_port')}/json/"
    return sum(one["cores"] for one in httpx.get(address).raise_for_status().json()["activeapps"])


def _move_lines(environment: Mapping[str, str], file: Path) -> None:
    """Have a Celery worker run a connector, on Spark, and wait for the end: a worker that stops would, too."""
    topics = Topics(environment["CONNECT_BOOTSTRAP_SERVERS"])
    topics.create(1, "lines")
    file.parent.mkdir(exist_ok=True)
    file.write_text("one\ntwo\n")
    text = "org.apache.kafka.connect.storage.StringConverter"
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines", "value.converter": text}
    answer = httpx.put(f"{environment['CONNECT_REST_URL']}/connectors/lines/config", json=config, timeout=60)
    assert answer.is_success, answer.text
    assert topics.read("lines", 2, 180) == [b"one", b"two"]
    url, user = environment["CONNECT_AIRFLOW_URL"], environment["CONNECT_AIRFLOW_USER"]
    airflow = AirflowApi(ServiceIdentity(url, user, Path(environment["CONNECT_AIRFLOW_PASSWORD_FILE"])))
    eventually(lambda: airflow.latest_runs(dag_id_of("lines"))[0].state, "success".__eq__)
    airflow.close()


def _variable(service: str, file: str) -> str:
    return f"CONNECT_{service}_{file}".upper().replace("-", "_")


def _variables(home: Home) -> dict[str, str]:
    names = [_variable(service, file) for service in SERVICES for file in SERVICES[service].ports]
    ports = [str(port) for port in range(21_500, 21_900) if is_free(port)]
    fixed = {"CONNECT_HOME": str(home.path), "CONNECT_PROJECT": str(home.project), "CONNECT_BIND": "127.0.0.1"}
    # As README's command for the profile `cluster` does.
    fixed |= {"CONNECT_AIRFLOW_EXECUTOR": "CeleryExecutor", "CONNECT_SPARK_CLUSTER": "true"}
    return {**fixed, "CONNECT_CACHE": str(user_cache()), **dict(zip(names, ports, strict=False))}


def _executor_of(home: Home, service: str) -> str | None:
    process = read_pid_file(home.path / service / "pid")
    return psutil.Process(process.pid).environ().get("AIRFLOW__CORE__EXECUTOR") if process else None


@contextmanager
def _processes(services: Mapping[str, Any], home: Home) -> Iterator[None]:
    """Start what the file says, in its order, and stop it the way Compose does."""
    children: dict[str, subprocess.Popen[bytes]] = {}
    healthy: set[str] = set()
    try:
        for name, service in services.items():
            for needed in service.get("depends_on", {}).keys() - healthy:
                _await_health(services[needed], children[needed], RunningService(home, needed))
                healthy.add(needed)
            children[name] = _start(service, service["command"])
        for name in children.keys() - healthy:
            _await_health(services[name], children[name], RunningService(home, name))
        yield
    finally:
        for name, child in reversed(children.items()):
            child.send_signal(getattr(signal, services[name].get("stop_signal", "SIGTERM")))
        for child in children.values():
            child.wait(30)


def _start(service: Mapping[str, Any], command: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **{name: str(value) for name, value in service["environment"].items()}}
    assert command[0] == "connect"
    program = [sys.executable, "-m", "connect_core.cli.app", *command[1:]]
    return subprocess.Popen(program, env=environment, stdout=subprocess.DEVNULL)


def _await_health(service: Mapping[str, Any], child: subprocess.Popen[bytes], running: RunningService) -> None:
    """Wait for the server, then ask as Compose does: each of its questions is a Python that starts."""
    deadline = time.monotonic() + _SECONDS
    while not running.is_healthy() and time.monotonic() < deadline:
        assert child.poll() is None, f"{service['command']} ended with {child.returncode}"
        time.sleep(0.5)
    while _start(service, service["healthcheck"]["test"][1:]).wait(60) != 0:
        assert child.poll() is None, f"{service['command']} ended with {child.returncode}"
        assert time.monotonic() < deadline, f"{service['command']} does not become healthy"
        time.sleep(2.0)
