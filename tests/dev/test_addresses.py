import os
import subprocess
from pathlib import Path

import pytest

from connect_core.cli.rest import asks_for_login
from connect_core.configs import load_worker
from connect_core.dev.addresses import assign_ports, write_environment
from connect_core.dev.environment import load_environment, parse_variables, read_environment, write_variables
from connect_core.dev.home import Home
from connect_core.dev.services import SERVICES
from connect_core.rest import check_listeners
from connect_core.settings import WorkerMode


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "worker.properties").write_text(
        "bootstrap.servers=elsewhere:1\ngroup.id=mine\nfile.roots=.\n"
    )
    home = Home(tmp_path / ".connect", tmp_path)
    home.create()
    return home


def test_environment_names_only_what_has_ports(home: Home) -> None:
    assign_ports(home, ["kafka"], lambda line: None)
    environment = write_environment(home)
    assert environment["CONNECT_BOOTSTRAP_SERVERS"].startswith("127.0.0.1:")
    assert "CONNECT_DATABASE_URL" not in environment
    assert read_environment(home) == environment


def test_environment_is_read_by_its_owner_only(home: Home) -> None:
    assign_ports(home, SERVICES, lambda line: None)
    environment = write_environment(home)
    files = [home.path / "env", *(home.path / "secrets").iterdir()]
    assert {file.stat().st_mode & 0o077 for file in files} == {0}
    assert Path(environment["CONNECT_AIRFLOW_PASSWORD_FILE"]).read_text().strip()


def test_environment_stays_the_same(home: Home) -> None:
    assign_ports(home, SERVICES, lambda line: None)
    assert write_environment(home) == write_environment(home)


def test_settings_win_and_are_kept(home: Home) -> None:
    assert write_environment(home, {"CONNECT_WORKER_CONFIG": "mine"})["CONNECT_WORKER_CONFIG"] == "mine"
    assert write_environment(home)["CONNECT_WORKER_CONFIG"] == "mine"
    assert write_environment(home, {})["CONNECT_WORKER_CONFIG"] != "mine"


def test_worker_properties_get_the_addresses_in_force(home: Home) -> None:
    assign_ports(home, ["kafka", "rest"], lambda line: None)
    environment = write_environment(home)
    lines = Path(environment["CONNECT_WORKER_CONFIG"]).read_text().splitlines()
    assert "group.id=mine" in lines
    assert f"file.roots={home.path / 'data'}" in lines
    assert f"bootstrap.servers={environment['CONNECT_BOOTSTRAP_SERVERS']}" in lines
    assert f"listeners={environment['CONNECT_REST_URL']}" in lines
    assert "bootstrap.servers=elsewhere:1" not in lines


@pytest.mark.parametrize(
    ("bind", "given", "written"),
    [
        ("127.0.0.1", "", ["jdbc.query.allowed=true"]),
        ("127.0.0.1", "jdbc.query.allowed = false\n", ["jdbc.query.allowed = false"]),
        ("0.0.0.0", "", []),
    ],
)
def test_queries_are_allowed_where_only_this_machine_calls(
    home: Home, monkeypatch: pytest.MonkeyPatch, bind: str, given: str, written: list[str]
) -> None:
    monkeypatch.setenv("CONNECT_BIND", bind)
    properties = home.project / "config" / "worker.properties"
    properties.write_text(properties.read_text() + given)
    lines = Path(write_environment(home)["CONNECT_WORKER_CONFIG"]).read_text().splitlines()
    assert [line for line in lines if line.startswith("jdbc.query")] == written


def test_load_environment_keeps_what_is_set(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write_environment(home)
    monkeypatch.setattr(os, "environ", {"CONNECT_WORKER_CONFIG": "set before"})
    load_environment(home)
    assert os.environ["CONNECT_WORKER_CONFIG"] == "set before"
    assert os.environ["CONNECT_SECRET_KEY_FILE"] == str(home.path / "secrets" / "secret-key")


@pytest.mark.parametrize("value", ["sc://localhost:1/;token=a", 'it\'s "so"', "a b", "", "[{'a': 1}]", "a=b"])
def test_variables_are_read_back_here_and_by_a_shell(tmp_path: Path, value: str) -> None:
    write_variables(tmp_path / "env", {"NAME": value})
    assert parse_variables(tmp_path / "env") == {"NAME": value}
    script = f'. {tmp_path / "env"}; printf %s "$NAME"'
    assert subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout == value


@pytest.mark.parametrize(("bind", "has_login"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_rest_can_start_where_the_stack_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bind: str, has_login: bool
) -> None:
    home = Home(tmp_path / ".connect", Path(__file__).parents[2])
    monkeypatch.setenv("CONNECT_BIND", bind)
    assign_ports(home, SERVICES, lambda line: None)
    environment = write_environment(home)
    settings = load_worker(Path(environment["CONNECT_WORKER_CONFIG"]), environment, WorkerMode.DISTRIBUTED)
    assert [listener.host for listener in settings.listeners] == [bind]
    assert asks_for_login(settings) is has_login
    check_listeners(settings.listeners, has_login=has_login)
