"""Connectors by command, on a deployment whose Airflow is not there: acts become requests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from connect_core.cli.app import application
from connect_core.cli.connectors import opened_herder
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_in_database
from connect_core.store import Database, silences
from connect_core.store.requests import claim
from tests.dag.fake_airflow import FakeAirflow, fake_airflow
from tests.herder.harness import Driver

pytestmark = pytest.mark.slow

CONFIG = {"connector.class": "FileStreamSource", "file": "lines.txt", "topic": "lines"}


@pytest.fixture
def deployment(sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a worker file and a migrated database."""
    # No broker is there to be asked, and half a minute of asking tells nothing here.
    monkeypatch.setattr("connect_core.cli.deployment.rewrite_offsets", rewrite_in_database)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", str(tmp_path / "worker.properties"))
    (tmp_path / "worker.properties").write_text(
        "bootstrap.servers=127.0.0.1:9\ngroup.id=test\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "offset.storage.topic=o\nstatus.storage.topic=s\nconnect.validate.live=false\n"
        f"file.roots={tmp_path}\ndatabase.url=sqlite:///{tmp_path / 'connect.db'}\n"
    )
    shutil.copy(sqlite_template, tmp_path / "connect.db")
    return tmp_path


def connect(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(application(arguments[0]), arguments)


def test_commands_wait_longer_for_systems_than_servers(deployment: Path) -> None:
    with opened_herder(None) as herder:
        assert herder.live_seconds > signature(Herder).parameters["live_seconds"].default


def write(folder: Path, name: str, **changes: str) -> str:
    (folder / f"{name}.json").write_text(json.dumps({"name": name, "config": {**CONFIG, **changes}}))
    return f"{name}.json"


def asked(folder: Path) -> list[tuple[str, str | None]]:
    database = Database(f"sqlite:///{folder / 'connect.db'}")
    with database.write() as connection:
        return [(one.asked.kind, one.asked.connector) for one in claim(connection, "test", 60.0)]


@pytest.fixture
def airflow(deployment: Path) -> Iterator[FakeAirflow]:
    """An Airflow that the deployment uses, which loads the DAGs of connectors named c…"""
    (deployment / "password").write_text("secret")
    with fake_airflow() as found, (deployment / "worker.properties").open("a") as settings:
        settings.write(f"airflow.url={found.url}\nairflow.user=jo\nairflow.password.file={deployment / 'password'}\n")
        settings.flush()
        found.stored = {f"c{number}" for number in range(12)}
        yield found


def parses(airflow: FakeAirflow) -> int:
    return sum(number for kind, number in airflow.asked.items() if "parseDagFile" in kind)


@pytest.mark.parametrize("command", ["create", "apply", "import"])
def test_many_connectors_wait_for_one_parse_of_their_dags(deployment: Path, airflow: FakeAirflow, command: str) -> None:
    """A parse takes a minute with a thousand connectors, and each of them waited for its own."""
    files = [write(deployment, f"c{number}") for number in range(12)]
    found = connect(command, *(["--from"] if command == "import" else []), *files)
    assert found.exit_code == 0, found.output
    assert len(airflow.dags) == 1 + 12
    assert parses(airflow) == 1
    assert len(airflow.paused) == (12 if command == "import" else 0)


def test_many_connectors_are_deleted_with_one_parse(deployment: Path, airflow: FakeAirflow) -> None:
    names = [f"c{number}" for number in range(12)]
    connect("create", *(write(deployment, name) for name in names))
    before = parses(airflow)
    airflow.stored = set()
    assert connect("delete", *names, "--yes").exit_code == 0
    assert len(airflow.dags) == 1
    assert parses(airflow) == before + 1


def test_connector_lives_by_commands(deployment: Path) -> None:
    assert "no connectors yet" in connect("list").stdout
    assert connect("create", write(deployment, "a"), write(deployment, "b")).stdout == (
        "Created connector a\nCreated connector b\n"
    )
    Driver(Database(f"sqlite:///{deployment / 'connect.db'}"), "a").plan()
    assert connect("pause", "a").stdout == "Paused a\n"
    shown = json.loads(connect("status", "a", "--json").stdout)
    assert (shown["connector"]["state"], shown["tasks"][0]["state"]) == ("PAUSED", "PAUSED")
    assert connect("resume", "a").exit_code == 0
    assert connect("stop", "b").exit_code == 0
    states = {name: one["connector"]["state"] for name, one in json.loads(connect("list", "--json").stdout).items()}
    assert states == {"a": "RUNNING", "b": "STOPPED"}
    restarted = connect("restart", "a", "--include-tasks").stdout
    assert restarted.count("RESTARTING") == 2
    assert connect("delete", "a", "b").stdout == "Deleted a\nDeleted b\n"
    assert ("deploy", "a") in asked(deployment)


def test_existing_connector_is_given_a_configuration_when_asked(deployment: Path) -> None:
    file = write(deployment, "a")
    connect("create", file)
    assert "already exists" in str(connect("create", file).exception)
    write(deployment, "a", topic="others")
    assert connect("create", "--replace", file).stdout == "Reconfigured connector a\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("status", "nope"), "No status found for connector nope"),
        (("pause", "nope"), "Unknown connector nope"),
        (("restart", "nope"), "Unknown connector: nope"),
        (("delete", "nope"), "Connector nope not found"),
        (("create", "nope.json"), "Cannot read nope.json"),
        (("create", "bad.json"), "bad.json: Connector configuration is invalid"),
    ],
)
def test_errors_are_one_message(deployment: Path, arguments: tuple[str, ...], message: str) -> None:
    write(deployment, "bad", **{"tasks.max": "0"})
    error = connect(*arguments).exception
    assert isinstance(error, ConnectError)
    assert str(error).startswith(message)


def test_database_that_was_never_migrated_is_named_with_the_remedy(deployment: Path) -> None:
    (deployment / "connect.db").unlink()
    assert "connect distributed" in str(connect("list").exception)


def test_name_that_no_path_can_hold_is_deleted(deployment: Path) -> None:
    (deployment / "odd.json").write_text(json.dumps({"name": "a/b", "config": CONFIG}))
    connect("create", "odd.json")
    assert connect("delete", "a/b").stdout == "Deleted a/b\n"


def test_status_tells_since_when_airflow_has_not_answered(deployment: Path) -> None:
    connect("create", write(deployment, "a"))
    database, since = Database(f"sqlite:///{deployment / 'connect.db'}"), datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
    with database.write() as connection:
        silences.note(connection, silences.Silence("watcher", since, "ReadTimeout"))
    told = "Airflow has not responded since 2026-11-23 09:30:00+00:00 (watcher: ReadTimeout)\n"
    for arguments in (("status",), ("status", "a"), ("list",)):
        assert connect(*arguments).stdout.startswith(told)
    assert set(json.loads(connect("list", "--json").stdout)) == {"a"}
    with database.write() as connection:
        silences.forget(connection, "watcher")
    assert "Airflow" not in connect("status").stdout
