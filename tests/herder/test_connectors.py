"""Connectors through the herder: accepted or refused as a whole, secrets never shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import ConfigProviders
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import AlreadyExistsError, BadRequestError, ConnectError, NotFoundError
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import audit
from connect_core.store import connectors as stored
from tests.herder.harness import SINK, SOURCE, Harness

pytestmark = pytest.mark.slow

SECRET = "hunter2-canary"
WITH_SECRET = {**SINK, "consumer.override.fetch.min.bytes": "1", "my.password": SECRET}


@pytest.fixture
def sealing(harness: Harness, tmp_path: Path) -> Herder:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    providers = ConfigProviders(key_file=file)
    return Herder(
        harness.database, harness.herder.worker, harness.scheduler, harness.herder.rewrite_offsets, providers, "jo"
    )


def raw_config(harness: Harness, name: str = "a") -> dict[str, str]:
    with harness.database.read() as connection:
        return dict(stored.get(connection, name).config)


@pytest.mark.parametrize(
    ("initial", "target"),
    [
        (None, TargetState.STARTED),
        ("running", TargetState.STARTED),
        ("PAUSED", TargetState.PAUSED),
        ("Stopped", TargetState.STOPPED),
    ],
)
def test_initial_state_ignores_case(harness: Harness, initial: str | None, target: TargetState) -> None:
    harness.create(initial_state=initial)
    with harness.database.read() as connection:
        assert stored.get(connection, "a").target_state is target
    paused = [("pause", "a")] if target is not TargetState.STARTED else []
    assert harness.scheduler.calls == [("deploy", "a"), *paused]


def test_created_connector_knows_its_plugin(harness: Harness) -> None:
    info = connectors.create(harness.herder, NewConnector(" a ", dict(SINK)))
    assert (info.name, info.tasks, info.type, info.config["name"]) == ("a", [], "sink", "a")
    with harness.database.read() as connection:
        state = stored.get(connection, "a")
        (act,) = audit.history(connection)
    assert state.type is ConnectorType.SINK
    assert (act.act.actor, act.act.action, act.act.connector) == ("jo", "create", "a")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewConnector("a", {**SOURCE, "name": "b"}), r"\(b\) doesn't match connector name in the URL \(a\)"),
        (NewConnector("a", {"tasks.max": "1"}), r"Connector config \{name=a, tasks.max=1\} contains no connector type"),
        (NewConnector("a", {**SOURCE, "topic": ""}), "contains the following 1 error"),
        (NewConnector(None, dict(SOURCE)), "configuration name: String may not be empty"),
        (NewConnector("a", {**SOURCE, "connector.class": "os.system"}), "Failed to find any class"),
        (NewConnector("x" * 2001, dict(SOURCE)), "longer than 2000 bytes"),
        (NewConnector("a", dict(SOURCE), "BOGUS"), "initial_state BOGUS"),
        (NewConnector("a", {**SOURCE, "x.password": "[hidden]"}), "no stored value for x.password"),
    ],
)
def test_bad_connector_is_refused_whole(harness: Harness, new: NewConnector, message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        connectors.create(harness.herder, new)
    assert connectors.list_names(harness.herder) == []
    assert harness.scheduler.calls == []


def test_duplicate_is_refused_after_validation(harness: Harness) -> None:
    harness.create()
    with pytest.raises(AlreadyExistsError, match=r"^Connector a already exists$"):
        harness.create()
    with pytest.raises(BadRequestError):
        harness.create(config={**SOURCE, "topic": ""})


def test_put_creates_then_replaces(harness: Harness) -> None:
    is_new, _ = connectors.put_config(harness.herder, "a", {**SOURCE, "name": None})
    assert is_new
    harness.driver().plan()
    is_new, info = connectors.put_config(harness.herder, "a", {**SOURCE, "batch.size": "5"})
    assert not is_new
    assert (info.tasks, info.config["batch.size"]) == ([connectors.TaskId("a", 0)], "5")
    assert harness.scheduler.calls == [("deploy", "a")]


def test_new_schedule_is_deployed(harness: Harness) -> None:
    harness.create()
    connectors.put_config(harness.herder, "a", {**SOURCE, "schedule": "@hourly"})
    assert harness.scheduler.calls == [("deploy", "a"), ("deploy", "a")]


def test_new_type_is_deployed(harness: Harness) -> None:
    harness.create()
    _, info = connectors.put_config(harness.herder, "a", dict(SINK))
    assert info.type == "sink"
    assert harness.scheduler.calls == [("deploy", "a"), ("deploy", "a")]


def test_new_config_retries_a_failed_connector(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    with harness.database.write() as connection:
        stored.record_failure(connection, "a", "driver", {"trace": "T", "is_retriable": False})
    connectors.patch_config(harness.herder, "a", {"batch.size": "7"})
    assert harness.scheduler.calls[-1] == ("retry", "a")


def test_patch_replaces_and_removes(harness: Harness) -> None:
    harness.create(config={**SOURCE, "batch.size": "5"})
    info = connectors.patch_config(harness.herder, "a", {"batch.size": None, "topic": "other"})
    assert info.config == {**SOURCE, "topic": "other", "name": "a"}
    with pytest.raises(NotFoundError, match=r"^Connector x not found$"):
        connectors.patch_config(harness.herder, "x", {})


def test_secrets_are_sealed_and_hidden(harness: Harness, sealing: Herder) -> None:
    info = connectors.create(sealing, NewConnector("a", WITH_SECRET))
    connectors.put_config(sealing, "a", {**WITH_SECRET, "my.password": "[hidden]", "file": "/tmp/c.txt"})
    connectors.patch_config(sealing, "a", {"file": "/tmp/d.txt"})
    kept = raw_config(harness)
    assert kept["my.password"].startswith("${sealed:")
    assert sealing.providers.resolve(kept, "a")["my.password"] == SECRET
    shown = [info.config, connectors.get_config(sealing, "a"), connectors.get_info(sealing, "a").config]
    assert [config["my.password"] for config in shown] == ["[hidden]"] * 3
    harness.driver().plan()
    assert connectors.get_tasks(sealing, "a")[0].config["my.password"] == "[hidden]"


def test_secret_is_nowhere_in_the_database(harness: Harness, sealing: Herder) -> None:
    connectors.create(sealing, NewConnector("a", WITH_SECRET))
    connectors.put_config(sealing, "a", {**WITH_SECRET, "file": "/tmp/c.txt"})
    connectors.delete(sealing, "a")
    file = Path(harness.database.address.removeprefix("sqlite:///"))
    harness.database.close()
    for part in file.parent.glob("connect.db*"):
        assert SECRET.encode() not in part.read_bytes()


def test_tasks_name_their_class(harness: Harness) -> None:
    harness.create()
    assert connectors.get_tasks(harness.herder, "a") == []
    harness.driver().plan()
    (task,) = connectors.get_tasks(harness.herder, "a")
    assert task.id == connectors.TaskId("a", 0)
    assert task.config["task.class"] == "org.apache.kafka.connect.file.FileStreamSourceTask"


def test_expand_shows_what_is_wanted(harness: Harness) -> None:
    harness.create()
    assert connectors.expand(harness.herder, ["bogus"]) == {"a": {}}
    both = connectors.expand(harness.herder, ["info", "status"])
    assert list(both["a"]) == ["status", "info"]
    assert both["a"]["status"]["connector"]["state"] == "UNASSIGNED"
    assert both["a"]["info"] == connectors.get_info(harness.herder, "a")


def test_unknown_connectors_are_not_found(harness: Harness) -> None:
    for read in (connectors.get_info, connectors.get_config, connectors.get_tasks, connectors.delete):
        with pytest.raises(NotFoundError, match=r"^Connector x not found$"):
            read(harness.herder, "x")


def test_deleted_connector_leaves_its_offsets(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.commit(driver.begin(), source_offsets={'{"filename":"/tmp/a.txt"}': {"position": 14}})
    connectors.delete(harness.herder, "a")
    assert connectors.list_names(harness.herder) == []
    assert harness.scheduler.calls[-1] == ("remove", "a")
    harness.create()
    assert offsets.get(harness.herder, "a") == [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 14}}]


def test_offsets_are_forgotten_when_asked(harness: Harness) -> None:
    harness.create()
    driver = harness.driver()
    driver.commit(driver.begin(), source_offsets={'{"filename":"/tmp/a.txt"}': {"position": 14}})
    connectors.delete(harness.herder, "a", forget_offsets=True)
    harness.create()
    assert offsets.get(harness.herder, "a") == []
    with harness.database.read() as connection:
        deleted = next(one.act for one in audit.history(connection, "a") if one.act.action == "delete")
    assert deleted.after == {"offsets": "forgotten"}


def test_stopped_connector_shows_no_task(harness: Harness) -> None:
    harness.create()
    harness.driver().plan()
    lifecycle.stop(harness.herder, "a")
    assert connectors.get_info(harness.herder, "a").tasks == []
    assert connectors.get_tasks(harness.herder, "a") == []


def test_patch_of_the_name_gives_a_sink_no_other_group(harness: Harness, sealing: Herder) -> None:
    """Connect answers 200 and shows that name; the connector keeps its own group, and the secrets sealed for it."""
    connectors.create(sealing, NewConnector("mine", dict(WITH_SECRET)))
    assert connectors.patch_config(sealing, "mine", {"name": "victim"}).config["name"] == "victim"
    with harness.database.read() as connection:
        state = stored.get(connection, "mine")
    worker = ConnectorWorker(sealing.worker, harness.database, "mine")
    found = worker.config_of(replace(state, config={**state.config, "my.password": ""}))
    assert found.interval_settings().consumer_group == "connect-mine"
    assert connectors.patch_config(sealing, "mine", {"name": "mine", "tasks.max": "2"}).config["tasks.max"] == "2"


def test_changes_at_once_are_all_made(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes while the first is checked: that one is made again, of what is there then."""
    harness.create("a", SINK)
    straight, others = vars(connectors)["accept"], [{"errors.tolerance": "all"}, {"tasks.max": "3"}]

    def overtaken(*args: object) -> object:
        accepted = straight(*args)
        if others:
            connectors.patch_config(harness.herder, "a", others.pop())
        return accepted

    monkeypatch.setattr(connectors, "accept", overtaken)
    connectors.patch_config(harness.herder, "a", {"file": "/tmp/c.txt"})
    found = raw_config(harness)
    assert (found["file"], found["errors.tolerance"], found["tasks.max"]) == ("/tmp/c.txt", "all", "3")


def test_put_replaces_what_another_created_meanwhile(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    straight, others = vars(connectors)["accept"], [SOURCE]

    def overtaken(*args: object) -> object:
        accepted = straight(*args)
        if others:
            harness.create("a", others.pop())
        return accepted

    monkeypatch.setattr(connectors, "accept", overtaken)
    assert connectors.put_config(harness.herder, "a", dict(SINK))[0] is False
    assert raw_config(harness)["connector.class"] == SINK["connector.class"]


def test_patch_does_not_change_a_successor_of_the_same_name(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.create("a", SOURCE)
    straight, others = vars(connectors)["accept"], [SINK]

    def overtaken(*args: object) -> object:
        accepted = straight(*args)
        if others:
            connectors.delete(harness.herder, "a")
            harness.create("a", others.pop())
        return accepted

    monkeypatch.setattr(connectors, "accept", overtaken)
    connectors.patch_config(harness.herder, "a", {"tasks.max": "1"})
    assert raw_config(harness)["connector.class"] == SINK["connector.class"]


def test_put_creates_a_connector_that_is_deleted_meanwhile(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.create("a", SOURCE)
    straight = vars(connectors)["accept"]
    rights: list[str] = []

    def overtaken(*args: object) -> object:
        accepted = straight(*args)
        if not rights:
            connectors.delete(harness.herder, "a")
        return accepted

    monkeypatch.setattr(connectors, "accept", overtaken)
    is_new, info = connectors.put_config(harness.herder, "a", dict(SINK), lambda: rights.append("create"))
    assert (is_new, info.type, rights) == (True, "sink", ["create"])


@pytest.mark.parametrize("initial", ["RUNNING", "PAUSED"])
def test_delete_that_fails_leaves_the_connector_as_it_was(harness: Harness, initial: str) -> None:
    harness.create("a", SINK, initial)

    def down(*args: object, **more: object) -> None:
        raise ConnectError("Kafka does not answer")

    herder = replace(harness.herder, rewrite_offsets=down)
    with pytest.raises(ConnectError, match="does not answer"):
        connectors.delete(herder, "a", forget_offsets=True)
    with harness.database.read() as connection:
        target = stored.get(connection, "a").target_state
    assert target is {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED}[initial]


def refusing_to_forget(harness: Harness, meanwhile: Callable[[], object]) -> Herder:
    """A herder whose Kafka does not answer, after something else was done."""

    def down(*args: object, **more: object) -> None:
        meanwhile()
        raise ConnectError("Kafka does not answer")

    return replace(harness.herder, rewrite_offsets=down)


@pytest.mark.parametrize("initial", ["RUNNING", "PAUSED"])
@pytest.mark.parametrize(
    ("act", "target"),
    [
        (lifecycle.stop, TargetState.STOPPED),
        (lifecycle.pause, TargetState.PAUSED),
        (lifecycle.resume, TargetState.STARTED),
    ],
)
def test_delete_that_fails_undoes_no_other_request(
    harness: Harness, initial: str, act: Callable[[Herder, str], None], target: TargetState
) -> None:
    harness.create("a", SINK, initial)
    herder = refusing_to_forget(harness, lambda: act(harness.herder, "a"))
    with pytest.raises(ConnectError, match="does not answer"):
        connectors.delete(herder, "a", forget_offsets=True)
    with harness.database.read() as connection:
        assert stored.get(connection, "a").target_state is target


def test_two_deletes_that_fail_leave_the_connector_as_it_was(harness: Harness) -> None:
    harness.create("a", SINK)
    is_first_stopped, may_first_fail = threading.Event(), threading.Event()

    def delete(meanwhile: Callable[[], object]) -> None:
        with pytest.raises(ConnectError, match="does not answer"):
            connectors.delete(refusing_to_forget(harness, meanwhile), "a", forget_offsets=True)

    def wait() -> None:
        is_first_stopped.set()
        assert may_first_fail.wait(30)

    def let_the_first_fail() -> None:
        may_first_fail.set()
        first.join(30)

    first = threading.Thread(target=delete, args=(wait,))
    first.start()
    assert is_first_stopped.wait(30)
    delete(let_the_first_fail)
    with harness.database.read() as connection:
        assert stored.get(connection, "a").target_state is TargetState.STARTED


def test_put_keeps_spaces_of_a_name(harness: Harness) -> None:
    """As Connect does: only POST leaves them out."""
    assert connectors.put_config(harness.herder, " sp ", dict(SINK))[1].name == " sp "
