"""The commands on a deployment whose Airflow is not there, and a Connect cluster that is served over HTTP."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from connect_core.cli.app import application
from connect_core.cli.reports import print_report
from connect_core.errors import ConfigError, ConnectError
from connect_core.herder import connectors as herder_connectors
from connect_core.herder.context import Herder
from connect_core.herder.rewriting import rewrite_in_database
from connect_core.kafka.marker_records import Marker
from connect_core.kafka.markers import OffsetsTopic
from connect_core.migration.report import ConnectorReport
from tests.migration.fake_connect import FakeConnect, FakeConnector
from tests.migration.served_connect import served_connect

pytestmark = pytest.mark.slow

SOURCE = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": "lines.txt", "topic": "lines"}
SINK = {"connector.class": "FileStreamSink", "tasks.max": "1", "file": "out.txt", "topics": "lines"}


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    names = (None, "connect_core", "connect_core.settings", "httpx", "httpcore")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def deployment(sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a worker file and a migrated database."""
    monkeypatch.setattr("connect_core.cli.deployment.rewrite_offsets", rewrite_in_database)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", str(tmp_path / "worker.properties"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "secrets.properties").write_text("password=hunter2\n")
    (tmp_path / "key").write_text("WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo=\n")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "worker.properties").write_text(
        "bootstrap.servers=127.0.0.1:9\ngroup.id=test\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "offset.storage.topic=o\nstatus.storage.topic=s\nconnect.validate.live=false\n"
        f"secret.key.file={tmp_path / 'key'}\nconfig.providers=file\n"
        f"config.providers.file.param.allowed.paths={tmp_path}\n"
        f"file.roots={tmp_path}\ndatabase.url=sqlite:///{tmp_path / 'connect.db'}\n"
    )
    shutil.copy(sqlite_template, tmp_path / "connect.db")
    return tmp_path


@pytest.fixture
def cluster() -> Iterator[tuple[str, FakeConnect]]:
    """A cluster with a source, a paused sink, one with a secret, and one nobody has the plugin of."""
    there = FakeConnect()
    there.connectors["lines"] = FakeConnector(
        dict(SOURCE), "source", "RUNNING", {'{"filename":"lines.txt"}': {"position": 7}}
    )
    there.connectors["out"] = FakeConnector(
        {**SINK, "consumer.override.max.poll.records": "10", "config.action.reload": "none", "wrong.key": "1"},
        "sink", "PAUSED", {'{"kafka_partition":0,"kafka_topic":"lines"}': {"kafka_offset": 3}},
    )  # fmt: skip
    there.connectors["secret"] = FakeConnector({**SOURCE, "my.password": "${file:/etc/secrets.properties:password}"})
    there.connectors["alien"] = FakeConnector({"connector.class": "com.acme.Alien", "tasks.max": "1"})

    with served_connect(there, "jo:hunter2") as served:
        yield served.url, there


def connect(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(application(arguments[0]), arguments)


def states() -> dict[str, str]:
    found = json.loads(connect("list", "--json").stdout)
    return {name: one["connector"]["state"] for name, one in found.items()}


def test_report_says_what_becomes_of_each_key(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    url, there = cluster
    before = len(there.calls)
    found = connect("import", "--from", url, "--dry-run", "--json")
    assert found.exit_code == 1
    report = {one["name"]: one for one in json.loads(found.stdout)["connectors"]}
    assert {name: one["kind"] for name, one in report.items()} == {
        "lines": "native", "out": "native", "secret": "not possible", "alien": "not possible",
    }  # fmt: skip
    assert "plugin.path" in report["alien"]["reasons"][0]
    keys = {one["key"]: (one["treatment"], one["blocking"]) for one in report["out"]["keys"]}
    assert keys["topics"] == ("honoured", False)
    assert keys["consumer.override.max.poll.records"] == ("not needed", False)
    assert keys["config.action.reload"] == ("not needed", False)
    assert keys["wrong.key"] == ("not needed", False)
    assert report["secret"]["secrets"] == [
        {"provider": "file", "path": "/etc/secrets.properties", "keys": ["password"], "here": True}
    ]
    assert "outside the provider's allowed.paths" in str(report["secret"]["reasons"])
    assert report["out"]["group"] == "connect-out"
    assert report["out"]["guarantee"].startswith("exactly-once")
    assert report["lines"]["guarantee_change"].startswith("exactly-once here; at-least-once there")
    assert states() == {}
    assert [call for call in there.calls[before:] if not call.startswith("GET")] == []


def test_import_makes_them_stopped_with_offsets_and_again_changes_nothing(
    deployment: Path, cluster: tuple[str, FakeConnect]
) -> None:
    url, there = cluster
    found = connect("import", "--from", url, "--only", "[lo]*")
    assert found.exit_code == 0, found.output
    assert "created lines, 1 offset" in found.stdout
    assert "created out: it is PAUSED there: its positions will be stored when it is switched over" in found.stdout
    assert "2 connectors: 2 native, 0 Java plugin, 0 not possible" in found.stdout
    assert states() == {"lines": "STOPPED", "out": "STOPPED"}
    # A sink that has ended there by now is given its positions.
    there.connectors["out"].state = "STOPPED"
    assert "completed out, 1 offset" in connect("import", "--from", url, "--only", "out").stdout
    for _ in range(2):
        again = connect("import", "--from", url, "--only", "[lo]*")
        assert (again.exit_code, "unchanged lines" in again.stdout, "unchanged out" in again.stdout) == (0, True, True)


def test_another_configuration_is_left_alone(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    url, there = cluster
    connect("import", "--from", url, "--only", "lines")
    there.connectors["lines"].config["topic"] = "others"
    found = connect("import", "--from", url, "--only", "lines")
    assert "left alone lines: it exists here with different values of topic" in found.stdout
    assert found.exit_code == 1


def test_switch_from_where_it_was_imported(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    url, there = cluster
    connect("import", "--from", url, "--only", "lines")
    found = connect("switch", "lines")
    assert found.exit_code == 0, found.output
    assert "lines is here now, " in found.stdout
    assert there.connectors["lines"].state == "STOPPED"
    assert "nothing to do" in connect("switch", "lines").stdout
    back = connect("switch", "lines", "--back", "--from", url)
    assert "lines is there now, RUNNING" in back.stdout
    assert states()["lines"] == "STOPPED"


def test_the_way_back_says_what_the_cluster_has_other_values_of(
    deployment: Path, cluster: tuple[str, FakeConnect]
) -> None:
    url, _ = cluster
    connect("import", "--from", url, "--only", "lines")
    connect("switch", "lines")
    changed = {"name": "lines", **SOURCE, "topic": "others", "my.password": "hunter2"}
    (deployment / "lines.json").write_text(json.dumps(changed))
    assert connect("create", "--replace", "lines.json").exit_code == 0
    back = connect("switch", "lines", "--back")
    assert "note my.password, topic differ: there it runs with the values it has there" in back.stdout
    assert (back.exit_code, "hunter2" in back.stdout, states()["lines"]) == (0, False, "STOPPED")


def test_login_is_read_from_a_file_and_never_printed(
    deployment: Path, cluster: tuple[str, FakeConnect], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = cluster
    (deployment / "password").write_text("hunter2\n")
    arguments = ("import", "--from", url, "--only", "lines", "--dry-run", "--login", "jo")
    assert connect(*arguments, "--password-file", str(deployment / "password")).exit_code == 0
    monkeypatch.setenv("CONNECT_FROM_PASSWORD", "hunter2")
    assert connect(*arguments).exit_code == 0
    monkeypatch.setenv("CONNECT_FROM_PASSWORD", "wrong-4711")
    refused = connect(*arguments).exception
    assert isinstance(refused, ConnectError)
    assert "401" in str(refused)
    assert "4711" not in str(refused)
    with pytest.raises(ConfigError, match="use --login and --password-file") as caught:
        raise connect("import", "--from", url.replace("//", "//jo:hunter2@")).exception or AssertionError
    assert "hunter2" not in str(caught.value)


def test_their_workers_converters_are_taken_over(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    url, _ = cluster
    (deployment / "theirs.properties").write_text(
        "bootstrap.servers=x\nkey.converter=org.apache.kafka.connect.storage.StringConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\nvalue.converter.schemas.enable=false\n"
    )
    connect("import", "--from", url, "--only", "lines", "--their-worker", "theirs.properties")
    connect("export", "written")
    config = json.loads((deployment / "written" / "lines.json").read_text())["config"]
    assert config["value.converter.schemas.enable"] == "false"
    assert config["key.converter"].endswith("StringConverter")


def test_files_are_imported_without_a_cluster(deployment: Path) -> None:
    (deployment / "mine").mkdir()
    (deployment / "mine" / "a.json").write_text(json.dumps({"name": "a", "config": SOURCE}))
    found = connect("import", "--from", "mine")
    assert (found.exit_code, "created a" in found.stdout, states()) == (0, True, {"a": "STOPPED"})


@pytest.mark.parametrize("is_cluster", [True, False])
def test_offsets_of_sources_are_read_from_the_topic_that_is_named(
    deployment: Path, cluster: tuple[str, FakeConnect], monkeypatch: pytest.MonkeyPatch, is_cluster: bool
) -> None:
    """Before Kafka 3.5 the REST API has none; of files there is no REST API at all."""
    url, there = cluster
    there.has_offsets = False
    newest = {"lines": [Marker("lines", {"filename": "lines.txt"}, {"position": 9})]}
    monkeypatch.setattr(OffsetsTopic, "newest", lambda self: newest if self.name == "their-offsets" else {})
    (deployment / "lines.json").write_text(json.dumps({"name": "lines", "config": SOURCE}))
    place = url if is_cluster else "lines.json"
    if is_cluster:
        without = connect("import", "--from", url, "--only", "lines")
        assert without.exit_code == 1
        assert "connect import --offsets-topic" in " ".join(without.stdout.split())
    found = connect("import", "--from", place, "--only", "lines", "--offsets-topic", "their-offsets")
    assert (found.exit_code, states()) == (0, {"lines": "STOPPED"})
    assert "lines, 1 offset" in found.stdout


@pytest.mark.parametrize("form", ["json", "properties", "strimzi", "confluent"])
def test_what_is_exported_is_applied_without_a_change(deployment: Path, form: str) -> None:
    folder = deployment / "mine"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"name": "a", "config": {**SOURCE, "my.password": "hunter2"}}))
    (folder / "b.json").write_text(json.dumps({"name": "b c", "config": SINK, "initial_state": "PAUSED"}))
    assert connect("apply", "mine").exit_code == 0
    exported = connect("export", "out", "--format", form)
    assert "my.password [hidden]" in exported.stdout.replace("\n", " ")
    assert not any("hunter2" in file.read_text() for file in (deployment / "out").iterdir())
    again = connect("apply", "out", "--prune", "--dry-run", "--detailed-exitcode")
    assert (again.exit_code, again.stdout) == (0, "No changes. The connectors match the folder.\n")


def test_plan_is_printed_as_terraform_does(deployment: Path) -> None:
    folder = deployment / "mine"
    folder.mkdir()
    secret = {**SOURCE, "my.password": "hunter2"}
    (folder / "a.json").write_text(json.dumps({"name": "a", "config": secret}))
    (folder / "gone.json").write_text(json.dumps({"name": "gone", "config": SINK}))
    pending = connect("apply", "mine", "--dry-run", "--detailed-exitcode")
    assert (pending.exit_code, states()) == (2, {})
    assert pending.stdout.endswith("Plan: 2 to add, 0 to change, 0 to destroy.\n")
    applied = connect("apply", "mine")
    assert applied.stdout.endswith("Apply complete! Connectors: 2 added, 0 changed, 0 destroyed.\n")
    (folder / "a.json").write_text(
        json.dumps({"name": "a", "config": {**secret, "my.password": "4711-new", "topic": "others", "batch.size": "5"}})
    )
    (folder / "gone.json").unlink()
    (folder / "new.yaml").write_text(
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata: {name: new}\n"
        "spec: {class: FileStreamSink, tasksMax: 1, state: stopped, config: {file: out.txt, topics: lines}}\n"
    )
    plan = connect("apply", "mine", "--prune", "--dry-run").stdout
    assert "hunter2" not in plan
    assert "4711" not in plan
    assert '~ connector "a" {' in plan
    assert '+ batch.size  = "5"' in plan
    assert '~ my.password = "[hidden]" -> "[hidden]"' in plan
    assert '~ topic       = "lines" -> "others"' in plan
    assert '- connector "gone" {' in plan
    assert '+ connector "new" {' in plan
    assert plan.endswith("Plan: 1 to add, 1 to change, 1 to destroy.\n")
    assert connect("apply", "mine", "--prune").exit_code == 0
    assert sorted(states().items()) == [("a", states()["a"]), ("new", "STOPPED")]
    assert connect("apply", "mine", "--prune").stdout == "No changes. The connectors match the folder.\n"
    # The state of a resource holds for good.
    connect("resume", "new")
    assert "# state: STOPPED" in connect("apply", "mine").stdout
    assert states()["new"] == "STOPPED"


def test_nothing_is_changed_where_one_file_is_wrong(deployment: Path) -> None:
    folder = deployment / "mine"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"name": "a", "config": SOURCE}))
    (folder / "b.json").write_text(json.dumps({"name": "b", "config": {**SOURCE, "tasks.max": "0"}}))
    found = connect("apply", "mine")
    assert isinstance(found.exception, ConnectError)
    assert "b: tasks.max: " in str(found.exception)
    assert states() == {}
    os.truncate(folder / "a.json", 0)
    assert isinstance(connect("apply", "mine").exception, ConfigError)


@pytest.mark.parametrize(
    "arguments", [("apply", "empty"), ("apply", "empty", "--prune"), ("import", "--from", "empty")]
)
def test_an_empty_folder_is_a_wrong_folder(deployment: Path, arguments: tuple[str, ...]) -> None:
    (deployment / "empty").mkdir()
    assert "empty defines no connector: give a folder" in str(connect(*arguments).exception)


def test_a_pattern_that_selects_nothing_is_told(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    found = connect("import", "--from", cluster[0], "--only", "line-*").exception
    assert isinstance(found, ConfigError)
    assert "Invalid value line-* for configuration --only: none of 4 connectors is named so; there are alien" in str(
        found
    )


def test_an_export_to_a_file_is_refused(deployment: Path) -> None:
    (deployment / "here").write_text("")
    assert "Cannot make the folder here: File exists" in str(connect("export", "here").exception)


def test_another_folder_prunes_nothing_unless_it_is_meant(deployment: Path) -> None:
    for name in ("mine", "theirs"):
        (deployment / name).mkdir()
        (deployment / name / f"{name}.json").write_text(json.dumps({"name": name, "config": SOURCE}))
    connect("apply", "mine")
    planned = connect("apply", "theirs", "--prune", "--dry-run")
    assert (planned.exit_code, "1 to add, 0 to change, 1 to destroy" in planned.stdout) == (0, True)
    refused = connect("apply", "theirs", "--prune").exception
    assert isinstance(refused, ConnectError)
    assert "theirs defines none of the connectors that are here" in str(refused)
    assert list(states()) == ["mine"]
    assert connect("apply", "theirs", "--prune", "--yes").exit_code == 0
    assert list(states()) == ["theirs"]


def test_only_a_switch_starts_what_may_run_in_its_cluster(deployment: Path, cluster: tuple[str, FakeConnect]) -> None:
    url, there = cluster
    connect("import", "--from", url, "--only", "[lo]*")
    folder = deployment / "mine"
    connect("export", "mine", "--format", "strimzi")
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("state: stopped", "state: running"))
    lines = folder / "lines.yaml"
    lines.write_text(lines.read_text().replace('"lines.txt"', '"more.txt"'))
    applied = connect("apply", "mine")
    assert "Apply complete! Connectors: 0 added, 1 changed, 0 destroyed." in applied.stdout
    assert "note lines stays STOPPED here: it was imported and may run in its cluster" in applied.stdout
    assert states() == {"lines": "STOPPED", "out": "STOPPED"}
    assert connect("apply", "mine", "--dry-run", "--detailed-exitcode").exit_code == 0
    there.connectors["lines"].state = "STOPPED"
    connect("switch", "lines")
    connect("resume", "lines")
    again = connect("apply", "mine", "--dry-run", "--detailed-exitcode")
    assert (again.exit_code, "note lines" in again.stdout, "note out" in again.stdout) == (0, False, True)


def test_a_connector_is_stopped_before_its_settings_change(deployment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = deployment / "mine"
    folder.mkdir()
    resource = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnector\nmetadata: {name: new}\n"
    spec = "spec: {class: FileStreamSink, state: %s, config: {file: out.txt, topics: %s}}\n"
    (folder / "new.yaml").write_text(resource + spec % ("running", "lines"))
    connect("apply", "mine")
    (folder / "new.yaml").write_text(resource + spec % ("stopped", "others"))
    seen: list[str] = []
    put = herder_connectors.put_config

    def watched(herder: Herder, name: str, config: Mapping[str, str]) -> object:
        seen.append(states()[name])
        return put(herder, name, config)

    monkeypatch.setattr(herder_connectors, "put_config", watched)
    assert connect("apply", "mine").exit_code == 0
    assert seen == ["STOPPED"]


def test_an_address_without_its_scheme_is_no_missing_file(deployment: Path) -> None:
    found = connect("import", "--from", "connect:8083").exception
    assert "Invalid value connect:8083 for configuration --from: write http://connect:8083" in str(found)


def test_each_report_is_printed_as_soon_as_it_is_made() -> None:
    """With brokers that do not respond each takes seconds."""
    text = StringIO()
    seen: list[str] = []

    def made() -> Iterator[ConnectorReport]:
        for name in "ab":
            seen.append(text.getvalue())
            yield ConnectorReport(name, "X", "native")

    assert [one.name for one in print_report(Console(file=text), made())] == ["a", "b"]
    assert seen[0] == ""
    assert "a · native · X" in seen[1]


@pytest.mark.parametrize("arguments", [("apply", "", "--prune"), ("import", "--from", "")])
def test_an_unset_variable_is_not_the_working_directory(deployment: Path, arguments: tuple[str, ...]) -> None:
    (deployment / "lines.json").write_text(json.dumps({"name": "lines", "config": SOURCE}))
    found = connect(*arguments)
    assert isinstance(found.exception, ConfigError)
    assert "the working directory is ." in str(found.exception)
    assert states() == {}
